import type { Network } from "@sluice/contract/tiers";
import type { LedgerConnection } from "./connection.ts";

/** Which pool of which chain; `chain` is the genesis hash, empty where nodes do not tell it. */
export interface SampledPool {
  readonly network: Network;
  readonly chain: string;
  readonly pool: string;
}

/** A pool as a sample has it. Amounts in the smallest units. */
export interface PoolSample {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly lamports: bigint;
  readonly tokens: bigint;
}

/** The yearly rates of an epoch, in millionths of a percent. */
export interface EpochRates {
  readonly epoch: bigint;
  readonly apy: bigint;
  readonly mevApy: bigint;
}

/** The last sample of a day. */
export interface SampledDay {
  /** Such as 2026-11-20, in UTC. */
  readonly day: string;
  readonly lamports: bigint;
  readonly apy: bigint;
}

/** What the ledger has of stake pools. All reject with LedgerUnavailableError while it cannot be asked. */
export interface PoolSampleReads {
  /** Unix milliseconds of the first sample; null without one. */
  firstAtMs(of: SampledPool): Promise<number | null>;
  /** The last sample up to a moment and not before another; null without one. Unix milliseconds. */
  lastUpTo(of: SampledPool, span: { readonly fromMs: number; readonly toMs: number }): Promise<PoolSample | null>;
  /** The rates of each epoch that was sampled since a moment, as they were sampled last. At most 20,000 epochs. */
  rates(of: SampledPool, fromMs: number): Promise<readonly EpochRates[]>;
  /** Days since a moment, in their order, those without a sample left out. At most 10,000 days. */
  days(of: SampledPool, fromMs: number): Promise<readonly SampledDay[]>;
}

const epochsMax = 20_000;
const daysMax = 10_000;
const ofPool = "network = {network:String} AND chain = {chain:String} AND pool = {pool:String}";
const since = "at >= fromUnixTimestamp64Milli({from:Int64})";
const settings = { do_not_merge_across_partitions_select_final: 1 } as const;

/** Reads samples; FINAL counts one that two processes wrote once. */
export class PoolSamples implements PoolSampleReads {
  readonly #connection: LedgerConnection;

  constructor(connection: LedgerConnection) {
    this.#connection = connection;
  }

  async firstAtMs(of: SampledPool): Promise<number | null> {
    const [row] = await this.#connection.query<{ first: string; count: string }>(
      `SELECT toUnixTimestamp64Milli(min(at)) AS first, count() AS count FROM pool_samples WHERE ${ofPool}`,
      { ...of },
    );
    return row === undefined || row.count === "0" ? null : Number(row.first);
  }

  async lastUpTo(
    of: SampledPool,
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  ): Promise<PoolSample | null> {
    const [row] = await this.#connection.query<Record<"ms" | "total_lamports" | "token_supply", string>>(
      "SELECT toUnixTimestamp64Milli(at) AS ms, total_lamports, token_supply FROM pool_samples FINAL " +
        `WHERE ${ofPool} AND ${since} AND at <= fromUnixTimestamp64Milli({to:Int64}) ORDER BY at DESC LIMIT 1`,
      { ...of, from: fromMs, to: toMs },
      settings,
    );
    if (row === undefined) return null;
    return { atMs: Number(row.ms), lamports: BigInt(row.total_lamports), tokens: BigInt(row.token_supply) };
  }

  async rates(of: SampledPool, fromMs: number): Promise<readonly EpochRates[]> {
    const rows = await this.#connection.query<Record<"counted" | "last_apy" | "last_mev", string>>(
      "SELECT last_update_epoch AS counted, argMax(apy, at) AS last_apy, argMax(mev_apy, at) AS last_mev " +
        `FROM pool_samples FINAL WHERE ${ofPool} AND ${since} AND last_update_epoch > 0 ` +
        `GROUP BY counted ORDER BY counted DESC LIMIT ${epochsMax}`,
      { ...of, from: fromMs },
      settings,
    );
    return rows.map(({ counted, last_apy, last_mev }) => {
      return { epoch: BigInt(counted) - 1n, apy: BigInt(last_apy), mevApy: BigInt(last_mev) };
    });
  }

  async days(of: SampledPool, fromMs: number): Promise<readonly SampledDay[]> {
    const rows = await this.#connection.query<Record<"day" | "lamports" | "last_apy", string>>(
      "SELECT toString(toDate(at)) AS day, argMax(total_lamports, at) AS lamports, argMax(apy, at) AS last_apy " +
        `FROM pool_samples FINAL WHERE ${ofPool} AND ${since} GROUP BY day ORDER BY day LIMIT ${daysMax}`,
      { ...of, from: fromMs },
      settings,
    );
    return rows.map(({ day, lamports, last_apy }) => ({ day, lamports: BigInt(lamports), apy: BigInt(last_apy) }));
  }
}
