import { type ProgramParser, parserOf } from "../program.ts";

/** OpenBook. */
export const openbookV1: ProgramParser = parserOf({
  id: "srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX",
  source: "openbook_v1",
  name: "OpenBook",
  kind: "dex",
  instructions: [],
});
