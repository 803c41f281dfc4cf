import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Secp256k1: it stands beside whatever a transaction does. */
export const secp256k1: ProgramParser = parserOf({
  id: programs.secp256k1,
  source: "secp256k1",
  name: "Secp256k1",
  kind: "helper",
  instructions: [],
});
