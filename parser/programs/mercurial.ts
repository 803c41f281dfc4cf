import { type ProgramParser, parserOf } from "../program.ts";

/** Mercurial. */
export const mercurial: ProgramParser = parserOf({
  id: "MERLuDFBMmsHnsBPZw2sDQZHvXFMwp8EdjudcU2HKky",
  source: "mercurial",
  name: "Mercurial",
  kind: "dex",
  instructions: [],
});
