import type { OracleSymbol } from "@sluice/contract/oracle";
import { BoundedMap, type Clock } from "@sluice/lib";
import { type Decimal, parseDecimal, zero } from "../model/decimal.ts";
import type { OracleLedger } from "../model/ports.ts";
import type { PricedRound } from "../model/round.ts";
import { type SourceId, sourceIds } from "../model/tick.ts";
import { minuteMs } from "../model/traded-minute.ts";
import { isNewest, visibleEndMs } from "../model/update-window.ts";
import type { Candle } from "./candle.ts";
import type { MinuteVolume } from "./traded-volumes.ts";

/** One price of a history: the last one within its step. */
export interface PricePoint {
  readonly atMs: number;
  readonly price: Decimal;
  readonly confidence: Decimal;
  /** Null where no source said it. */
  readonly volume24h: Decimal | null;
  readonly sources: readonly SourceId[];
}

/** A candle of any interval. */
export interface Bar {
  /** The interval's beginning. */
  readonly atMs: number;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  /** US dollars that were traded in it, of the open one so far; null where nothing is known of any of its minutes. */
  readonly volume: Decimal | null;
}

/** What the recorder has of the time before `endMs` and has not written yet, so that a history reaches there. */
export interface Unwritten {
  unwritten(symbol: string, endMs: number): readonly Candle[];
  unwrittenRounds(symbol: string, endMs: number): readonly PricedRound[];
  /** Of several for one minute the last is the newest. */
  unwrittenVolumes(symbol: string, endMs: number): readonly MinuteVolume[];
}

interface PointRow {
  readonly bucket: string;
  readonly last_ms: string;
  readonly price: string;
  readonly conf: string;
  readonly vol: string | null;
  readonly names: readonly string[];
}

interface BarRow {
  readonly bucket: string;
  readonly first_ms: string;
  readonly last_ms: string;
  readonly o: string;
  readonly h: string;
  readonly l: string;
  readonly c: string;
}

interface VolumeRow {
  readonly bucket: string;
  readonly volume: string;
}

const pointColumns = (lastAt: string, price: string): string =>
  `toString(max(${lastAt})) AS last_ms, toString(argMax(${price}, ${lastAt})) AS price, ` +
  `toString(argMax(confidence, ${lastAt})) AS conf, toString(argMax(volume_24h, ${lastAt})) AS vol, ` +
  `argMax(sources, ${lastAt}) AS names`;
const bucketColumn = "toString(intDiv(toUnixTimestamp64Milli(at) - {from:Int64}, {step:Int64})) AS bucket";
const range =
  "symbol = {symbol:String} AND at >= fromUnixTimestamp64Milli({since:Int64}) AND at < fromUnixTimestamp64Milli({end:Int64})";
/** A candle with a later round in it holds prices that are not to be shown yet, and is computed without them. */
const rangeOfCandles = `${range} AND last_at < {end:Int64}`;
const grouped = "GROUP BY bucket ORDER BY toInt64(bucket) LIMIT {max:UInt32}";

const pointsOfRounds =
  `SELECT ${bucketColumn}, ${pointColumns("made_at", "r.price")} ` +
  `FROM oracle_rounds_by_second AS r FINAL WHERE ${range} AND made_at < {end:Int64} ${grouped}`;
const pointsOfCandles =
  `SELECT ${bucketColumn}, ${pointColumns("last_at", "close")} ` +
  `FROM oracle_candles_by_minute FINAL WHERE ${rangeOfCandles} ${grouped}`;
const barsOfCandles =
  `SELECT ${bucketColumn}, toString(min(first_at)) AS first_ms, toString(max(last_at)) AS last_ms, ` +
  "toString(argMin(open, first_at)) AS o, toString(max(high)) AS h, toString(min(low)) AS l, " +
  "toString(argMax(close, last_at)) AS c " +
  `FROM oracle_candles_by_minute FINAL WHERE ${rangeOfCandles} ${grouped}`;
/** Of minutes that have ended, without those of which a newer answer is at hand. */
const volumesOfMinutes =
  `SELECT ${bucketColumn}, toString(sum(volume)) AS volume FROM oracle_volumes_by_minute FINAL WHERE ${range} ` +
  "AND toUnixTimestamp64Milli(at) + 60000 <= {end:Int64} AND NOT has({skip:Array(Int64)}, toUnixTimestamp64Milli(at)) " +
  grouped;

/** Rounds are kept for a week and a day; histories with steps below a minute are computed from them. */
const roundsMaxMs = 7 * 86_400_000;

/**
 * The length of `limit` steps that cover the time: whole seconds below a minute, and only where rounds reach back so
 * far; whole minutes above.
 */
export function stepMsFor(spanMs: number, limit: number): number {
  const exact = spanMs / limit;
  const grain = exact < minuteMs && spanMs <= roundsMaxMs ? 1_000 : minuteMs;
  return Math.ceil(exact / grain) * grain;
}

/** Histories and candles of the ledger, combined with the rows that are not written yet. */
export class History {
  readonly #ledger: Pick<OracleLedger, "query">;
  readonly #unwritten: Unwritten;

  constructor(dependencies: { readonly ledger: Pick<OracleLedger, "query">; readonly unwritten: Unwritten }) {
    this.#ledger = dependencies.ledger;
    this.#unwritten = dependencies.unwritten;
  }

  /**
   * Prices of the `spanMs` before `endMs`, oldest first: the last one within each of `limit` equal steps, of which the
   * last ends with the minute or the second of `endMs`.
   */
  async points(symbol: string, options: { spanMs: number; limit: number; endMs: number }): Promise<PricePoint[]> {
    const { spanMs, limit, endMs } = options;
    const step = stepMsFor(spanMs, limit);
    const isFine = step < minuteMs;
    const grain = isFine ? 1_000 : minuteMs;
    // Steps end at whole minutes or seconds, so that a repeated request gives the same points.
    const from = Math.ceil(endMs / grain) * grain - limit * step;
    // A candle is listed under the beginning of its minute.
    const since = Math.ceil((endMs - 1 - spanMs) / grain) * grain;
    const parameters = { symbol, from, since, end: endMs, step, max: limit };
    // Taken before the ledger is asked: what is written meanwhile would else be in neither.
    const unwritten = isFine ? this.#roundPoints(symbol, endMs) : this.#candlePoints(symbol, endMs);
    const rows = await this.#ledger.query<PointRow>(isFine ? pointsOfRounds : pointsOfCandles, parameters);
    const byBucket = new Map(rows.map((row) => [Number(row.bucket), pointOf(row)]));
    for (const point of unwritten) {
      if (point.startMs < since) continue;
      const bucket = Math.floor((point.startMs - from) / step);
      const known = byBucket.get(bucket);
      if (known === undefined || point.atMs >= known.atMs) byBucket.set(bucket, point);
    }
    return [...byBucket.entries()]
      .sort(([left], [right]) => left - right)
      .slice(-limit)
      .map(([, { atMs, price, confidence, volume24h, sources }]) => ({ atMs, price, confidence, volume24h, sources }));
  }

  /** The last `limit` candles of an interval before `endMs`, oldest first; they begin at whole multiples since 1970. */
  async bars(symbol: string, options: { minutes: number; limit: number; endMs: number }): Promise<Bar[]> {
    const { minutes, limit, endMs } = options;
    const stepMs = minutes * minuteMs;
    const from = (Math.floor((endMs - 1) / stepMs) - limit + 1) * stepMs;
    const parameters = { symbol, from, since: from, end: endMs, step: stepMs, max: limit };
    // Taken before the ledger is asked, as above; a candle that is in both is put together to itself.
    const unwritten = this.#unwritten.unwritten(symbol, endMs).map((candle) => ({ ...candle }));
    const inMemory = new Map(
      this.#unwritten.unwrittenVolumes(symbol, endMs).map(({ atMs, volume }) => [atMs, volume] as const),
    );
    const [rows, sums] = await Promise.all([
      this.#ledger.query<BarRow>(barsOfCandles, parameters),
      this.#ledger.query<VolumeRow>(volumesOfMinutes, { ...parameters, skip: [...inMemory.keys()] }),
    ]);
    const parts = new Map<number, BarPart[]>();
    const bucketOf = (atMs: number): number => Math.floor((atMs - from) / stepMs);
    for (const row of rows) parts.set(Number(row.bucket), [partOf(row)]);
    for (const candle of unwritten) {
      const bucket = bucketOf(candle.atMs);
      if (bucket >= 0 && bucket < limit) parts.set(bucket, [...(parts.get(bucket) ?? []), candle]);
    }
    const volumes = new Map(sums.map(({ bucket, volume }) => [Number(bucket), read(volume)]));
    for (const [atMs, volume] of inMemory) {
      const bucket = bucketOf(atMs);
      volumes.set(bucket, ((volumes.get(bucket) ?? zero) + volume) as Decimal);
    }
    return [...parts.entries()]
      .sort(([left], [right]) => left - right)
      .map(([bucket, list]) => ({ ...barOf(from + bucket * stepMs, list), volume: volumes.get(bucket) ?? null }));
  }

  #roundPoints(symbol: string, endMs: number): (PricePoint & { startMs: number })[] {
    return this.#unwritten.unwrittenRounds(symbol, endMs).map((round) => ({
      ...round,
      startMs: round.atMs,
      sources: round.sources.map(({ source }) => source),
    }));
  }

  #candlePoints(symbol: string, endMs: number): (PricePoint & { startMs: number })[] {
    return this.#unwritten.unwritten(symbol, endMs).map((candle) => ({
      startMs: candle.atMs,
      atMs: candle.lastAtMs,
      price: candle.close,
      confidence: candle.confidence,
      volume24h: candle.volume24h,
      sources: candle.sources,
    }));
  }
}

type BarPart = Pick<Candle, "firstAtMs" | "lastAtMs" | "open" | "high" | "low" | "close">;

function barOf(atMs: number, parts: readonly BarPart[]): Omit<Bar, "volume"> {
  const inOrder = [...parts].sort((left, right) => left.firstAtMs - right.firstAtMs);
  const first = inOrder[0];
  let last = first;
  let high = first?.high ?? zero;
  let low = first?.low ?? zero;
  for (const part of inOrder) {
    if (last === undefined || part.lastAtMs >= last.lastAtMs) last = part;
    if (part.high > high) high = part.high;
    if (part.low < low) low = part.low;
  }
  return { atMs, open: first?.open ?? zero, high, low, close: last?.close ?? zero };
}

const known: ReadonlySet<string> = new Set(sourceIds);
const isSource = (name: string): name is SourceId => known.has(name);
const read = (text: string): Decimal => parseDecimal(text) ?? zero;

function pointOf(row: PointRow): PricePoint {
  return {
    atMs: Number(row.last_ms),
    price: read(row.price),
    confidence: read(row.conf),
    volume24h: row.vol === null ? null : read(row.vol),
    sources: row.names.filter(isSource),
  };
}

function partOf(row: BarRow): BarPart {
  return {
    firstAtMs: Number(row.first_ms),
    lastAtMs: Number(row.last_ms),
    open: read(row.o),
    high: read(row.h),
    low: read(row.l),
    close: read(row.c),
  };
}

export const historyCacheLimits = {
  /** How long an answer is reused, in milliseconds; at most this much older than the finest update of a tier. */
  keptMs: 1_000,
  /** Answers that are kept; the oldest is dropped first. */
  keptMax: 512,
} as const;

interface Kept<T> {
  readonly untilMs: number;
  readonly answer: Promise<T>;
}

/** Histories whose recent answers are reused, so that many equal requests cost the ledger one query. */
export class CachedHistory {
  readonly #clock: Clock;
  readonly #history: History;
  readonly #points = new BoundedMap<string, Kept<readonly PricePoint[]>>({ max: historyCacheLimits.keptMax });
  readonly #bars = new BoundedMap<string, Kept<readonly Bar[]>>({ max: historyCacheLimits.keptMax });

  constructor(dependencies: { readonly clock: Clock; readonly history: History }) {
    this.#clock = dependencies.clock;
    this.#history = dependencies.history;
  }

  /** As `History.points`, up to what a tier of this update frequency is served. */
  points(
    symbol: OracleSymbol,
    asked: { spanMs: number; limit: number },
    seconds: number,
  ): Promise<readonly PricePoint[]> {
    const { endMs, name } = this.#visible(seconds);
    return this.#shared(this.#points, `${symbol} ${asked.spanMs} ${asked.limit} ${name}`, () =>
      this.#history.points(symbol, { ...asked, endMs }),
    );
  }

  /** As `History.bars`, up to what a tier of this update frequency is served. */
  bars(symbol: OracleSymbol, asked: { minutes: number; limit: number }, seconds: number): Promise<readonly Bar[]> {
    const { endMs, name } = this.#visible(seconds);
    return this.#shared(this.#bars, `${symbol} ${asked.minutes} ${asked.limit} ${name}`, () =>
      this.#history.bars(symbol, { ...asked, endMs }),
    );
  }

  /** The end of what a tier sees, and its part in the name of a kept answer: a new window has answers of its own. */
  #visible(seconds: number): { endMs: number; name: string } {
    const endMs = visibleEndMs(this.#clock.now(), seconds);
    return { endMs, name: isNewest(seconds) ? "newest" : String(endMs) };
  }

  #shared<T>(kept: BoundedMap<string, Kept<T>>, name: string, load: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.monotonic();
    const known = kept.get(name);
    if (known !== undefined && known.untilMs > nowMs) return known.answer;
    const answer = load();
    const entry = { untilMs: nowMs + historyCacheLimits.keptMs, answer };
    kept.set(name, entry);
    // A failure is not reused.
    answer.catch(() => kept.get(name) === entry && kept.delete(name));
    return answer;
  }
}
