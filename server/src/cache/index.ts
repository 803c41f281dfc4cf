/**
 * cache: answers that were given before. For each network it stores history under one bound in bytes, and for each
 * commitment what is valid until the next slot, with the calls in flight that identical callers share. Fed by rpc with
 * keys and loads and by upstreams with slot notices; feeds rpc with answers. It knows nothing of JSON: what it stores
 * only has a size.
 */
export { AnswerCache, type Retention } from "./answer-cache.ts";
export { type CacheEvents, type CacheOutcome, cacheMetrics, createCacheEvents } from "./events.ts";
export { SharedAnswers } from "./shared-answers.ts";
