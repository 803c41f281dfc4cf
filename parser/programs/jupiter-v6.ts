import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter aggregator v6. */
export const jupiterV6: ProgramParser = parserOf({
  id: "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4",
  source: "jupiter_v6",
  name: "Jupiter",
  kind: "aggregator",
  events: "route",
  instructions: [
    { tag: "e517cb977ae3ad2a", name: "route", does: "swap", user: 1, source: 2, destination: 3 },
    { tag: "bb64facc31c4af14", name: "routeV2", does: "swap", user: 0, source: 1, destination: 2 },
    { tag: "c1209b3341d69c81", name: "sharedAccountsRoute", does: "swap", user: 2, source: 3, destination: 6 },
    { tag: "d19853937cfed8e9", name: "sharedAccountsRouteV2", does: "swap", user: 1, source: 2, destination: 5 },
    { tag: "d033ef977b2bed5c", name: "exactOutRoute", does: "swap", user: 1, source: 2, destination: 3 },
    { tag: "9d8ab85215f4f324", name: "exactOutRouteV2", does: "swap", user: 0, source: 1, destination: 2 },
    { tag: "b0d169a89a7d453e", name: "sharedAccountsExactOutRoute", does: "swap", user: 2, source: 3, destination: 6 },
    {
      tag: "3560e5cad8bbfa18",
      name: "sharedAccountsExactOutRouteV2",
      does: "swap",
      user: 1,
      source: 2,
      destination: 5,
    },
    { tag: "96564774a75d0e68", name: "routeWithTokenLedger", does: "swap", user: 1, source: 2, destination: 3 },
    {
      tag: "e6798f50779f6aaa",
      name: "sharedAccountsRouteWithTokenLedger",
      does: "swap",
      user: 2,
      source: 3,
      destination: 6,
    },
    { tag: "93f17b64f484ae76", name: "createTokenAccount", does: "helper" },
    { tag: "e455b9704e4f4d02", name: "setTokenLedger", does: "helper" },
    { tag: "e5c2d4ac080a8693", name: "createOpenOrders", does: "helper" },
    { tag: "1ce22094bc8871ab", name: "createProgramOpenOrders", does: "helper" },
    { tag: "e8f2c5fdf08f8134", name: "createTokenLedger", does: "helper" },
    { tag: "1a4aec976840b7f9", name: "closeToken", does: "helper" },
    { tag: "3ec6d6c1d59f6cd2", name: "claim", does: "helper" },
    { tag: "74ce1bbfa6130049", name: "claimToken", does: "helper" },
  ],
});
