import { oracleBounds, oracleSymbols, oracleTierTerms, oracleV2TierTerms } from "@sluice/contract/oracle";
import type { LastGood } from "../aggregate/breaker.ts";
import { Quotation } from "../model/quotation.ts";
import { dataAtMs, type PricedRound, type RefusalReason, type Round } from "../model/round.ts";

/** Why there is no price: the reason of the round, no recent round, or no round yet. */
export type NoPriceReason = RefusalReason | "stale" | "starting";

export interface NoPrice {
  readonly kind: "none";
  readonly symbol: string;
  readonly reason: NoPriceReason;
  readonly last: LastGood | null;
}

export type Served = { readonly kind: "price"; readonly quotation: Quotation } | NoPrice;

type Held = Quotation | { readonly refused: RefusalReason; readonly heldSinceMs: number };

/** The round that one update frequency is served in the present window. */
interface WindowCell {
  window: number;
  held: Held;
}

interface Entry {
  latest: Held | null;
  last: LastGood | null;
  readonly cells: Map<number, WindowCell>;
}

const frequencies = new Set(
  [...Object.values(oracleTierTerms), ...Object.values(oracleV2TierTerms)].map((terms) => terms.updateFrequencySeconds),
);
/** A tier with windows of a second or less always gets the newest price. */
const newestSeconds = 1;

/**
 * The present price of every symbol, for each update frequency that a tier has. Time is cut into windows of that
 * length, from the full minute on; within one window a tier is served the round that stood at its beginning. Memory is
 * one round for each symbol and frequency.
 */
export class PriceStore {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: { now(): number; monotonic(): number };

  constructor(dependencies: { readonly clock: { now(): number; monotonic(): number } }) {
    this.#clock = dependencies.clock;
    for (const symbol of oracleSymbols) this.#entries.set(symbol, { latest: null, last: null, cells: new Map() });
  }

  /** Takes a round; unknown symbols are ignored. Returns the quotation for subscribers. */
  accept(round: Round): Quotation | null {
    const entry = this.#entries.get(round.symbol);
    if (entry === undefined) return null;
    const heldSinceMs = this.#clock.monotonic();
    const nowMs = this.#clock.now();
    const quotation = round.kind === "price" ? new Quotation(round, heldSinceMs) : null;
    const held: Held = quotation ?? { refused: refusalOf(round), heldSinceMs };
    for (const seconds of frequencies) {
      if (seconds <= newestSeconds) continue;
      const window = windowOf(nowMs, seconds);
      const cell = entry.cells.get(seconds);
      if (cell === undefined) entry.cells.set(seconds, { window, held });
      else if (cell.window !== window) turn(cell, window, entry.latest ?? held);
    }
    entry.latest = held;
    if (round.kind === "price") entry.last = { price: round.price, atMs: dataAtMs(round) };
    return quotation;
  }

  /** Sets the last good price of an earlier run, which is reported while there is no price. */
  remember(symbol: string, last: LastGood): void {
    const entry = this.#entries.get(symbol);
    if (entry !== undefined) entry.last ??= last;
  }

  /** The present price for a tier of this update frequency. */
  served(symbol: string, frequencySeconds: number): Served {
    const entry = this.#entries.get(symbol);
    const latest = entry?.latest ?? null;
    if (entry === undefined || latest === null) return { kind: "none", symbol, reason: "starting", last: null };
    const held = frequencySeconds <= newestSeconds ? latest : this.#inWindow(entry, latest, frequencySeconds);
    if (!(held instanceof Quotation)) return { kind: "none", symbol, reason: held.refused, last: entry.last };
    const allowedMs = oracleBounds.roundAgeMs + (frequencySeconds <= newestSeconds ? 0 : frequencySeconds * 1_000);
    const ageMs = this.#clock.monotonic() - held.heldSinceMs;
    if (ageMs > allowedMs) return { kind: "none", symbol, reason: "stale", last: entry.last };
    return { kind: "price", quotation: held };
  }

  /** The newest price, or null when there is none now. */
  newest(symbol: string): PricedRound | null {
    const served = this.served(symbol, newestSeconds);
    return served.kind === "price" ? served.quotation.round : null;
  }

  #inWindow(entry: Entry, latest: Held, seconds: number): Held {
    const cell = entry.cells.get(seconds);
    const window = windowOf(this.#clock.now(), seconds);
    if (cell === undefined) return latest;
    if (cell.window !== window) turn(cell, window, latest);
    // A window that began without a price takes the first one.
    if (!(cell.held instanceof Quotation) && latest instanceof Quotation) cell.held = latest;
    return cell.held;
  }
}

function turn(cell: WindowCell, window: number, held: Held): void {
  cell.window = window;
  cell.held = held;
}

const windowOf = (nowMs: number, seconds: number): number => Math.floor(nowMs / (seconds * 1_000));

function refusalOf(round: Round): RefusalReason {
  return round.kind === "refused" ? round.reason : "too-few-sources";
}
