import { type ProgramParser, parserOf } from "../program.ts";

/** Sanctum. */
export const sanctumRouter: ProgramParser = parserOf({
  id: "stkitrT1Uoy18Dk1fTrgPw8W6MVzoCfYoAFT4MLsmhq",
  source: "sanctum_router",
  name: "Sanctum",
  kind: "aggregator",
  instructions: [],
});
