import { type Clock, type RunningMarket, startMarket } from "../market.ts";
import type { ExchangeId } from "../model/listings.ts";
import { defaultOptions, type MarketOptions } from "../options.ts";

/** A moment in the afternoon of a Friday, so that the day and the week have begun a while ago. */
export const marketStartMs = Date.UTC(2026, 8, 25, 15, 20, 30, 500);

export interface TestMarket extends AsyncDisposable {
  readonly market: RunningMarket;
  now(): number;
  /** Moves the clock on and, if asked to, notifies all listeners after each step. */
  pass(ms: number): void;
  step(ms: number): Promise<void>;
  get(exchange: ExchangeId, path: string, init?: RequestInit): Promise<Response>;
  json(exchange: ExchangeId, path: string, init?: RequestInit): Promise<unknown>;
  fault(body: object): Promise<number>;
  admin(method: string, path: string, body?: unknown): Promise<Response>;
}

/** A market on free ports whose clock stands still until it is moved. */
export function bootMarket(options: Partial<MarketOptions> = {}): TestMarket {
  let nowMs = marketStartMs;
  const clock: Clock = {
    now: () => nowMs,
    // A wait in a test ends at once.
    sleep: () => Promise.resolve(),
    every: () => ({ [Symbol.dispose]() {} }),
  };
  const market = startMarket({ ...defaultOptions, seed: "test", tickMs: 0, limits: false, ...options }, { clock });
  const get = (exchange: ExchangeId, path: string, init?: RequestInit): Promise<Response> =>
    fetch(`${market.exchanges[exchange].rest}${path}`, { redirect: "manual", ...init });
  const admin = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${market.adminUrl}${path}`, {
      method,
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  return {
    market,
    now: () => nowMs,
    pass(ms) {
      nowMs += ms;
    },
    async step(ms) {
      nowMs += ms;
      market.tick();
    },
    get,
    json: async (exchange, path, init) => await (await get(exchange, path, init)).json(),
    admin,
    async fault(body) {
      const response = await admin("POST", "/faults", body);
      const answer = (await response.json()) as { id?: number; error?: string };
      if (answer.id === undefined) throw new Error(`${response.status} ${answer.error}`);
      return answer.id;
    },
    [Symbol.asyncDispose]: () => market[Symbol.asyncDispose](),
  };
}
