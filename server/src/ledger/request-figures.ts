/**
 * How rows of `requests` count, in ClickHouse's words. A connection's rows count the traffic since the row before:
 * those while it lasts have status 101, the last one its close code, and only that one is a request.
 */
export const countsAsRequest = "status != 101";

/** Refused or failed. A connection that a client closed, or lost, or that ended with its server, did not fail. */
export const countsAsError = "((status >= 400 AND status NOT IN (1000, 1001, 1005, 1006)) OR rpc_code IS NOT NULL)";

/** A connection lasts as long as its client likes, which says nothing about how fast anything was answered. */
export const countsAsTimed = "door NOT IN ('pubsub', 'ws')";
