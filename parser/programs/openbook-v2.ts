import { type ProgramParser, parserOf } from "../program.ts";

/** OpenBook v2. */
export const openbookV2: ProgramParser = parserOf({
  id: "opnb2LAfJYbRMAHHvqjCwQxanZn7ReEHp1k81EohpZb",
  source: "openbook_v2",
  name: "OpenBook",
  kind: "dex",
  instructions: [
    { tag: "032c47031ac7cb55", name: "placeTakeOrder", does: "swap", user: 0, pool: 2 },
    { tag: "33c29baf6d82606a", name: "placeOrder", does: "order", user: 0, pool: 4 },
    { tag: "ccb5afde287dbc47", name: "createOpenOrdersAccount", does: "other" },
    { tag: "404099ffd947f985", name: "createOpenOrdersIndexer", does: "other" },
    { tag: "b04a73d236b35b67", name: "closeOpenOrdersAccount", does: "other" },
    { tag: "5f81edf00831df84", name: "cancelOrder", does: "other" },
    { tag: "c453f3ab1164a08f", name: "cancelAllOrders", does: "other" },
    { tag: "73b2c908afb77b77", name: "cancelOrderByClientOrderId", does: "other" },
    { tag: "ee40a3604bab1021", name: "settleFunds", does: "other" },
    { tag: "f223c68952e1f2b6", name: "deposit", does: "other" },
    { tag: "dd91b1341f2f3fc9", name: "consumeEvents", does: "other" },
    { tag: "d1e336046dac2947", name: "consumeGivenEvents", does: "other" },
    { tag: "67e261ebc8bcfbfe", name: "createMarket", does: "other" },
    { tag: "589af8ba300e7bf4", name: "closeMarket", does: "other" },
    { tag: "1bd59fbf0c747079", name: "pruneOrders", does: "other" },
    { tag: "80cf8e0b36e826c9", name: "refill", does: "other" },
    { tag: "3c3f327b0cc53cbe", name: "placeOrders", does: "order" },
    { tag: "8db9fb3f4a55d291", name: "placeOrderPegged", does: "order" },
    { tag: "809bde3cba28e132", name: "cancelAllAndPlaceOrders", does: "order" },
    { tag: "fed0761dadf8c846", name: "editOrder", does: "order" },
    { tag: "3ebb7d451add9d85", name: "editOrderPegged", does: "order" },
  ],
});
