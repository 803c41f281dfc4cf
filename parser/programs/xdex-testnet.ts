import type { ProgramParser } from "../program.ts";
import { raydiumCpmm } from "./raydium-cpmm.ts";

/** XDEX, X1 testnet and development chain: instructions and accounts of Raydium CPMM. */
export const xdexTestnet: ProgramParser = {
  ...raydiumCpmm,
  id: "7EEuq61z9VKdkUzj7G36xGd7ncyz8KBtUwAWVjypYQHf",
  source: "xdex",
  name: "XDEX",
};
