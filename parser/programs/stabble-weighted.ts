import { type ProgramParser, parserOf } from "../program.ts";

/** Stabble weighted. */
export const stabbleWeighted: ProgramParser = parserOf({
  id: "swapFpHZwjELNnjvThjajtiVmkz3yPQEHjLtka2fwHW",
  source: "stabble_weighted",
  name: "Stabble",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 0, source: 1, destination: 2, pool: 6 },
    { tag: "2b04ed0b1ac91e62", name: "swapV2", does: "swap", user: 0, source: 3, destination: 4, pool: 8 },
    { tag: "f223c68952e1f2b6", name: "deposit", does: "add_liquidity" },
    { tag: "b712469c946da122", name: "withdraw", does: "remove_liquidity" },
    { tag: "afaf6d1f0d989bed", name: "initialize", does: "create_pool" },
  ],
});
