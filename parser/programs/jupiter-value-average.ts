import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter Value Average. */
export const jupiterValueAverage: ProgramParser = parserOf({
  id: "VALaaymxQh2mNy2trH9jUqHT1mTow76wpTcGmSWSwJe",
  source: "jupiter_value_average",
  name: "Jupiter Value Average",
  kind: "orders",
  instructions: [
    { tag: "f0f2a7cef0f76d28", name: "openValueAverage", does: "order" },
    { tag: "b712469c946da122", name: "withdraw", does: "order" },
    { tag: "62a5c9b16c41ce60", name: "close", does: "order" },
    { tag: "f223c68952e1f2b6", name: "deposit", does: "order" },
    { tag: "c6d4ab6d90d7ae59", name: "withdrawFees", does: "order" },
  ],
});
