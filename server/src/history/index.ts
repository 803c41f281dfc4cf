/**
 * history: blocks and transactions that are over. Its writer follows the log of the chain into the ledger. Fed by the
 * log; feeds the ledger, from which it is read back.
 */
export { createHistoryEvents, historyMetrics } from "./events.ts";
export { LedgerWriter } from "./writer/ledger-writer.ts";
