/**
 * log: what happens on the chain, in order, for all who follow it live: blocks by slot and blockhash, their stages and
 * what is missing, in segment files of the data directory or in NATS JetStream. Ingesters append to it in any order;
 * streams, webhooks and the writer of the ledger follow it from cursors that any process understands. It can be made
 * again from the chain.
 */
export { type ChainLogListener, ChainLogs } from "./chain-logs.ts";
export { areLevel, cursorWithin } from "./cursor.ts";
export { LogError } from "./errors.ts";
export { createLogEvents, logMetrics } from "./events.ts";
export { type ChainLogDependencies, type ChainLogOptions, openChainLog } from "./open.ts";
export {
  type BlockHeader,
  type BlockPlace,
  bodyBytesMax,
  type ChainIdentity,
  type ChainLog,
  type CursorPlace,
  type Follower,
  type FollowFrom,
  type Hole,
  type LogEvent,
  type LogRecord,
  type Stage,
} from "./records.ts";
