import { counter, type Observe } from "../observe/index.ts";

export const keyMetrics = {
  cache: counter("sluice_key_cache_outcomes_total", "Look-ups in the cache of API keys", ["outcome"]),
} as const;

/** `negative`: the key is known not to exist; `malformed`: its form or checksum is wrong, so no store is asked. */
export type KeyCacheOutcome = "hit" | "negative" | "miss" | "malformed";

export interface KeysEvents {
  keyCacheOutcome(outcome: KeyCacheOutcome): void;
}

export function createKeysEvents({ metrics }: Observe): KeysEvents {
  const { cache } = metrics.register(keyMetrics);
  return { keyCacheOutcome: (outcome) => cache.with(outcome).add() };
}
