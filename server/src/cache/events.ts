import { counter, gauge, type Observe } from "../observe/index.ts";

/** The metrics of the cache. */
export const cacheMetrics = {
  outcomes: counter("sluice_cache_outcomes_total", "Look-ups in the answer cache, by lifetime class and outcome", [
    "network",
    "class",
    "outcome",
  ]),
  bytes: gauge("sluice_cache_bytes", "Memory that cached answers take"),
  sharedAnswers: counter("sluice_shared_answers_total", "Look-ups and writes of history shared through Redis", [
    "outcome",
  ]),
} as const;

/** `coalesced`: the call joined an identical one that was under way. */
export type CacheOutcome = "hit" | "miss" | "coalesced";

/** The outcome of a look-up in, or a write to, the answers that processes share. */
type SharedOutcome = "hit" | "miss" | "late" | "failed" | "paused" | "kept" | "over-budget";

/** The events of the cache, each a metric. */
export interface CacheEvents {
  /** A call that may be cached was answered from memory, by a call under way, or by a call of its own. */
  cacheOutcome(network: string, lifetime: "final" | "slot", outcome: CacheOutcome): void;
  /** Hands in the function that gives the bytes of all cached answers. */
  cacheOpened(bytes: () => number): void;
  /** A look-up in, or a write to, the answers that processes share. */
  sharedAnswer(outcome: SharedOutcome): void;
}

/** Registers the metrics of the cache and gives the functions that feed them. */
export function createCacheEvents({ metrics }: Observe): CacheEvents {
  const { outcomes, bytes, sharedAnswers } = metrics.register(cacheMetrics);
  return {
    cacheOutcome: (network, lifetime, outcome) => outcomes.with(network, lifetime, outcome).add(),
    cacheOpened: (read) => bytes.readFrom(read),
    sharedAnswer: (outcome) => sharedAnswers.with(outcome).add(),
  };
}
