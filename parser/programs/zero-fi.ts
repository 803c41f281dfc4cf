import { type ProgramParser, parserOf } from "../program.ts";

/** ZeroFi. */
export const zeroFi: ProgramParser = parserOf({
  id: "ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY",
  source: "zero_fi",
  name: "ZeroFi",
  kind: "dex",
  instructions: [],
});
