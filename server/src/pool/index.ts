/**
 * pool: the stake pool, its validators, and what bundles brought, as the block engine's REST port answers them. Fed by
 * accounts of the chain and by the outcomes of bundles in the ledger; feeds clients of that port, the console, and the
 * ledger with samples of the pool, which one process of several writes. Every figure is computed from whole numbers
 * that anybody can read (docs/decisions/0079).
 */

export { createPoolEvents, poolMetrics } from "./events.ts";
export type { Explanation } from "./explain/explanation.ts";
export { explainQuestion } from "./explain/question.ts";
export { createPoolHttp, type PoolHttp } from "./http.ts";
export { PoolSampler, type SamplerDependencies } from "./sampler.ts";
export { PoolService } from "./service.ts";
