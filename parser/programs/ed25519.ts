import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Ed25519: it stands beside whatever a transaction does. */
export const ed25519: ProgramParser = parserOf({
  id: programs.ed25519,
  source: "ed25519",
  name: "Ed25519",
  kind: "helper",
  instructions: [],
});
