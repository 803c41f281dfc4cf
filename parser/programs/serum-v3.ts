import { type ProgramParser, parserOf } from "../program.ts";

/** Serum. */
export const serumV3: ProgramParser = parserOf({
  id: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
  source: "serum_v3",
  name: "Serum",
  kind: "dex",
  instructions: [],
});
