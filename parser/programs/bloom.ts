import { type ProgramParser, parserOf } from "../program.ts";

/** Bloom. */
export const bloom: ProgramParser = parserOf({
  id: "b1oomGGqPKGD6errbyfbVMBuzSC8WtAAYo8MwNafWW1",
  source: "bloom",
  name: "Bloom",
  kind: "bot",
  instructions: [],
});
