import { type ProgramParser, parserOf } from "../program.ts";

/** Raydium. */
export const raydiumRouter: ProgramParser = parserOf({
  id: "routeUGWgWzqBWFcrCfv8tritsqukccJPu3q5GPP3xS",
  source: "raydium_router",
  name: "Raydium",
  kind: "aggregator",
  instructions: [{ tag: "e517cb977ae3ad2a", name: "route", does: "swap" }],
});
