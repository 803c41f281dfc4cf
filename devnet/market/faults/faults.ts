import type { ExchangeId, Listing } from "../model/listings.ts";
import type { Shift } from "../process/quotes.ts";
import type { Fault, FaultOf, Kind, Trouble } from "./fault.ts";

/** Faults that may be on at once. */
export const faultsMax = 256;
/** Stretches of moved prices that a market remembers after their faults ended; the oldest are forgotten beyond. */
const shiftsMax = 64;

export interface FaultRequest {
  readonly trouble: Trouble;
  readonly exchanges: readonly ExchangeId[];
  readonly symbols: readonly string[] | null;
}

/**
 * The faults that are on, as the exchanges ask for them. A fault that moves prices moves the trades themselves from its
 * beginning to its end, so candles and 24-hour figures agree with it and still contain it when it is over, as they
 * do after a real misprint. All others change only what is said.
 */
export class Faults {
  readonly #now: () => number;
  readonly #on: Fault[] = [];
  readonly #entries = new Map<number, { readonly id: number; shift: Shift }[]>();
  /** The same by market, as it is asked for with every price. */
  readonly #shifts = new Map<number, readonly Shift[]>();
  readonly #listings: readonly Listing[];
  #nextId = 1;

  constructor(options: { readonly listings: readonly Listing[] }, dependencies: { readonly now: () => number }) {
    this.#listings = options.listings;
    this.#now = dependencies.now;
  }

  list(): readonly Fault[] {
    return this.#on;
  }

  /** Null when too many are on. */
  set(request: FaultRequest): Fault | null {
    if (this.#on.length >= faultsMax) return null;
    const { exchanges, symbols } = request;
    const fault: Fault = { id: this.#nextId, ...request.trouble, exchanges, symbols, sinceMs: this.#now() };
    this.#nextId += 1;
    this.#on.push(fault);
    for (const listing of this.#listings) this.#begin(fault, listing);
    return fault;
  }

  clear(id: number): boolean {
    const index = this.#on.findIndex((fault) => fault.id === id);
    if (index < 0) return false;
    this.#on.splice(index, 1);
    const now = this.#now();
    for (const [market, entries] of this.#entries) {
      for (const entry of entries) if (entry.id === id) entry.shift = { ...entry.shift, untilMs: now };
      this.#shifts.set(
        market,
        entries.map((entry) => entry.shift),
      );
    }
    return true;
  }

  clearAll(): number {
    const ids = this.#on.map((fault) => fault.id);
    for (const id of ids) this.clear(id);
    return ids.length;
  }

  shiftsOf(listing: Listing): readonly Shift[] {
    return this.#shifts.get(listing.index) ?? noShifts;
  }

  /** The newest fault of a kind that falls on a market. */
  ofMarket<K extends Kind>(kind: K, listing: Listing): FaultOf<K> | null {
    return this.#find(kind, listing.exchange, listing.base);
  }

  /** The newest fault of a kind that falls on an exchange, whatever its symbols. */
  ofExchange<K extends Kind>(kind: K, exchange: ExchangeId): FaultOf<K> | null {
    return this.#find(kind, exchange, null);
  }

  #find<K extends Kind>(kind: K, exchange: ExchangeId, base: string | null): FaultOf<K> | null {
    const isIt = (fault: Fault): fault is FaultOf<K> => fault.kind === kind;
    return (
      this.#on.filter(isIt).findLast(({ exchanges, symbols }) => {
        return exchanges.includes(exchange) && (base === null || symbols === null || symbols.includes(base));
      }) ?? null
    );
  }

  #begin(fault: Fault, listing: Listing): void {
    if (!fault.exchanges.includes(listing.exchange)) return;
    const factor = factorOf(fault, listing);
    if (factor === 1) return;
    const rampMs = "rampMs" in fault ? fault.rampMs : 0;
    const shift = { fromMs: fault.sinceMs, untilMs: Number.MAX_SAFE_INTEGER, rampMs, factor };
    const entries = this.#entries.get(listing.index) ?? [];
    entries.push({ id: fault.id, shift });
    if (entries.length > shiftsMax) {
      const over = entries.findIndex((entry) => entry.shift.untilMs !== Number.MAX_SAFE_INTEGER);
      if (over >= 0) entries.splice(over, 1);
    }
    this.#entries.set(listing.index, entries);
    this.#shifts.set(
      listing.index,
      entries.map((entry) => entry.shift),
    );
  }
}

const noShifts: readonly Shift[] = [];

/** By what a fault multiplies a market's prices. An asset off its peg makes what is quoted in it dearer. */
function factorOf(fault: Fault, listing: Listing): number {
  if (fault.kind === "depeg") {
    if (listing.base === fault.asset) return fault.factor;
    return listing.quote === fault.asset ? 1 / fault.factor : 1;
  }
  if (fault.kind !== "offset" && fault.kind !== "collusion") return 1;
  return fault.symbols === null || fault.symbols.includes(listing.base) ? fault.factor : 1;
}
