import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter Limit Order. */
export const jupiterLimit: ProgramParser = parserOf({
  id: "jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu",
  source: "jupiter_limit",
  name: "Jupiter Limit Order",
  kind: "orders",
  instructions: [
    { tag: "856e4aaf709ff59f", name: "initializeOrder", does: "order" },
    { tag: "5f81edf00831df84", name: "cancelOrder", does: "order" },
    { tag: "d87840eb9b13e563", name: "cancelExpiredOrder", does: "order" },
    { tag: "0d09d36b3eace043", name: "initFee", does: "order" },
    { tag: "e8fdc3f794d449de", name: "updateFee", does: "order" },
    { tag: "0e7ae7da1feedf96", name: "withdrawFee", does: "order" },
    { tag: "f02f99440dbee12a", name: "preFlashFillOrder", does: "helper" },
    { tag: "fc681286a44e128c", name: "flashFillOrder", does: "helper" },
    { tag: "e87a7319c78f88a2", name: "fillOrder", does: "swap" },
  ],
});
