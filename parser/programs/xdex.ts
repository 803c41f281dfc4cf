import type { ProgramParser } from "../program.ts";
import { raydiumCpmm } from "./raydium-cpmm.ts";

/** XDEX, X1 mainnet: instructions and accounts of Raydium CPMM. */
export const xdex: ProgramParser = {
  ...raydiumCpmm,
  id: "sEsYH97wqmfnkzHedjNcw3zyJdPvUmsa9AixhS4b4fN",
  source: "xdex",
  name: "XDEX",
};
