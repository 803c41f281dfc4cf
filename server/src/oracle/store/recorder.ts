import { type Decimal, formatDecimal } from "../model/decimal.ts";
import type { OracleLedger } from "../model/ports.ts";
import type { PricedRound } from "../model/round.ts";
import type { Tick } from "../model/tick.ts";
import { addRound, type Candle, candleRow, clockBackMs, minuteOf, newCandle } from "./candle.ts";
import { RowQueue } from "./row-queue.ts";

export const recorderLimits = {
  /** How long ticks and rounds gather, in milliseconds: each batch costs the engine 15 ms whatever its size. */
  writeMs: 5_000,
  tickEveryMs: 10_000,
  roundEveryMs: 1_000,
  /** A price that stands still is written this often all the same. */
  roundAtLeastEveryMs: 60_000,
  /** How long closing waits for the ledger. */
  closeMsMax: 5_000,
} as const;

/** Beyond this the ledger's columns have no room: twenty digits before the point. */
const storedMax = 10n ** 38n;
const isStorable = (value: Decimal | null): boolean => value === null || (value < storedMax && value > -storedMax);
const textOf = (value: Decimal | null): string | null => (value === null ? null : formatDecimal(value));

interface Recorded {
  readonly atMs: number;
  readonly price: Decimal;
  readonly confidence: Decimal;
}

/** Takes ticks and rounds off the way, thins them out, makes candles of a minute, and writes all three in batches. */
export class Recorder implements AsyncDisposable {
  readonly #dropped: (table: string, rows: number) => void;
  readonly #ticks: RowQueue<Tick>;
  readonly #rounds: RowQueue<PricedRound>;
  readonly #candles: RowQueue<Candle>;
  readonly #open = new Map<string, Candle>();
  /** The newest round of a second that may still bring a newer one. */
  readonly #held = new Map<string, PricedRound>();
  readonly #recorded = new Map<string, Recorded>();
  readonly #tickAt = new Map<string, number>();
  readonly #timer: ReturnType<typeof setInterval> | null;
  #writing: Promise<void> | null = null;

  constructor(
    options: { readonly writeMs?: number | null },
    dependencies: {
      readonly ledger: Pick<OracleLedger, "insert">;
      readonly dropped: (table: string, rows: number) => void;
    },
  ) {
    const { ledger, dropped } = dependencies;
    this.#dropped = dropped;
    const shared = { insert: (table: string, rows: readonly object[]) => ledger.insert(table, rows), dropped };
    this.#ticks = new RowQueue("oracle_ticks", tickRow, shared);
    this.#rounds = new RowQueue("oracle_rounds", roundRow, shared);
    this.#candles = new RowQueue("oracle_candles", candleRow, shared);
    const writeMs = options.writeMs === undefined ? recorderLimits.writeMs : options.writeMs;
    this.#timer = writeMs === null ? null : setInterval(() => void this.write(), writeMs);
    this.#timer?.unref();
  }

  tick(tick: Tick): void {
    const name = `${tick.source} ${tick.base}`;
    const slot = Math.floor(tick.receivedAtMs / recorderLimits.tickEveryMs);
    if (this.#tickAt.get(name) === slot) return;
    this.#tickAt.set(name, slot);
    const isSound = [tick.price, tick.bid, tick.ask, tick.baseVolume24h, tick.quoteVolume24h].every(isStorable);
    if (isSound) this.#ticks.push(tick);
    else this.#dropped("oracle_ticks", 1);
  }

  round(round: PricedRound): void {
    if (![round.price, round.volume24h, round.band, round.high24h].every(isStorable)) {
      this.#dropped("oracle_rounds", 1);
      return;
    }
    const held = this.#held.get(round.symbol);
    if (held !== undefined && secondOf(held) !== secondOf(round)) this.#keep(held);
    this.#held.set(round.symbol, round);
    const open = this.#open.get(round.symbol);
    const isLate = open !== undefined && round.atMs < open.atMs && round.atMs > open.atMs - clockBackMs;
    if (open !== undefined && (isLate || minuteOf(round.atMs) === open.atMs)) addRound(open, round);
    else {
      if (open !== undefined) this.#candles.push(open);
      this.#open.set(round.symbol, newCandle(round));
    }
  }

  /** Candles of a symbol that the ledger may not have yet, the open one last. */
  unwritten(symbol: string): Candle[] {
    const open = this.#open.get(symbol);
    const closed = this.#candles.waiting.filter((candle) => candle.symbol === symbol);
    return open === undefined ? closed : [...closed, open];
  }

  /** Rounds of a symbol that the ledger may not have yet, oldest first. */
  unwrittenRounds(symbol: string): PricedRound[] {
    const held = this.#held.get(symbol);
    const waiting = this.#rounds.waiting.filter((round) => round.symbol === symbol);
    return held === undefined ? waiting : [...waiting, held];
  }

  /** Writes what has gathered; joins a writing that is under way. Never rejects. */
  write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** Candles that were not written before an earlier server ended, made again from its rounds. */
  recover(candles: readonly Candle[]): void {
    for (const candle of candles) this.#candles.push(candle);
  }

  async #writeAll(): Promise<void> {
    await this.#candles.write();
    await this.#rounds.write();
    await this.#ticks.write();
  }

  #keep(round: PricedRound): void {
    const before = this.#recorded.get(round.symbol);
    const isSame = before?.price === round.price && before.confidence === round.confidence;
    if (isSame && round.atMs - before.atMs < recorderLimits.roundAtLeastEveryMs) return;
    this.#recorded.set(round.symbol, { atMs: round.atMs, price: round.price, confidence: round.confidence });
    this.#rounds.push(round);
  }

  /** Writes the open minute too, as the part of it that was seen; the ledger's reader puts it together with the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#writing;
    for (const held of this.#held.values()) this.#keep(held);
    for (const open of this.#open.values()) this.#candles.push(open);
    this.#held.clear();
    this.#open.clear();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, recorderLimits.closeMsMax);
    });
    await Promise.race([this.write(), late]);
    if (timer !== null) clearTimeout(timer);
  }
}

const secondOf = (round: PricedRound): number => Math.floor(round.atMs / recorderLimits.roundEveryMs);

function tickRow(tick: Tick): Readonly<Record<string, unknown>> {
  return {
    at: tick.receivedAtMs,
    source: tick.source,
    symbol: tick.base,
    quote: tick.quote,
    price: formatDecimal(tick.price),
    bid: textOf(tick.bid),
    ask: textOf(tick.ask),
    base_volume_24h: textOf(tick.baseVolume24h),
    quote_volume_24h: textOf(tick.quoteVolume24h),
    as_of: Math.trunc(tick.asOfMs),
  };
}

function roundRow(round: PricedRound): Readonly<Record<string, unknown>> {
  return {
    at: round.atMs,
    symbol: round.symbol,
    price: formatDecimal(round.price),
    confidence: formatDecimal(round.confidence),
    band: formatDecimal(round.band),
    volume_24h: formatDecimal(round.volume24h),
    change_24h: textOf(round.change24h),
    high_24h: textOf(round.high24h),
    low_24h: textOf(round.low24h),
    sources: round.sources.map(({ source }) => source),
  };
}
