import { type ProgramParser, parserOf } from "../program.ts";

/** Invariant. */
export const invariant: ProgramParser = parserOf({
  id: "HyaB3W9q6XdA5xwpU4XnSZV94htfmbmqJXZcEbRaJutt",
  source: "invariant",
  name: "Invariant",
  kind: "dex",
  instructions: [],
});
