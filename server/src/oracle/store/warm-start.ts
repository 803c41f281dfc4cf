import { type Decimal, parseDecimal } from "../model/decimal.ts";
import type { OracleLedger } from "../model/ports.ts";
import { type SourceId, sourceIds } from "../model/tick.ts";
import { type Candle, minuteMs } from "./candle.ts";

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
  /** Candles that the earlier process did not write, computed from its rounds. */
  readonly recovered: readonly Candle[];
}

interface MinuteRow {
  readonly symbol: string;
  readonly at_ms: string;
  readonly h: string;
  readonly l: string;
  readonly c: string;
}

interface RecoveredRow extends MinuteRow {
  readonly first_ms: string;
  readonly last_ms: string;
  readonly o: string;
  readonly vol: string;
  readonly conf: string;
  readonly names: readonly string[];
}

const since = "at >= fromUnixTimestamp64Milli({from:Int64})";

const dayMinutes =
  "SELECT symbol, toString(toUnixTimestamp64Milli(at)) AS at_ms, toString(max(high)) AS h, toString(min(low)) AS l, " +
  `toString(argMax(close, last_at)) AS c FROM oracle_candles WHERE ${since} GROUP BY symbol, at ORDER BY at LIMIT 100000`;

const lastRounds =
  "SELECT symbol, toString(max(toUnixTimestamp64Milli(r.at))) AS at_ms, toString(argMax(r.price, r.at)) AS c " +
  `FROM oracle_rounds AS r WHERE ${since} GROUP BY symbol LIMIT 1000`;

const unwrittenMinutes =
  "SELECT symbol, toString(intDiv(ms, 60000) * 60000) AS at_ms, toString(min(ms)) AS first_ms, " +
  "toString(max(ms)) AS last_ms, toString(argMin(price, ms)) AS o, toString(max(price)) AS h, toString(min(price)) AS l, " +
  "toString(argMax(price, ms)) AS c, toString(argMax(volume_24h, ms)) AS vol, toString(argMax(confidence, ms)) AS conf, " +
  "argMax(sources, ms) AS names FROM (SELECT *, toUnixTimestamp64Milli(at) AS ms FROM oracle_rounds " +
  `WHERE ${since}) AS r LEFT JOIN (SELECT symbol, max(last_at) AS upto FROM oracle_candles WHERE ${since} ` +
  "GROUP BY symbol) AS c ON r.symbol = c.symbol WHERE ms > upto GROUP BY symbol, intDiv(ms, 60000) " +
  "ORDER BY intDiv(ms, 60000) LIMIT 100000";

/** Reads the last day; rejects when the ledger does not answer. */
export async function readWarmStart(ledger: Pick<OracleLedger, "query">, nowMs: number): Promise<WarmStart> {
  const from = nowMs - dayMs - 10 * minuteMs;
  const [minutes, last, recovered] = await Promise.all([
    ledger.query<MinuteRow>(dayMinutes, { from }),
    ledger.query<Pick<MinuteRow, "symbol" | "at_ms" | "c">>(lastRounds, { from: nowMs - 7 * dayMs }),
    ledger.query<RecoveredRow>(unwrittenMinutes, { from: nowMs - recoverMs }),
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
    recovered: recovered.flatMap((row) => candleOf(row) ?? []),
  };
}

const known: ReadonlySet<string> = new Set(sourceIds);
const isSource = (name: string): name is SourceId => known.has(name);

function candleOf(row: RecoveredRow): Candle | null {
  const [open, high, low] = [parseDecimal(row.o), parseDecimal(row.h), parseDecimal(row.l)];
  const [close, volume24h, confidence] = [parseDecimal(row.c), parseDecimal(row.vol), parseDecimal(row.conf)];
  if (open === null || high === null || low === null || close === null) return null;
  if (volume24h === null || confidence === null) return null;
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
