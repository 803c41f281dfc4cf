import { type ProgramParser, parserOf } from "../program.ts";

/** Zeta: what it does is none of the types. */
export const zeta: ProgramParser = parserOf({
  id: "ZETAxsqBRek56DhiGXrn75yj2NHU3aYUnxvHXpkf3aD",
  source: "zeta",
  name: "Zeta",
  kind: "other",
  instructions: [],
});
