import type { Clock } from "@sluice/lib";
import { reachOf } from "../aggregate/options.ts";
import { type Decimal, decimal, greaterOf, lesserOf, multiply, unit, zero } from "../model/decimal.ts";
import type { VolumeOutcome } from "../model/events.ts";
import type { SourceId } from "../model/tick.ts";
import { minuteMs, minuteOf, type TradedMinute } from "../model/traded-minute.ts";
import type { DayWindow } from "./day-window.ts";

export const volumeLimits = {
  /** An exchange counts for at most so many times the median one. */
  mediansMax: decimal("10"),
  /** The minutes whose mean stands beside the minute itself, so that one in which few traded cuts nobody. */
  meanMinutes: 60,
  /** Minutes that are held: what one request for candles reaches back, and a little. */
  heldMinutes: 125,
  /** After a minute ended, most exchanges have said what was traded in it. */
  settleMs: 10_000,
  /** After so long only exchanges that had said nothing are heard: nobody rewrites the past. */
  finalMs: 10 * 60_000,
  /** Tiers that are served what is older see the open minute as it was at such moments. */
  sectionMs: 15_000,
} as const;

/** US dollars that were traded in one minute over the exchanges that count. */
export interface MinuteVolume {
  readonly symbol: string;
  readonly atMs: number;
  readonly volume: Decimal;
  /** Those that count, in the order of their names. */
  readonly sources: readonly SourceId[];
  /**
   * How many exchanges had said what was traded, whether they count or not: of two answers the fuller one stands. Zero
   * of a minute that was recorded before it ended, which any other answer replaces.
   */
  readonly claims: number;
}

interface Minute {
  readonly claims: Map<SourceId, TradedMinute>;
  /** The fullest answer that is recorded. */
  recorded: MinuteVolume | null;
  /** Something was said since it was recorded last. */
  isChanged: boolean;
}

/** How the open minute of a symbol stood until a moment. */
interface Stood {
  readonly untilMs: number;
  readonly minute: MinuteVolume | null;
}

interface Claim {
  readonly source: SourceId;
  readonly usd: Decimal;
  /** The mean of its minutes of the last hour. */
  readonly mean: Decimal;
}

export interface TradedVolumesDependencies {
  readonly clock: Clock;
  /** The agreed prices of each minute: which exchanges count in it, and what USDT was worth. */
  readonly day: Pick<DayWindow, "rangeAt" | "priceAt">;
  readonly recorded: (source: SourceId, outcome: VolumeOutcome) => void;
}

/**
 * What was traded in each minute of each symbol, from what the exchanges say of it. Each claim is the whole of a
 * minute, so claims may come in any order, twice or never; the one that was stated last stands. Fed by the sources and
 * by the agreed prices; feeds the recorder and candles.
 */
export class TradedVolumes {
  readonly #dependencies: TradedVolumesDependencies;
  readonly #symbols = new Map<string, Map<number, Minute>>();
  readonly #stood = new Map<string, Stood[]>();
  readonly #heardAtMs = new Map<string, number>();

  constructor(dependencies: TradedVolumesDependencies) {
    this.#dependencies = dependencies;
  }

  accept(claim: TradedMinute): void {
    const nowMs = this.#dependencies.clock.now();
    if (claim.atMs < nowMs - volumeLimits.heldMinutes * minuteMs || claim.atMs > nowMs + minuteMs) return;
    const minute = this.#minute(claim.base, claim.atMs);
    const before = minute.claims.get(claim.source);
    if (before !== undefined) {
      const isFinal = nowMs > claim.atMs + minuteMs + volumeLimits.finalMs;
      if (isFinal || claim.statedAtMs < before.statedAtMs || hasSameVolumes(before, claim)) return;
    }
    this.#keepSection(claim.base, nowMs);
    minute.claims.set(claim.source, claim);
    minute.isChanged = true;
  }

  /** What an earlier process recorded. */
  recall(minutes: readonly MinuteVolume[]): void {
    for (const recorded of minutes) this.#minute(recorded.symbol, recorded.atMs).recorded = recorded;
  }

  /** Minutes of a symbol whose present answer is not recorded, as they stood before `endMs`, oldest first. */
  unrecorded(symbol: string, endMs: number): MinuteVolume[] {
    const found: MinuteVolume[] = [];
    for (const [atMs, minute] of this.#symbols.get(symbol) ?? []) {
      if (atMs >= endMs || !minute.isChanged) continue;
      const volume = atMs + minuteMs <= endMs ? this.#best(symbol, atMs, minute) : this.#openAt(symbol, atMs, endMs);
      if (volume !== null) found.push(volume);
    }
    return found.toSorted((left, right) => left.atMs - right.atMs);
  }

  /** Ended minutes whose answer is new, for the ledger; with `all` also the open ones. Forgets what is old. */
  take(all = false): MinuteVolume[] {
    const nowMs = this.#dependencies.clock.now();
    const found: MinuteVolume[] = [];
    for (const [symbol, minutes] of this.#symbols) {
      for (const [atMs, minute] of minutes) {
        if (minute.isChanged && (all || nowMs >= atMs + minuteMs + volumeLimits.settleMs)) {
          const volume = this.#record(symbol, atMs, minute);
          if (volume !== null) found.push(nowMs < atMs + minuteMs ? { ...volume, claims: 0 } : volume);
        }
        if (atMs < nowMs - volumeLimits.heldMinutes * minuteMs) minutes.delete(atMs);
      }
    }
    return found;
  }

  #record(symbol: string, atMs: number, minute: Minute): MinuteVolume | null {
    const volume = this.#best(symbol, atMs, minute);
    // Without an agreed price there is no candle yet that it could belong to.
    if (volume === null) return null;
    minute.isChanged = false;
    if (volume === minute.recorded || isSame(volume, minute.recorded)) return null;
    if (minute.recorded === null) this.#report(symbol, atMs, minute);
    minute.recorded = volume;
    return volume;
  }

  #minute(symbol: string, atMs: number): Minute {
    let minutes = this.#symbols.get(symbol);
    if (minutes === undefined) {
      minutes = new Map();
      this.#symbols.set(symbol, minutes);
    }
    let minute = minutes.get(atMs);
    if (minute === undefined) {
      minute = { claims: new Map(), recorded: null, isChanged: false };
      minutes.set(atMs, minute);
    }
    return minute;
  }

  #best(symbol: string, atMs: number, minute: Minute): MinuteVolume | null {
    const computed = this.#compute(symbol, atMs, minute);
    return computed === null || computed.claims < (minute.recorded?.claims ?? 0) ? minute.recorded : computed;
  }

  #compute(symbol: string, atMs: number, minute: Minute): MinuteVolume | null {
    const { claims, stated } = this.#claims(symbol, atMs, minute);
    if (claims === null) return null;
    const most = mostOf(claims);
    let volume = 0n;
    for (const { usd } of claims) volume += lesserOf(usd, most);
    const sources = claims.map(({ source }) => source).toSorted();
    return { symbol, atMs, volume: volume as Decimal, sources, claims: stated };
  }

  /** The claims that count, in dollars; null without an agreed price of that minute. */
  #claims(symbol: string, atMs: number, minute: Minute): { claims: Claim[] | null; stated: number } {
    const range = this.#dependencies.day.rangeAt(symbol, atMs);
    if (range === null) return { claims: null, stated: 0 };
    const reach = reachOf(symbol);
    const least = multiply(range.low, (unit - reach) as Decimal);
    const most = multiply(range.high, (unit + reach) as Decimal);
    const claims: Claim[] = [];
    let stated = 0;
    for (const [source, { quote, baseVolume, quoteVolume }] of minute.claims) {
      const rate = quote === "USD" ? unit : this.#dependencies.day.priceAt(quote, atMs);
      if (rate === null) continue;
      stated += 1;
      const usd = multiply(quoteVolume, rate);
      // The mean price of its trades is one that was agreed on, or its volume is not of this market.
      if (usd < multiply(baseVolume, least) || usd > multiply(baseVolume, most) + smallest) continue;
      claims.push({ source, usd, mean: this.#meanOf(symbol, source, atMs, rate) });
    }
    return { claims, stated };
  }

  #meanOf(symbol: string, source: SourceId, atMs: number, rate: Decimal): Decimal {
    let sum = 0n;
    let count = 0n;
    const minutes = this.#symbols.get(symbol);
    for (let back = 0; back < volumeLimits.meanMinutes; back += 1) {
      const claim = minutes?.get(atMs - back * minuteMs)?.claims.get(source);
      if (claim === undefined) continue;
      sum += claim.quoteVolume;
      count += 1n;
    }
    return count === 0n ? zero : multiply((sum / count) as Decimal, rate);
  }

  #keepSection(symbol: string, nowMs: number): void {
    const heardAtMs = this.#heardAtMs.get(symbol) ?? nowMs;
    this.#heardAtMs.set(symbol, nowMs);
    const untilMs = Math.floor(nowMs / volumeLimits.sectionMs) * volumeLimits.sectionMs;
    if (heardAtMs >= untilMs) return;
    const openMs = minuteOf(untilMs - 1);
    const minute = this.#symbols.get(symbol)?.get(openMs);
    const stood = this.#stood.get(symbol) ?? [];
    stood.push({ untilMs, minute: minute === undefined ? null : this.#best(symbol, openMs, minute) });
    this.#stood.set(symbol, stood.slice(-sectionsHeld));
  }

  /** The minute that is open at `endMs`, by what had been said until then. */
  #openAt(symbol: string, atMs: number, endMs: number): MinuteVolume | null {
    const minute = this.#symbols.get(symbol)?.get(atMs);
    if (minute === undefined) return null;
    if ((this.#heardAtMs.get(symbol) ?? 0) < endMs) return this.#best(symbol, atMs, minute);
    const stood = this.#stood.get(symbol)?.find(({ untilMs }) => untilMs >= endMs)?.minute ?? null;
    return stood?.atMs === atMs ? stood : null;
  }

  #report(symbol: string, atMs: number, minute: Minute): void {
    const claims = this.#claims(symbol, atMs, minute).claims ?? [];
    const most = mostOf(claims);
    for (const source of minute.claims.keys()) {
      const claim = claims.find((each) => each.source === source);
      const outcome = claim === undefined ? "off-price" : claim.usd > most ? "capped" : "counted";
      this.#dependencies.recorded(source, outcome);
    }
  }
}

/** Those of one window of the slowest tier but one. */
const sectionsHeld = 4;
/** Rounding of volumes that are next to nothing. */
const smallest = decimal("0.01");

const hasSameVolumes = (left: TradedMinute, right: TradedMinute): boolean =>
  left.baseVolume === right.baseVolume && left.quoteVolume === right.quoteVolume;

const isSame = (left: MinuteVolume, right: MinuteVolume | null): boolean =>
  left.volume === right?.volume && left.claims === right.claims && left.sources.join() === right.sources.join();

/**
 * What one exchange may count for: so many times what the median one traded in this minute, or in a mean one of the
 * last hour. Whoever is a minority is not the median, whatever it claims; of two the smaller one is.
 */
function mostOf(claims: readonly Claim[]): Decimal {
  if (claims.length < 2) return claims[0]?.usd ?? zero;
  const now = medianOf(claims.map(({ usd }) => usd));
  const usual = medianOf(claims.map(({ mean }) => mean));
  return multiply(greaterOf(now, usual), volumeLimits.mediansMax);
}

function medianOf(values: readonly Decimal[]): Decimal {
  const ordered = values.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0));
  return ordered[(ordered.length - 1) >> 1] ?? zero;
}
