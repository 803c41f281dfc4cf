import { type ProgramParser, parserOf } from "../program.ts";

/** Virtuals. */
export const virtuals: ProgramParser = parserOf({
  id: "5U3EU2ubXtK84QcRjWVmYt9RaDyA8gKxdUrPFXmZyaki",
  source: "virtuals",
  name: "Virtuals",
  kind: "dex",
  instructions: [
    { tag: "66063d1201daebea", name: "buy", does: "swap", user: 0, pool: 1 },
    { tag: "33e685a4017f83ad", name: "sell", does: "swap", user: 0, pool: 1 },
    { tag: "99f15de116454a3d", name: "launch", does: "other" },
    { tag: "afaf6d1f0d989bed", name: "initialize", does: "other" },
    { tag: "f6fe2125e1b029e8", name: "createMeteoraPool", does: "other" },
    { tag: "71e1a6b95ee7601c", name: "updatePoolCreator", does: "other" },
    { tag: "52fbe99c0c34b8ca", name: "claimFees", does: "other" },
  ],
});
