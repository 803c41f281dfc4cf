import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter. */
export const jupiterV3: ProgramParser = parserOf({
  id: "JUP3c2Uh3WA4Ng34tw6kPd2G4C5BB21Xo36Je1s32Ph",
  source: "jupiter_v3",
  name: "Jupiter",
  kind: "aggregator",
  instructions: [],
});
