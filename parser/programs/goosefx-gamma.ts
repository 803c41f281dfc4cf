import { type ProgramParser, parserOf } from "../program.ts";

/** GooseFX. */
export const goosefxGamma: ProgramParser = parserOf({
  id: "GAMMA7meSFWaBXF25oSUgmGRwaW6sCMFLmBNiMSdbHVT",
  source: "goosefx_gamma",
  name: "GooseFX",
  kind: "dex",
  instructions: [],
});
