import { type ProgramParser, parserOf } from "../program.ts";

/** Pyth: what it does is none of the types. */
export const pyth: ProgramParser = parserOf({
  id: "FsJ3A3u2vn5cTVofAjvy6y5kwABJAqYWpe4975bi2epH",
  source: "pyth",
  name: "Pyth",
  kind: "other",
  instructions: [],
});
