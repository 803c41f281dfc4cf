import { type ProgramParser, parserOf } from "../program.ts";

/** Photon. */
export const photon: ProgramParser = parserOf({
  id: "BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW",
  source: "photon",
  name: "Photon",
  kind: "bot",
  instructions: [],
});
