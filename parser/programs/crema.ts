import { type ProgramParser, parserOf } from "../program.ts";

/** Crema. */
export const crema: ProgramParser = parserOf({
  id: "CLMM9tUoggJu2wagPkkqs9eFG4BWhVBZWkP1qv3Sp7tR",
  source: "crema",
  name: "Crema",
  kind: "dex",
  instructions: [],
});
