import { type ProgramParser, parserOf } from "../program.ts";

/** Lifinity. */
export const lifinityV1: ProgramParser = parserOf({
  id: "EewxydAPCCVuNEyrVN68PuSYdQ7wKn27V9Gjeoi8dy3S",
  source: "lifinity_v1",
  name: "Lifinity",
  kind: "dex",
  instructions: [],
});
