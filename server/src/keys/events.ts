import { counter, gauge, type Observe } from "../observe/index.ts";

export const keyMetrics = {
  cache: counter("sluice_key_cache_outcomes_total", "Look-ups in the cache of API keys", ["outcome"]),
  revision: gauge("sluice_key_revision", "The last change of a key or an account that this process has seen"),
  revisionReads: counter("sluice_key_revision_reads_total", "Times that the revision of keys was read from state"),
} as const;

/** `negative`: the key is known not to exist; `malformed`: its form or checksum is wrong, so no store is asked. */
export type KeyCacheOutcome = "hit" | "negative" | "miss" | "malformed";

export interface KeysEvents {
  keyCacheOutcome(outcome: KeyCacheOutcome): void;
  /** Once a second while state answers. */
  keyRevisionRead(revision: bigint): void;
}

export function createKeysEvents({ metrics }: Observe): KeysEvents {
  const { cache, revision, revisionReads } = metrics.register(keyMetrics);
  return {
    keyCacheOutcome: (outcome) => cache.with(outcome).add(),
    keyRevisionRead: (seen) => {
      revision.with().set(Number(seen));
      revisionReads.with().add();
    },
  };
}
