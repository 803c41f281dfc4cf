import { type ProgramParser, parserOf } from "../program.ts";

/** Phoenix v1. */
export const phoenix: ProgramParser = parserOf({
  id: "PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY",
  source: "phoenix",
  name: "Phoenix",
  kind: "dex",
  instructions: [
    { tag: "00", name: "swap", does: "swap", user: 3, pool: 2 },
    { tag: "01", name: "swapWithFreeFunds", does: "swap", user: 3, pool: 2 },
    { tag: "02", name: "placeLimitOrder", does: "order", user: 3, pool: 2 },
    { tag: "03", name: "placeLimitOrderWithFreeFunds", does: "order" },
    { tag: "04", name: "reduceOrder", does: "other" },
    { tag: "05", name: "reduceOrderWithFreeFunds", does: "other" },
    { tag: "06", name: "cancelAllOrders", does: "other" },
    { tag: "07", name: "cancelAllOrdersWithFreeFunds", does: "other" },
    { tag: "08", name: "cancelUpTo", does: "other" },
    { tag: "09", name: "cancelUpToWithFreeFunds", does: "other" },
    { tag: "0a", name: "cancelMultipleOrdersById", does: "other" },
    { tag: "0b", name: "cancelMultipleOrdersByIdWithFreeFunds", does: "other" },
    { tag: "0c", name: "withdrawFunds", does: "other" },
    { tag: "0d", name: "depositFunds", does: "other" },
    { tag: "0e", name: "requestSeat", does: "other" },
    { tag: "0f", name: "log", does: "helper" },
    { tag: "10", name: "placeMultiplePostOnlyOrders", does: "other" },
    { tag: "11", name: "placeMultiplePostOnlyOrdersWithFreeFunds", does: "other" },
  ],
});
