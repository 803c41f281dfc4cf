import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Secp256r1: it stands beside whatever a transaction does. */
export const secp256r1: ProgramParser = parserOf({
  id: programs.secp256r1,
  source: "secp256r1",
  name: "Secp256r1",
  kind: "helper",
  instructions: [],
});
