import type { PoolSample, SampledPool } from "../../ledger/index.ts";
import type { SamplerDependencies } from "../sampler.ts";

interface PoolRow {
  readonly at: number;
  readonly slot: bigint;
  readonly epoch: bigint;
  readonly last_update_epoch: bigint;
  readonly total_lamports: bigint;
  readonly token_supply: bigint;
}

/** Rows that a sampler wrote, in memory; of one pool. */
export class KeptRows {
  readonly tables = new Map<string, object[]>();
  /** What writing fails with. */
  error: Error | null = null;

  /** The ledger as a sampler sees it. */
  readonly ledger: SamplerDependencies["ledger"] = {
    insert: async (table, rows) => {
      if (this.error !== null) throw this.error;
      this.tables.set(table, [...(this.tables.get(table) ?? []), ...rows]);
    },
    poolSamples: {
      lastUpTo: async (_of: SampledPool, { fromMs, toMs }): Promise<PoolSample | null> => {
        const row = this.samples.findLast(({ at }) => at >= fromMs && at <= toMs);
        if (row === undefined) return null;
        const { at: atMs, slot, epoch, last_update_epoch: updatedIn } = row;
        return { atMs, slot, epoch, updatedIn, lamports: row.total_lamports, tokens: row.token_supply };
      },
    },
  };

  /** Of the pool, in the order in which they were written. */
  get samples(): readonly PoolRow[] {
    return (this.tables.get("pool_samples") ?? []) as PoolRow[];
  }
}
