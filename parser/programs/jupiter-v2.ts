import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter. */
export const jupiterV2: ProgramParser = parserOf({
  id: "JUP2jxvXaqu7NQY1GmNF4m1vodw12LVXYxbFL2uJvfo",
  source: "jupiter_v2",
  name: "Jupiter",
  kind: "aggregator",
  instructions: [],
});
