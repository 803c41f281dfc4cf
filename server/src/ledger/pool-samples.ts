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
  readonly slot: bigint;
  /** The epoch of that slot, and the one in which the pool was updated last; 0 where that is not known. */
  readonly epoch: bigint;
  readonly updatedIn: bigint;
  readonly lamports: bigint;
  readonly tokens: bigint;
}

/** The yearly rates of what an update counted, in millionths of a percent. */
export interface EpochRates {
  /** The last epoch that it counted, and how many. */
  readonly epoch: bigint;
  readonly epochs: bigint;
  readonly apy: bigint;
  readonly mevApy: bigint;
}

/** The yearly rate of a sample, in millionths of a percent, and what it was computed from. */
export interface SampledRate {
  readonly apy: bigint;
  /** Before the pool's last update. */
  readonly lastLamports: bigint;
  readonly lastTokens: bigint;
  /** How long the epochs were that this update counted. */
  readonly periodMs: number;
}

/** The last sample of a day; `rate` is null where the rate was not known. */
export interface SampledDay extends PoolSample {
  /** Such as 2026-11-20, in UTC. */
  readonly day: string;
  readonly rate: SampledRate | null;
}

/** What the ledger has of stake pools. All reject with LedgerUnavailableError while it cannot be asked. */
export interface PoolSampleReads {
  /** Unix milliseconds of the first sample; null without one. */
  firstAtMs(of: SampledPool): Promise<number | null>;
  /** The last sample up to a moment and not before another; null without one. Unix milliseconds. */
  lastUpTo(of: SampledPool, span: { readonly fromMs: number; readonly toMs: number }): Promise<PoolSample | null>;
  /** The last sample up to each of many moments and at most `ageMsMax` older, by moment; those without one left out. */
  before(of: SampledPool, moments: readonly number[], ageMsMax: number): Promise<ReadonlyMap<number, PoolSample>>;
  /** The last sample of before the pool was updated in an epoch; null without one. */
  beforeUpdate(of: SampledPool, epoch: bigint): Promise<PoolSample | null>;
  /** The rates of each epoch that was sampled since a moment, as they were sampled last. At most 20,000 epochs. */
  rates(of: SampledPool, fromMs: number): Promise<readonly EpochRates[]>;
  /**
   * Days since a moment, in their order, each by its last sample, or by the last one that has a rate; those without one
   * left out. At most 10,000 days.
   */
  days(of: SampledPool, fromMs: number, which: "all" | "rated"): Promise<readonly SampledDay[]>;
}

const epochsMax = 20_000;
const daysMax = 10_000;
const ofPool = "network = {network:String} AND chain = {chain:String} AND pool = {pool:String}";
const since = "at >= fromUnixTimestamp64Milli({from:Int64})";
/**
 * A sample of before the first counted epoch, of the end of an earlier one, or of a moment when nodes did not tell what
 * the epoch brought has no rate.
 */
const isRated = "last_update_epoch > 0 AND epoch_ms > 0 AND last_total_lamports > 0 AND last_token_supply > 0";
const columns = "toUnixTimestamp64Milli(at) AS ms, slot, epoch, last_update_epoch, total_lamports, token_supply";
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
    const [row] = await this.#connection.query<SampleRow>(
      `SELECT ${columns} FROM pool_samples FINAL ` +
        `WHERE ${ofPool} AND ${since} AND at <= fromUnixTimestamp64Milli({to:Int64}) ORDER BY at DESC LIMIT 1`,
      { ...of, from: fromMs, to: toMs },
      settings,
    );
    return row === undefined ? null : sampleOf(row);
  }

  async before(
    of: SampledPool,
    moments: readonly number[],
    ageMsMax: number,
  ): Promise<ReadonlyMap<number, PoolSample>> {
    if (moments.length === 0) return new Map();
    const rows = await this.#connection.query<SampleRow & { readonly asked: string }>(
      "SELECT toString(moment) AS asked, ms, slot, epoch, last_update_epoch, total_lamports, token_supply FROM " +
        "(SELECT 1 AS one, arrayJoin({moments:Array(Int64)}) AS moment) AS questions ASOF INNER JOIN " +
        `(SELECT 1 AS one, ${columns} FROM pool_samples FINAL WHERE ${ofPool}) AS samples ` +
        "ON questions.one = samples.one AND questions.moment >= samples.ms",
      { ...of, moments },
      settings,
    );
    const samples = rows.map((row) => [Number(row.asked), sampleOf(row)] as const);
    return new Map(samples.filter(([moment, { atMs }]) => moment - atMs <= ageMsMax));
  }

  async beforeUpdate(of: SampledPool, epoch: bigint): Promise<PoolSample | null> {
    const [row] = await this.#connection.query<SampleRow>(
      `SELECT ${columns} FROM pool_samples FINAL WHERE ${ofPool} ` +
        "AND last_update_epoch > 0 AND last_update_epoch < {epoch:UInt64} ORDER BY at DESC LIMIT 1",
      { ...of, epoch },
      settings,
    );
    return row === undefined ? null : sampleOf(row);
  }

  async rates(of: SampledPool, fromMs: number): Promise<readonly EpochRates[]> {
    const rows = await this.#connection.query<Record<"counted" | "last_apy" | "last_mev" | "last_epochs", string>>(
      "SELECT last_update_epoch AS counted, argMax(apy, at) AS last_apy, argMax(mev_apy, at) AS last_mev, " +
        "toString(argMax(epochs, at)) AS last_epochs " +
        `FROM pool_samples FINAL WHERE ${ofPool} AND ${since} AND ${isRated} ` +
        `GROUP BY counted ORDER BY counted DESC LIMIT ${epochsMax}`,
      { ...of, from: fromMs },
      settings,
    );
    return rows.map(({ counted, last_apy, last_mev, last_epochs }) => {
      const epochs = BigInt(last_epochs) === 0n ? 1n : BigInt(last_epochs);
      return { epoch: BigInt(counted) - 1n, epochs, apy: BigInt(last_apy), mevApy: BigInt(last_mev) };
    });
  }

  async days(of: SampledPool, fromMs: number, which: "all" | "rated"): Promise<readonly SampledDay[]> {
    const rows = await this.#connection.query<DayRow>(
      `SELECT toString(toDate(at)) AS day, ${columns}, apy, last_total_lamports, ` +
        `last_token_supply, epoch_ms, counted_ms FROM pool_samples FINAL WHERE ${ofPool} AND ${since} ` +
        `${which === "rated" ? `AND ${isRated} ` : ""}` +
        `ORDER BY day, at DESC LIMIT 1 BY day LIMIT ${daysMax}`,
      { ...of, from: fromMs },
      settings,
    );
    return rows.map((row) => ({ day: row.day, ...sampleOf(row), rate: rateOf(row) }));
  }
}

type SampleRow = Record<"ms" | "slot" | "epoch" | "last_update_epoch" | "total_lamports" | "token_supply", string>;
type DayRow = SampleRow &
  Record<"day" | "apy" | "last_total_lamports" | "last_token_supply" | "epoch_ms" | "counted_ms", string>;

const sampleOf = (row: SampleRow): PoolSample => ({
  atMs: Number(row.ms),
  slot: BigInt(row.slot),
  epoch: BigInt(row.epoch),
  updatedIn: BigInt(row.last_update_epoch),
  lamports: BigInt(row.total_lamports),
  tokens: BigInt(row.token_supply),
});

/** The same rule as `isRated`. Rows of versions that counted each update as one epoch have no length of several. */
function rateOf(row: DayRow): SampledRate | null {
  const needed = [row.last_update_epoch, row.epoch_ms, row.last_total_lamports, row.last_token_supply];
  if (needed.includes("0")) return null;
  return {
    apy: BigInt(row.apy),
    lastLamports: BigInt(row.last_total_lamports),
    lastTokens: BigInt(row.last_token_supply),
    periodMs: Number(row.counted_ms === "0" ? row.epoch_ms : row.counted_ms),
  };
}
