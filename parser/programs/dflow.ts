import { type ProgramParser, parserOf } from "../program.ts";

/** DFlow aggregator v4. */
export const dflow: ProgramParser = parserOf({
  id: "DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH",
  source: "dflow",
  name: "DFlow",
  kind: "aggregator",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 3 },
    { tag: "414b3f4ceb5b5b88", name: "swap2", does: "swap", user: 3 },
    { tag: "a8ac184dc59c8765", name: "swapWithDestination", does: "swap", user: 3 },
    { tag: "5f7bd5f67a0156e7", name: "swap2WithDestination", does: "swap", user: 3 },
    { tag: "cd4d7f6cf120c4c3", name: "swapWithDestinationNative", does: "swap", user: 3 },
    { tag: "de64b892bac469a5", name: "swap2WithDestinationNative", does: "swap", user: 3 },
    { tag: "ce58588f268832e0", name: "openOrder", does: "order" },
    { tag: "e87a7319c78f88a2", name: "fillOrder", does: "order" },
    { tag: "5a67d11c073fa804", name: "closeOrder", does: "order" },
    { tag: "e84b8c88fa4ee0bc", name: "closeEmptyTokenAccount", does: "order" },
  ],
});
