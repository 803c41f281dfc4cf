import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter Limit Order. */
export const jupiterLimitV2: ProgramParser = parserOf({
  id: "j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X",
  source: "jupiter_limit_v2",
  name: "Jupiter Limit Order",
  kind: "orders",
  instructions: [
    { tag: "856e4aaf709ff59f", name: "initializeOrder", does: "order" },
    { tag: "5f81edf00831df84", name: "cancelOrder", does: "order" },
    { tag: "e8fdc3f794d449de", name: "updateFee", does: "order" },
    { tag: "0e7ae7da1feedf96", name: "withdrawFee", does: "order" },
    { tag: "f02f99440dbee12a", name: "preFlashFillOrder", does: "helper" },
    { tag: "fc681286a44e128c", name: "flashFillOrder", does: "helper" },
  ],
});
