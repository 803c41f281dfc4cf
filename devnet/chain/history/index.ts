/**
 * history: the blocks and transactions that the chain keeps, bounded by slots and by transactions, with indexes by
 * slot, signature and address. The bank feeds it each recorded transaction and each frozen block; it feeds the JSON-RPC
 * and PubSub methods. Records are bytes in a log, so that a million transfers take 340 MB and the garbage collector
 * sees none of them.
 */

export { type AddressEntry, type AddressRange, History, type RecordedTransaction } from "./history.ts";
