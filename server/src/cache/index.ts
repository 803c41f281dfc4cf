/**
 * cache: answers that were given before. For each network it stores history under one bound in bytes, and for each
 * commitment what is valid until the next slot, with the calls in flight that identical callers share. Fed by rpc with
 * keys and loads and by upstreams with slot notices; feeds rpc with answers. It knows nothing of JSON: what it stores
 * only has a size.
 */
export {
  AnswerCache,
  type AnswerCacheDependencies,
  type AnswerCacheOptions,
  type CommitmentCache,
  type Retention,
} from "./answer-cache.ts";
export { type CacheEvents, type CacheOutcome, cacheMetrics, createCacheEvents, type SharedOutcome } from "./events.ts";
export type { Sized } from "./fifo-caches.ts";
export {
  SharedAnswers,
  type SharedAnswersDependencies,
  type SharedAnswersOptions,
  type SharedAnswersStore,
} from "./shared-answers.ts";
