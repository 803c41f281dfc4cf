import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Compute Budget: it stands beside whatever a transaction does. */
export const computeBudget: ProgramParser = parserOf({
  id: programs.computeBudget,
  source: "compute_budget",
  name: "Compute Budget",
  kind: "helper",
  instructions: [],
});
