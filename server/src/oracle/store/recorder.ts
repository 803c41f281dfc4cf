import { type Clock, SingleFlight, type Timer, within } from "@sluice/lib";
import { type Decimal, formatDecimal } from "../model/decimal.ts";
import type { OracleLedger } from "../model/ports.ts";
import type { PricedRound } from "../model/round.ts";
import type { Tick } from "../model/tick.ts";
import { minuteOf } from "../model/traded-minute.ts";
import { addRound, type Candle, candleRow, clockBackMs, newCandle } from "./candle.ts";
import { RowQueue, type RowQueueDependencies } from "./row-queue.ts";
import type { MinuteVolume, TradedVolumes } from "./traded-volumes.ts";

export const recorderLimits = {
  /** How often rows are written, in milliseconds: each batch costs the ledger's engine 15 ms whatever its size. */
  writeMs: 5_000,
  /**
   * Runs of writing for which a process that stands by keeps what another one writes: longer than that one takes to be
   * succeeded, and than its last rows waited.
   */
  runsKept: 6,
  tickEveryMs: 10_000,
  roundEveryMs: 1_000,
  /** Every tier's update frequency above a second is a multiple of it, so that windows begin with sections. */
  sectionMs: 15_000,
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
  readonly volumes: Pick<TradedVolumes, "take" | "unrecorded">;
  readonly dropped: RowQueueDependencies["dropped"];
  /** Whether another process records; unless given none does. In doubt both do: rows that two write are one row. */
  readonly standsBy?: () => boolean;
}

/**
 * Thins ticks and rounds out, builds candles of a minute, and writes them and the volumes of minutes to the ledger in
 * batches. Rounds, candles and volumes are rows of a second or a minute: whoever else writes them changes nothing.
 */
export class Recorder implements AsyncDisposable {
  readonly #dropped: RecorderDependencies["dropped"];
  readonly #ticks: RowQueue<Tick>;
  readonly #rounds: RowQueue<PricedRound>;
  readonly #candles: RowQueue<Candle>;
  readonly #volumes: RowQueue<MinuteVolume>;
  readonly #traded: RecorderDependencies["volumes"];
  readonly #standsBy: () => boolean;
  readonly #open = new Map<string, OpenCandle>();
  /** The newest round of the present second. */
  readonly #held = new Map<string, PricedRound>();
  readonly #recorded = new Map<string, Recorded>();
  readonly #tickAt = new Map<string, number>();
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #writing = new SingleFlight(() => this.#writeAll());

  constructor(dependencies: RecorderDependencies) {
    const { clock, ledger, volumes, dropped, standsBy = () => false } = dependencies;
    this.#standsBy = standsBy;
    this.#clock = clock;
    this.#traded = volumes;
    this.#dropped = dropped;
    const shared = { insert: (table: string, rows: readonly object[]) => ledger.insert(table, rows), dropped };
    this.#ticks = new RowQueue("oracle_ticks", tickRow, shared);
    this.#rounds = new RowQueue("oracle_rounds_by_second", roundRow, shared);
    this.#candles = new RowQueue("oracle_candles_by_minute", candleRow, shared);
    this.#volumes = new RowQueue("oracle_volumes_by_minute", (row) => volumeRow(row, clock.now()), shared);
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
      this.#dropped("oracle_rounds_by_second", 1, "unstorable");
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

  /** Volumes of minutes before `endMs` that the ledger may not have yet; the last of a minute is the newest. */
  unwrittenVolumes(symbol: string, endMs: number): MinuteVolume[] {
    const waiting = this.#volumes.waiting.filter((volume) => volume.symbol === symbol && volume.atMs < endMs);
    return [...waiting, ...this.#traded.unrecorded(symbol, endMs)];
  }

  /**
   * Candles that an earlier process did not write, computed again from its rounds. What there is of the present minute
   * goes on, so that a restart within a minute leaves no gap in its candle.
   */
  recover(candles: readonly Candle[]): void {
    const present = minuteOf(this.#clock.now());
    for (const candle of candles) {
      if (candle.atMs === present && !this.#open.has(candle.symbol))
        this.#open.set(candle.symbol, { candle, before: [] });
      else this.#candles.push(candle);
    }
  }

  async #writeAll(): Promise<void> {
    this.#takeVolumes();
    if (this.#standsBy()) {
      this.#standBy(recorderLimits.runsKept);
      return;
    }
    await this.#candles.write();
    await this.#volumes.write();
    await this.#rounds.write();
    await this.#ticks.write();
  }

  /** Rows that two processes write are one row, but for ticks, of which a successor writes its own from then on. */
  #standBy(runsKept: number): void {
    for (const queue of [this.#candles, this.#volumes, this.#rounds]) queue.standBy(runsKept);
    this.#ticks.standBy(0);
  }

  #keep(round: PricedRound): void {
    const before = this.#recorded.get(round.symbol);
    const isSame = before?.price === round.price && before.confidence === round.confidence;
    // An unchanged price is written once in each minute of the clock: every process writes the same ones.
    if (isSame && minuteOf(round.atMs) === minuteOf(before.atMs)) return;
    this.#recorded.set(round.symbol, { atMs: round.atMs, price: round.price, confidence: round.confidence });
    this.#rounds.push(round);
  }

  #takeVolumes(all = false): void {
    for (const volume of this.#traded.take(all)) {
      if (isStorable(volume.volume)) this.#volumes.push(volume);
      else this.#dropped("oracle_volumes_by_minute", 1, "unstorable");
    }
  }

  /** Also writes the open minute, as far as it was seen; the next process goes on with it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer.cancel();
    await this.#writing.running;
    for (const held of this.#held.values()) this.#keep(held);
    for (const { candle } of this.#open.values()) this.#candles.push(candle);
    this.#takeVolumes(true);
    this.#held.clear();
    this.#open.clear();
    if (this.#standsBy()) this.#standBy(0);
    await within(this.#clock, recorderLimits.closeMsMax, this.write());
    for (const queue of [this.#candles, this.#volumes, this.#rounds, this.#ticks]) queue.giveUp();
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
    at: secondOf(round) * recorderLimits.roundEveryMs,
    symbol: round.symbol,
    made_at: Math.trunc(round.atMs),
    price: formatDecimal(round.price),
    confidence: formatDecimal(round.confidence),
    volume_24h: textOf(round.volume24h),
    change_24h: textOf(round.change24h),
    high_24h: textOf(round.high24h),
    low_24h: textOf(round.low24h),
    sources: round.sources.map(({ source }) => source),
  };
}

/** Above the milliseconds of any clock. */
const claimsFactor = 2n ** 44n;

/** The row that more exchanges had spoken for has the higher version, and of two such rows the later one. */
function volumeRow(volume: MinuteVolume, nowMs: number): Readonly<Record<string, unknown>> {
  return {
    at: volume.atMs,
    symbol: volume.symbol,
    volume: formatDecimal(volume.volume),
    claims: volume.claims,
    sources: volume.sources,
    version: BigInt(volume.claims) * claimsFactor + BigInt(Math.trunc(nowMs)),
  };
}
