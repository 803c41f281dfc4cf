import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** The vote program: votes and the accounts of validators are none of the types. */
export const vote: ProgramParser = parserOf({
  id: programs.vote,
  source: "vote",
  name: "Vote",
  kind: "other",
  instructions: [],
});
