import { serveAdmin } from "./admin.ts";
import { exchangesOf } from "./exchanges/index.ts";
import { Faults } from "./faults/faults.ts";
import { Front } from "./front.ts";
import { allListings, type ExchangeId, exchangeIds } from "./model/listings.ts";
import type { MarketOptions } from "./options.ts";
import type { HourBars } from "./process/bar.ts";
import { Recent } from "./process/recent.ts";
import { Truth } from "./process/truth.ts";
import { Venue } from "./venue.ts";

/** Hours of minutes that are kept, of all markets together: a day of 110 markets is 2,750, and each takes 4.6 KB. */
const hoursMax = 8_192;

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Calls again and again until it is disposed of. */
  every(ms: number, call: () => void): Disposable;
}

export interface RunningMarket extends AsyncDisposable {
  readonly exchanges: Readonly<Record<ExchangeId, { readonly rest: string; readonly ws: string }>>;
  readonly adminUrl: string;
  readonly truth: Truth;
  readonly venues: Readonly<Record<ExchangeId, Venue>>;
  readonly faults: Faults;
  /** Sends every listener its updates, beside the timer; tests that own the clock use it. */
  tick(): void;
}

const record = <Value>(make: (id: ExchangeId, index: number) => Value): Record<ExchangeId, Value> =>
  Object.fromEntries(exchangeIds.map((id, index) => [id, make(id, index)])) as Record<ExchangeId, Value>;

/** Starts eight exchanges and the admin endpoint. Ports may be 0: the addresses name those that were taken. */
export function startMarket(options: MarketOptions, dependencies: { readonly clock: Clock }): RunningMarket {
  const { clock } = dependencies;
  const { seed } = options;
  const now = (): number => Math.floor(clock.now());
  const truth = new Truth({ seed });
  const hours = new Recent<HourBars>(hoursMax);
  const listings = allListings.filter((listing) => options.symbols.includes(listing.base));
  const faults = new Faults({ listings }, { now });
  const exchanges = exchangesOf({ seed });
  const venues = record((id) => {
    const symbolOf = (listing: (typeof listings)[number]): string => exchanges[id].symbolOf(listing);
    return new Venue({ id, seed, listings, symbolOf }, { truth, hours, faults, now });
  });
  // Nothing runs without listeners.
  let timer: Disposable | null = null;
  const tick = (): void => {
    for (const id of exchangeIds) fronts[id].hub.tick();
    if (timer === null || exchangeIds.some((id) => fronts[id].hub.size > 0)) return;
    timer[Symbol.dispose]();
    timer = null;
  };
  const onConnection = (): void => {
    if (options.tickMs > 0) timer ??= clock.every(options.tickMs, tick);
  };
  const hostname = options.host;
  const fronts = record((id, index) => {
    const port = options.port === 0 ? 0 : options.port + index;
    const parts = { exchange: exchanges[id], venue: venues[id], faults, sleep: clock.sleep, onConnection };
    return new Front({ hostname, port, limits: options.limits }, parts);
  });
  const admin = serveAdmin(
    { hostname, port: options.adminPort, seed, symbols: options.symbols },
    { faults, truth, fronts, now },
  );
  return {
    exchanges: record((id) => ({ rest: `http://${fronts[id].host}`, ws: `ws://${fronts[id].host}` })),
    adminUrl: `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${admin.port}`,
    truth,
    venues,
    faults,
    tick,
    async [Symbol.asyncDispose]() {
      timer?.[Symbol.dispose]();
      timer = null;
      await Promise.all([admin.stop(true), ...exchangeIds.map((id) => fronts[id][Symbol.asyncDispose]())]);
    },
  };
}
