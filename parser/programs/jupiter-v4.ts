import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter. */
export const jupiterV4: ProgramParser = parserOf({
  id: "JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB",
  source: "jupiter_v4",
  name: "Jupiter",
  kind: "aggregator",
  instructions: [],
});
