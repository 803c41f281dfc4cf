import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Noop: it stands beside whatever a transaction does. */
export const noop: ProgramParser = parserOf({
  id: programs.noop,
  source: "noop",
  name: "Noop",
  kind: "helper",
  instructions: [],
});
