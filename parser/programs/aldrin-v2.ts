import { type ProgramParser, parserOf } from "../program.ts";

/** Aldrin. */
export const aldrinV2: ProgramParser = parserOf({
  id: "CURVGoZn8zycx6FXwwevgBTB2gVvdbGTEpvMJDbgs2t4",
  source: "aldrin_v2",
  name: "Aldrin",
  kind: "dex",
  instructions: [],
});
