import { type ProgramParser, parserOf } from "../program.ts";

/** Solsea; what a call does is told by what moves. */
export const solsea: ProgramParser = parserOf({
  id: "617jbWo616ggkDxvW1Le8pV38XLbVSyWY8ae6QUmGBAU",
  source: "solsea",
  name: "Solsea",
  kind: "market",
  instructions: [],
});
