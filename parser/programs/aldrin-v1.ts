import { type ProgramParser, parserOf } from "../program.ts";

/** Aldrin. */
export const aldrinV1: ProgramParser = parserOf({
  id: "AMM55ShdkoGRB5jVYPjWziwk8m5MpwyDgsMWHaMSQWH6",
  source: "aldrin_v1",
  name: "Aldrin",
  kind: "dex",
  instructions: [],
});
