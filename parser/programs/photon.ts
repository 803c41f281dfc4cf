import { type ProgramParser, parserOf } from "../program.ts";

/** Photon. */
export const photon: ProgramParser = parserOf({
  id: "BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW",
  source: "photon",
  name: "Photon",
  kind: "bot",
  instructions: [
    { tag: "52e177e74e1d2d46", name: "pumpBuy", does: "swap" },
    { tag: "5d583c225b1256c5", name: "pumpSell", does: "swap" },
  ],
});
