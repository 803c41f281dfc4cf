import { type ProgramParser, parserOf } from "../program.ts";

/** Nova. */
export const nova: ProgramParser = parserOf({
  id: "NoVA1TmDUqksaj2hB1nayFkPysjJbFiU76dT4qPw2wm",
  source: "nova",
  name: "Nova",
  kind: "bot",
  instructions: [],
});
