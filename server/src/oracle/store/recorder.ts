import { type Clock, SingleFlight, type Timer, within } from "@sluice/lib";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import { type Decimal, formatDecimal } from "../model/decimal.ts";
import type { RowDropReason } from "../model/events.ts";
import type { OracleLedger } from "../model/ports.ts";
import type { PricedRound } from "../model/round.ts";
import type { Tick } from "../model/tick.ts";
import { addRound, type Candle, candleRow, clockBackMs, minuteOf, newCandle } from "./candle.ts";

export const recorderLimits = {
  /** How often rows are written, in milliseconds: each batch costs the ledger's engine 15 ms whatever its size. */
  writeMs: 5_000,
  tickEveryMs: 10_000,
  roundEveryMs: 1_000,
  /** Every tier's update frequency above a second is a multiple of it, so that windows begin with sections. */
  sectionMs: 15_000,
  /** An unchanged price is written at this interval. */
  roundAtLeastEveryMs: 60_000,
  /** How long disposal waits for the ledger. */
  closeMsMax: 5_000,
} as const;

/** The bound of the ledger's columns: twenty digits before the point. */
const storedMax = 10n ** 38n;
const isStorable = (value: Decimal | null): boolean => value === null || (value < storedMax && value > -storedMax);
const textOf = (value: Decimal | null): string | null => (value === null ? null : formatDecimal(value));

interface Recorded {
  readonly atMs: number;
  readonly price: Decimal;
  readonly confidence: Decimal;
}

/** The candle of the present minute. */
interface OpenCandle {
  readonly candle: Candle;
  /** What it was at the end of each section, for tiers that are served what is older: at most three. */
  readonly before: Candle[];
}

export interface RecorderDependencies {
  readonly clock: Clock;
  readonly ledger: Pick<OracleLedger, "insert">;
  /** Rows of a table that were not stored. */
  readonly dropped: (table: string, rows: number, reason: RowDropReason) => void;
}

/** Thins ticks and rounds out, builds candles of a minute, and writes all three to the ledger in batches. */
export class Recorder implements AsyncDisposable {
  readonly #dropped: RecorderDependencies["dropped"];
  readonly #ticks: RowQueue<Tick>;
  readonly #rounds: RowQueue<PricedRound>;
  readonly #candles: RowQueue<Candle>;
  readonly #open = new Map<string, OpenCandle>();
  /** The newest round of the present second. */
  readonly #held = new Map<string, PricedRound>();
  readonly #recorded = new Map<string, Recorded>();
  readonly #tickAt = new Map<string, number>();
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #writing = new SingleFlight(() => this.#writeAll());

  constructor(dependencies: RecorderDependencies) {
    const { clock, ledger, dropped } = dependencies;
    this.#clock = clock;
    this.#dropped = dropped;
    const shared = { insert: (table: string, rows: readonly object[]) => ledger.insert(table, rows), dropped };
    this.#ticks = new RowQueue("oracle_ticks", tickRow, shared);
    this.#rounds = new RowQueue("oracle_rounds", roundRow, shared);
    this.#candles = new RowQueue("oracle_candles", candleRow, shared);
    this.#timer = clock.every(recorderLimits.writeMs, () => void this.write());
  }

  tick(tick: Tick): void {
    const name = `${tick.source} ${tick.base}`;
    const slot = Math.floor(tick.receivedAtMs / recorderLimits.tickEveryMs);
    if (this.#tickAt.get(name) === slot) return;
    this.#tickAt.set(name, slot);
    const isSound = [tick.price, tick.bid, tick.ask, tick.baseVolume24h, tick.quoteVolume24h].every(isStorable);
    if (isSound) this.#ticks.push(tick);
    else this.#dropped("oracle_ticks", 1, "unstorable");
  }

  round(round: PricedRound): void {
    if (![round.price, round.volume24h, round.high24h].every(isStorable)) {
      this.#dropped("oracle_rounds", 1, "unstorable");
      return;
    }
    const held = this.#held.get(round.symbol);
    if (held !== undefined && secondOf(held) !== secondOf(round)) this.#keep(held);
    this.#held.set(round.symbol, round);
    const open = this.#open.get(round.symbol);
    const isLate = open !== undefined && round.atMs < open.candle.atMs && round.atMs > open.candle.atMs - clockBackMs;
    if (open !== undefined && (isLate || minuteOf(round.atMs) === open.candle.atMs)) {
      const { candle, before } = open;
      if (sectionOf(round.atMs) > sectionOf(candle.lastAtMs)) before.push({ ...candle });
      addRound(candle, round);
    } else {
      if (open !== undefined) this.#candles.push(open.candle);
      this.#open.set(round.symbol, { candle: newCandle(round), before: [] });
    }
  }

  /**
   * Candles of a symbol that the ledger may not have yet, the open one last: what they hold of the time before `endMs`,
   * which is now or the beginning of a section.
   */
  unwritten(symbol: string, endMs: number): Candle[] {
    const closed = this.#candles.waiting.filter((candle) => candle.symbol === symbol && candle.lastAtMs < endMs);
    const open = this.#open.get(symbol);
    const stood = open && [...open.before, open.candle].findLast(({ lastAtMs }) => lastAtMs < endMs);
    return stood === undefined ? closed : [...closed, stood];
  }

  /** Rounds of a symbol before `endMs` that the ledger may not have yet, oldest first. */
  unwrittenRounds(symbol: string, endMs: number): PricedRound[] {
    const held = this.#held.get(symbol);
    const waiting = this.#rounds.waiting.filter((round) => round.symbol === symbol);
    return (held === undefined ? waiting : [...waiting, held]).filter(({ atMs }) => atMs < endMs);
  }

  /** Writes the waiting rows; joins a run under way. Never rejects. */
  write(): Promise<void> {
    return this.#writing.run();
  }

  /** Candles that an earlier process did not write, computed again from its rounds. */
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

  /** Also writes the open minute, as far as it was seen; the ledger's reader combines it with the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer.cancel();
    await this.#writing.running;
    for (const held of this.#held.values()) this.#keep(held);
    for (const { candle } of this.#open.values()) this.#candles.push(candle);
    this.#held.clear();
    this.#open.clear();
    await within(this.#clock, recorderLimits.closeMsMax, this.write());
    for (const queue of [this.#candles, this.#rounds, this.#ticks]) queue.giveUp();
  }
}

const sectionOf = (atMs: number): number => Math.floor(atMs / recorderLimits.sectionMs);
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
    volume_24h: formatDecimal(round.volume24h),
    change_24h: textOf(round.change24h),
    high_24h: textOf(round.high24h),
    low_24h: textOf(round.low24h),
    sources: round.sources.map(({ source }) => source),
  };
}

/** Bounds of the rows that wait for the ledger. */
export const rowLimits = {
  /** Rows that wait in one queue. A full queue drops the oldest: the newest are queried most. */
  waitingMax: 50_000,
  /** Rows of one INSERT. */
  batchMax: 10_000,
} as const;

export interface RowQueueDependencies {
  readonly insert: (table: string, rows: readonly object[]) => Promise<void>;
  readonly dropped: RecorderDependencies["dropped"];
}

/**
 * Rows that wait for one table of the ledger, written in their order of arrival. A batch whose outcome is unknown may
 * be written twice; readers of these tables combine equal rows. While the ledger is unavailable, as with a full disk,
 * they wait; a batch that it refuses for good is dropped, so that it does not block the rest.
 */
export class RowQueue<Row> {
  readonly #table: string;
  readonly #toRow: (item: Row) => object;
  readonly #dependencies: RowQueueDependencies;
  #waiting: Row[] = [];

  constructor(table: string, toRow: (item: Row) => object, dependencies: RowQueueDependencies) {
    this.#table = table;
    this.#toRow = toRow;
    this.#dependencies = dependencies;
  }

  /** Items that are not known to be written, oldest first. */
  get waiting(): readonly Row[] {
    return this.#waiting;
  }

  push(item: Row): void {
    this.#waiting.push(item);
    // Cut in larger pieces, so that a full queue does not move its whole length for each row.
    const excess = this.#waiting.length - rowLimits.waitingMax;
    if (excess > rowLimits.batchMax) this.#drop(excess, "full");
  }

  /** Drops what waits, because nothing will write it any more. */
  giveUp(): void {
    if (this.#waiting.length > 0) this.#drop(this.#waiting.length, "unavailable");
  }

  /** Writes the waiting rows; rows that the ledger does not take stay. Never rejects. Callers run it one at a time. */
  async write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, rowLimits.batchMax);
      const first = batch[0];
      try {
        await this.#dependencies.insert(this.#table, batch.map(this.#toRow));
      } catch (error) {
        if (error instanceof LedgerUnavailableError) return;
        if (this.#waiting[0] === first) this.#drop(batch.length, "refused");
        return;
      }
      // A full queue may have dropped the written rows from its front meanwhile.
      const at = first === undefined ? -1 : this.#waiting.indexOf(first);
      if (at === 0) this.#waiting = this.#waiting.slice(batch.length);
    }
  }

  #drop(rows: number, reason: RowDropReason): void {
    this.#waiting = this.#waiting.slice(rows);
    this.#dependencies.dropped(this.#table, rows, reason);
  }
}
