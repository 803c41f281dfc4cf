import { type Decimal, parseDecimal } from "../model/decimal.ts";
import type { OracleLedger } from "../model/ports.ts";
import { type SourceId, sourceIds } from "../model/tick.ts";
import { minuteMs, minuteOf } from "../model/traded-minute.ts";
import { type Candle, joinCandles } from "./candle.ts";
import { type MinuteVolume, volumeLimits } from "./traded-volumes.ts";

const dayMs = 24 * 60 * minuteMs;
/** How far back rounds are looked at for candles that were not written; what is older has been written or is gone. */
const recoverMs = dayMs;

/** What an earlier server left in the ledger. */
export interface WarmStart {
  /** The last day, a minute each, oldest first. */
  readonly minutes: readonly {
    readonly symbol: string;
    readonly atMs: number;
    readonly high: Decimal;
    readonly low: Decimal;
    readonly close: Decimal;
  }[];
  readonly last: readonly { readonly symbol: string; readonly atMs: number; readonly price: Decimal }[];
  /** Candles that no process wrote whole, from its rounds: a minute of each symbol at most once. */
  readonly recovered: readonly Candle[];
  /** Volumes of the minutes for which the exchanges are asked again. */
  readonly volumes: readonly MinuteVolume[];
}

interface MinuteRow {
  readonly symbol: string;
  readonly at_ms: string;
  readonly h: string;
  readonly l: string;
  readonly c: string;
}

interface VolumeRow {
  readonly symbol: string;
  readonly at_ms: string;
  readonly volume: string;
  readonly claims: number;
  readonly names: readonly string[];
}

interface CandleRow extends MinuteRow {
  readonly first_ms: string;
  readonly last_ms: string;
  readonly o: string;
  readonly vol: string | null;
  readonly conf: string;
  readonly names: readonly string[];
}

const since = "at >= fromUnixTimestamp64Milli({from:Int64})";

const dayMinutes =
  "SELECT symbol, toString(toUnixTimestamp64Milli(at)) AS at_ms, toString(high) AS h, toString(low) AS l, " +
  `toString(close) AS c FROM oracle_candles_by_minute FINAL WHERE ${since} ORDER BY at LIMIT 100000`;

const lastRounds =
  "SELECT symbol, toString(max(r.made_at)) AS at_ms, toString(argMax(r.price, r.made_at)) AS c " +
  `FROM oracle_rounds_by_second AS r WHERE ${since} GROUP BY symbol LIMIT 1000`;

const unwrittenMinutes =
  "SELECT symbol, toString(intDiv(ms, 60000) * 60000) AS at_ms, toString(min(ms)) AS first_ms, " +
  "toString(max(ms)) AS last_ms, toString(argMin(price, ms)) AS o, toString(max(price)) AS h, toString(min(price)) AS l, " +
  "toString(argMax(price, ms)) AS c, toString(argMax(volume_24h, ms)) AS vol, toString(argMax(confidence, ms)) AS conf, " +
  "argMax(sources, ms) AS names FROM (SELECT *, made_at AS ms FROM oracle_rounds_by_second FINAL " +
  `WHERE ${since}) AS r LEFT JOIN (SELECT symbol, max(last_at) AS upto FROM oracle_candles_by_minute WHERE ${since} ` +
  "GROUP BY symbol) AS c ON r.symbol = c.symbol WHERE ms > upto GROUP BY symbol, intDiv(ms, 60000) " +
  "ORDER BY intDiv(ms, 60000) LIMIT 100000";

/** The candle of the present minute, as far as a process wrote it that ended within it. */
const presentCandles =
  "SELECT symbol, toString(toUnixTimestamp64Milli(at)) AS at_ms, toString(first_at) AS first_ms, " +
  "toString(last_at) AS last_ms, toString(open) AS o, toString(high) AS h, toString(low) AS l, toString(close) AS c, " +
  "toString(volume_24h) AS vol, toString(confidence) AS conf, sources AS names " +
  `FROM oracle_candles_by_minute FINAL WHERE ${since} LIMIT 1000`;

const recentVolumes =
  "SELECT symbol, toString(toUnixTimestamp64Milli(at)) AS at_ms, toString(volume) AS volume, claims, sources AS names " +
  `FROM oracle_volumes_by_minute FINAL WHERE ${since} LIMIT 100000`;

/** Reads the last day; rejects when the ledger does not answer. */
export async function readWarmStart(ledger: Pick<OracleLedger, "query">, nowMs: number): Promise<WarmStart> {
  const from = nowMs - dayMs - 10 * minuteMs;
  const [minutes, last, unwritten, present, volumes] = await Promise.all([
    ledger.query<MinuteRow>(dayMinutes, { from }),
    ledger.query<Pick<MinuteRow, "symbol" | "at_ms" | "c">>(lastRounds, { from: nowMs - 7 * dayMs }),
    ledger.query<CandleRow>(unwrittenMinutes, { from: nowMs - recoverMs }),
    ledger.query<CandleRow>(presentCandles, { from: minuteOf(nowMs) }),
    ledger.query<VolumeRow>(recentVolumes, { from: nowMs - volumeLimits.heldMinutes * minuteMs }),
  ]);
  return {
    minutes: minutes.flatMap((row) => {
      const [high, low, close] = [parseDecimal(row.h), parseDecimal(row.l), parseDecimal(row.c)];
      if (high === null || low === null || close === null) return [];
      return [{ symbol: row.symbol, atMs: Number(row.at_ms), high, low, close }];
    }),
    last: last.flatMap((row) => {
      const price = parseDecimal(row.c);
      return price === null ? [] : [{ symbol: row.symbol, atMs: Number(row.at_ms), price }];
    }),
    recovered: joined([...present, ...unwritten].flatMap((row) => candleOf(row) ?? [])),
    volumes: volumes.flatMap((row) => volumeOf(row) ?? []),
  };
}

const known: ReadonlySet<string> = new Set(sourceIds);
const isSource = (name: string): name is SourceId => known.has(name);

/** One candle for each symbol and minute, in the order of the first of each. */
function joined(candles: readonly Candle[]): Candle[] {
  const whole = new Map<string, Candle>();
  for (const candle of candles) {
    const key = `${candle.symbol} ${candle.atMs}`;
    const before = whole.get(key);
    whole.set(key, before === undefined ? candle : joinCandles(before, candle));
  }
  return [...whole.values()];
}

function volumeOf(row: VolumeRow): MinuteVolume | null {
  const volume = parseDecimal(row.volume);
  if (volume === null) return null;
  const { symbol, claims, names } = row;
  return { symbol, atMs: Number(row.at_ms), volume, claims, sources: names.filter(isSource) };
}

function candleOf(row: CandleRow): Candle | null {
  const [open, high, low] = [parseDecimal(row.o), parseDecimal(row.h), parseDecimal(row.l)];
  const [close, volume24h, confidence] = [parseDecimal(row.c), parseDecimal(row.vol ?? ""), parseDecimal(row.conf)];
  if (open === null || high === null || low === null || close === null) return null;
  if (confidence === null) return null;
  return {
    symbol: row.symbol,
    atMs: Number(row.at_ms),
    firstAtMs: Number(row.first_ms),
    lastAtMs: Number(row.last_ms),
    open,
    high,
    low,
    close,
    volume24h,
    confidence,
    sources: row.names.filter(isSource),
  };
}
