import { type ProgramParser, parserOf } from "../program.ts";

/** Obric. */
export const obric: ProgramParser = parserOf({
  id: "obriQD1zbpyLz95G5n7nJe6a4DPjpFwa5XYPoNm113y",
  source: "obric",
  name: "Obric",
  kind: "dex",
  instructions: [],
});
