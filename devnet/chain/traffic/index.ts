/**
 * traffic: transactions that the development chain makes itself, so that it looks alive: transfers, swaps, token and
 * NFT operations, stakes. It is fed by a seed, a rate and the genesis; it feeds the bank through the ordinary
 * submission.
 */

export { startTraffic } from "./traffic.ts";
