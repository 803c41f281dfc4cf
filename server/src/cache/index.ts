/**
 * cache: answers that were given before. History under one bound in bytes, and for each network and commitment a shelf of
 * what is true until the next slot, with the calls under way that identical callers share. Fed by rpc with keys and loads
 * and by upstreams with slot notices; feeds rpc with answers. It knows nothing of JSON: what it keeps only has a size.
 */
export { AnswerCache, type AnswerCacheDependencies, type AnswerCacheOptions } from "./answer-cache.ts";
export type { Sized } from "./byte-lru.ts";
export {
  SharedAnswers,
  type SharedAnswersDependencies,
  type SharedAnswersOptions,
  type SharedAnswersStore,
  type SharedOutcome,
} from "./shared-answers.ts";
export type { Kept, Shelf, ShelfOptions } from "./shelf.ts";
