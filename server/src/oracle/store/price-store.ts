import { oracleBounds, oracleSymbols, oracleTierTerms, oracleV2TierTerms } from "@sluice/contract/oracle";
import type { LastGood } from "../aggregate/price-memory.ts";
import { Quotation } from "../model/quotation.ts";
import { dataAtMs, type RefusalReason, type Round } from "../model/round.ts";
import { isNewest, visibleEndMs } from "../model/update-window.ts";

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
  /** The window's beginning, Unix milliseconds. */
  fromMs: number;
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
/**
 * The present price of every symbol, for each update frequency that a tier has. Time is cut into windows of that
 * length, from the full minute on; within one window a tier is served the round that stood at its beginning. Memory is
 * one round for each symbol and frequency.
 */
export class PriceStore {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: { now(): number; monotonic(): number };
  readonly #startedAtMs: number;

  constructor(dependencies: { readonly clock: { now(): number; monotonic(): number } }) {
    this.#clock = dependencies.clock;
    this.#startedAtMs = dependencies.clock.monotonic();
    for (const symbol of oracleSymbols) this.#entries.set(symbol, { latest: null, last: null, cells: new Map() });
  }

  /** Takes a round; unknown symbols are ignored. Returns the quotation for subscribers. */
  accept(round: Round): Quotation | null {
    const entry = this.#entries.get(round.symbol);
    if (entry === undefined) return null;
    const heldSinceMs = this.#clock.monotonic();
    const quotation = round.kind === "price" ? new Quotation(round, heldSinceMs) : null;
    const held: Held = quotation ?? { refused: refusalOf(round), heldSinceMs };
    for (const seconds of frequencies) {
      if (isNewest(seconds)) continue;
      // By the round's own time, as in histories: computing it may have lasted into the next window.
      const fromMs = visibleEndMs(round.atMs, seconds);
      const cell = entry.cells.get(seconds);
      if (cell === undefined) entry.cells.set(seconds, { fromMs, held });
      else turn(cell, { fromMs, seconds }, entry.latest ?? held);
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
    if (entry === undefined || latest === null) {
      // After the time in which sources connect it is no start any more: none of them said anything of the symbol.
      const isStarting = this.#clock.monotonic() - this.#startedAtMs < oracleBounds.roundAgeMs;
      return { kind: "none", symbol, reason: isStarting ? "starting" : "too-few-sources", last: entry?.last ?? null };
    }
    const held = isNewest(frequencySeconds) ? latest : this.#inWindow(entry, latest, frequencySeconds);
    if (!(held instanceof Quotation)) return { kind: "none", symbol, reason: held.refused, last: entry.last };
    const allowedMs = oracleBounds.roundAgeMs + (isNewest(frequencySeconds) ? 0 : frequencySeconds * 1_000);
    const ageMs = this.#clock.monotonic() - held.heldSinceMs;
    if (ageMs > allowedMs) return { kind: "none", symbol, reason: "stale", last: entry.last };
    return { kind: "price", quotation: held };
  }

  #inWindow(entry: Entry, latest: Held, seconds: number): Held {
    const cell = entry.cells.get(seconds);
    if (cell === undefined) return latest;
    turn(cell, { fromMs: visibleEndMs(this.#clock.now(), seconds), seconds }, latest);
    // A window that began without a price takes the first one.
    if (!(cell.held instanceof Quotation) && latest instanceof Quotation) cell.held = latest;
    return cell.held;
  }
}

/** Begins a window with what stands; not the one before, into which a clock that is slewed a little may fall back. */
function turn(cell: WindowCell, { fromMs, seconds }: { fromMs: number; seconds: number }, held: Held): void {
  if (fromMs === cell.fromMs || fromMs === cell.fromMs - seconds * 1_000) return;
  cell.fromMs = fromMs;
  cell.held = held;
}

function refusalOf(round: Round): RefusalReason {
  return round.kind === "refused" ? round.reason : "too-few-sources";
}
