/**
 * history: blocks and transactions that are over. Its writer follows the log of the chain into the ledger; its look-ups
 * read them back, over REST and as JSON-RPC of what nodes have pruned. Fed by the log and the ledger; feeds the ledger,
 * clients, and rpc with answers in the form of a node's.
 */
export { LedgerArchive } from "./archive/archive.ts";
export { archiveMetrics, createArchiveEvents } from "./archive/events.ts";
export { createHistoryEvents, historyMetrics } from "./events.ts";
export { HistoryApp, historyMethods, historyPath } from "./http/history-app.ts";
export { Lookups } from "./lookups/lookups.ts";
export { LedgerWriter } from "./writer/ledger-writer.ts";
