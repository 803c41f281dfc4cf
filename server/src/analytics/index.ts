/**
 * analytics: SQL for customers. A query passes the gate (one SELECT over the views, judged by the engine's own syntax
 * tree), is charged, waits for a place and runs in the ledger as a role that sees the views alone. Fed by POST
 * /api/v1/sql and by the console; feeds the ledger's customer statements, credits, and the facts of requests. Saved
 * queries are records of the state store.
 */
export { Analytics, requireSqlTier } from "./analytics.ts";
export { analyticsMetrics, createAnalyticsEvents } from "./events.ts";
export { analyticsPath, analyticsRoutes, createAnalyticsHttp } from "./http.ts";
export { SavedQueryShelf } from "./saved-queries.ts";
export { schemaBody } from "./schema-body.ts";
export { sqlResponse } from "./sql-response.ts";
