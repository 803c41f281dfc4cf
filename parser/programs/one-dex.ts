import { type ProgramParser, parserOf } from "../program.ts";

/** 1Dex. */
export const oneDex: ProgramParser = parserOf({
  id: "DEXYosS6oEGvk8uCDayvwEZz4qEyDJRf9nFgYCaqPMTm",
  source: "one_dex",
  name: "1Dex",
  kind: "dex",
  instructions: [],
});
