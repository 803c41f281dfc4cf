/**
 * history: blocks and transactions that are over. Its writer follows the log of the chain into the ledger, and backfill
 * fills what is missing there from the nodes; its look-ups read them back, over REST and as JSON-RPC of what nodes have
 * pruned. Fed by log, ingest and ledger; feeds the ledger, clients, and rpc with answers in the form of a node's.
 */
export { LedgerArchive } from "./archive/archive.ts";
export { archiveMetrics, createArchiveEvents } from "./archive/events.ts";
export { errorAnswer, resultAnswer, valueAnswer } from "./archive/node-answers.ts";
export { Backfills } from "./backfill/backfills.ts";
export { ChainBackfill } from "./backfill/chain-backfill.ts";
export type { BackfillSource } from "./backfill/slot-words.ts";
export { createHistoryEvents, type HistoryEvents, historyMetrics } from "./events.ts";
export { chargedRead, type ExchangeDependencies, readFailure } from "./http/exchange.ts";
export { HistoryApp, historyMethods, historyPath } from "./http/history-app.ts";
export { Lookups } from "./lookups/lookups.ts";
export { LedgerBlocks } from "./lookups/past-blocks.ts";
export { type PastBlocks, type PastEvent, PastReader } from "./lookups/past-reader.ts";
export { type Reach, type ReachDependencies, reachOf } from "./lookups/reach.ts";
export { ChainReparse } from "./reparse/chain-reparse.ts";
export { Reparses } from "./reparse/reparses.ts";
export { LedgerWriter } from "./writer/ledger-writer.ts";
