/**
 * schemas: the bodies of the REST endpoints as Zod schemas, and their types. Read bodies ignore members they do not
 * know; management bodies refuse them. docs/reference/openapi.json is generated from these.
 */
export * from "./account.ts";
export * from "./admin.ts";
export * from "./assets.ts";
export * from "./console.ts";
export * from "./console-bundles.ts";
export * from "./console-pool.ts";
export * from "./engine.ts";
export * from "./engine-admin.ts";
export * from "./enhanced.ts";
export * from "./events.ts";
export * from "./health.ts";
export * from "./history.ts";
export * from "./json-rpc.ts";
export * from "./key.ts";
export * from "./ledger.ts";
export * from "./nft.ts";
export * from "./page.ts";
export * from "./pool.ts";
export * from "./problem.ts";
export * from "./requests.ts";
export * from "./sql.ts";
export * from "./streams.ts";
export * from "./usage.ts";
export * from "./wallet.ts";
export * from "./wallet-sdk.ts";
export * from "./webhooks.ts";
