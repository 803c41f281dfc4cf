import { type ProgramParser, parserOf } from "../program.ts";

/** Alpha Art; what a call does is told by what moves. */
export const alphaArt: ProgramParser = parserOf({
  id: "HZaWndaNWHFDd9Dhk5pqUUtsmoBCqzb1MLu3NAh1VX6B",
  source: "alpha_art",
  name: "Alpha Art",
  kind: "market",
  instructions: [],
});
