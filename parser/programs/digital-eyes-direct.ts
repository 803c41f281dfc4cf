import { type ProgramParser, parserOf } from "../program.ts";

/** Direct sales of Digital Eyes; what a call does is told by what moves. */
export const digitalEyesDirect: ProgramParser = parserOf({
  id: "7t8zVJtPCFAqog1DcnB6Ku1AVKtWfHkCiPi1cAvcJyVF",
  source: "digital_eyes",
  name: "Digital Eyes",
  kind: "market",
  instructions: [],
});
