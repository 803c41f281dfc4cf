import type { Clock } from "@sluice/lib";
import { decodeTokenAccount } from "@sluice/wire/accounts/token";
import { programs } from "@sluice/wire/programs";
import { type ChainValue, callNode, memberOf, type NodeEndpoint } from "../../chain/index.ts";
import type { Decimal } from "../model/decimal.ts";
import type { SourceEvents } from "../model/events.ts";
import type { QuoteCurrency, Tick } from "../model/tick.ts";
import type { Market } from "./exchange.ts";
import { PoolPrice } from "./pool-price.ts";
import type { SourceHealth } from "./source-health.ts";
import { SourceRecord } from "./source-record.ts";

/**
 * One pool: two token accounts that it holds its reserves in. Of the program that trades with them nothing is needed.
 */
export interface ChainPoolOptions {
  readonly base: string;
  readonly quote: QuoteCurrency;
  readonly baseVault: string;
  readonly quoteVault: string;
  /** The mints that the vaults must be of: an address that was mixed up is noticed. */
  readonly baseMint: string;
  readonly quoteMint: string;
  /** 0 to 18. */
  readonly baseDecimals: number;
  readonly quoteDecimals: number;
  readonly depthMin?: Decimal;
}

export type AccountReading =
  | {
      readonly kind: "accounts";
      /** The slot in which all of them were read. */
      readonly slot: bigint;
      /** In the order asked for; null for an address without account. */
      readonly accounts: readonly ({ readonly owner: string; readonly data: Uint8Array } | null)[];
    }
  | { readonly kind: "unavailable" };

/** Reads accounts in one call, so that both sides of a pool are of one slot. At most 100 addresses; never rejects. */
export type AccountReader = (addresses: readonly string[]) => Promise<AccountReading>;

/** Pools beyond this are not read: their accounts would not fit into one call. */
export const poolsMax = 50;
const readEveryMs = 400;
/** A read that takes longer is abandoned, and its late answer ignored. */
const readMsMax = 5_000;
export const chainCadenceMs = 5_000;
const decimalsMax = 18;

interface Tracked {
  readonly options: ChainPoolOptions;
  readonly market: Market;
  readonly price: PoolPrice;
  asOfMs: number | null;
}

/**
 * The chain's own pools as a source. Fed by a reader of accounts; feeds ticks. It has no timers: its owner steps it.
 */
export class ChainPools implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #dependencies: { onTick: (tick: Tick) => void; events: SourceEvents; readAccounts: AccountReader };
  readonly #tracked: readonly Tracked[];
  readonly #record: SourceRecord;
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** The reading in flight; a newer one takes its place. */
  #reading: { readonly startedAtMs: number } | null = null;
  #isClosed = false;

  /** Throws RangeError for more pools than fit into one call, or decimals out of range. */
  constructor(
    options: { readonly pools: readonly ChainPoolOptions[] },
    dependencies: { clock: Clock; onTick: (tick: Tick) => void; events: SourceEvents; readAccounts: AccountReader },
  ) {
    if (options.pools.length > poolsMax) throw new RangeError(`more than ${poolsMax} pools`);
    for (const { baseDecimals, quoteDecimals } of options.pools)
      for (const decimals of [baseDecimals, quoteDecimals])
        if (!Number.isInteger(decimals) || decimals < 0 || decimals > decimalsMax)
          throw new RangeError(`decimals must be 0 to ${decimalsMax}`);
    this.#clock = dependencies.clock;
    this.#dependencies = dependencies;
    this.#tracked = options.pools.map((pool) => ({
      options: pool,
      market: { base: pool.base, quote: pool.quote, name: pool.baseVault, streamName: pool.baseVault, aliases: [] },
      price: new PoolPrice(pool),
      asOfMs: null,
    }));
    this.#record = new SourceRecord({ source: "chain", cadenceMs: chainCadenceMs, hasStream: false }, dependencies);
  }

  step(): void {
    if (this.#isClosed) return;
    const now = this.#clock.monotonic();
    if (this.#reading !== null && now - this.#reading.startedAtMs > readMsMax) {
      this.#record.requestEnded("timeout", now - this.#reading.startedAtMs);
      this.#reading = null;
    }
    if (this.#reading === null && now - this.#readAtMs >= readEveryMs) {
      this.#readAtMs = now;
      const reading = { startedAtMs: now };
      this.#reading = reading;
      void this.#read(reading);
    }
    this.#record.observe(this.#summary());
  }

  health(): SourceHealth {
    return this.#record.health(this.#summary(), 0);
  }

  #summary() {
    const markets = this.#tracked.map(({ market, asOfMs }) => ({ market, asOfMs, isAbsent: false }));
    return { isStreaming: false, markets };
  }

  async #read(reading: { readonly startedAtMs: number }): Promise<void> {
    const { events, readAccounts } = this.#dependencies;
    const addresses = this.#tracked.flatMap(({ options }) => [options.baseVault, options.quoteVault]);
    try {
      const answer = await readAccounts(addresses);
      if (this.#isClosed || this.#reading !== reading) return;
      this.#reading = null;
      const durationMs = this.#clock.monotonic() - reading.startedAtMs;
      this.#record.requestEnded(answer.kind === "accounts" ? "rows" : "unavailable", durationMs);
      if (answer.kind === "accounts") this.#observe(answer);
    } catch (error) {
      if (this.#reading === reading) this.#reading = null;
      events.sourceFault("chain", error);
    }
  }

  #observe(answer: Extract<AccountReading, { kind: "accounts" }>): void {
    const receivedAtMs = this.#clock.now();
    for (const [index, tracked] of this.#tracked.entries()) {
      const { options } = tracked;
      const baseAmount = amountOf(answer.accounts[index * 2], options.baseMint);
      const quoteAmount = amountOf(answer.accounts[index * 2 + 1], options.quoteMint);
      if (baseAmount === null || quoteAmount === null) {
        this.#record.dropped("wrong-kind");
        continue;
      }
      const verdict = tracked.price.observe({ slot: answer.slot, baseAmount, quoteAmount });
      if (verdict.kind === "dropped") this.#record.dropped(verdict.reason);
      if (verdict.kind !== "price") continue;
      tracked.asOfMs = receivedAtMs;
      const tick = tickOf(options, verdict.price, receivedAtMs);
      this.#record.ticked(tick);
      this.#dependencies.onTick(tick);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
  }
}

const tokenPrograms: readonly string[] = [programs.token, programs.token2022];

/** What a vault holds; null when it is no usable token account of this mint. */
function amountOf(account: { owner: string; data: Uint8Array } | null | undefined, mint: string): bigint | null {
  if (account === null || account === undefined || !tokenPrograms.includes(account.owner)) return null;
  const token = decodeTokenAccount(account.data);
  // A frozen vault cannot trade, so its ratio is not a price.
  return token === null || token.mint !== mint || token.state !== "initialized" ? null : token.amount;
}

const tickOf = ({ base, quote }: ChainPoolOptions, price: Decimal, atMs: number): Tick => ({
  source: "chain",
  base,
  quote,
  price,
  bid: null,
  ask: null,
  open24h: null,
  high24h: null,
  low24h: null,
  baseVolume24h: null,
  quoteVolume24h: null,
  asOfMs: atMs,
  receivedAtMs: atMs,
});

const callMsMax = 4_000;

/**
 * Reads accounts of one node in one call, at `confirmed`: the proposal of a single leader is not a price yet. An answer
 * without every address is `unavailable`.
 */
export function createAccountReader(node: NodeEndpoint): AccountReader {
  return async (addresses) => {
    const params = JSON.stringify([addresses, { encoding: "base64", commitment: "confirmed" }]);
    const outcome = await callNode(node, { method: "getMultipleAccounts", params, timeoutMs: callMsMax });
    return outcome.ok ? readingOf(outcome.result, addresses.length) : { kind: "unavailable" };
  };
}

const isList = (value: ChainValue | undefined): value is readonly ChainValue[] => Array.isArray(value);

function readingOf(result: ChainValue, count: number): AccountReading {
  const slot = memberOf(memberOf(result, "context"), "slot");
  const values = memberOf(result, "value");
  if (typeof slot !== "bigint" || !isList(values) || values.length !== count) return { kind: "unavailable" };
  return { kind: "accounts", slot, accounts: values.map(accountOf) };
}

function accountOf(value: ChainValue): { readonly owner: string; readonly data: Uint8Array } | null {
  const owner = memberOf(value, "owner");
  const data = memberOf(value, "data");
  if (typeof owner !== "string" || !isList(data)) return null;
  const [text, encoding] = data;
  return typeof text === "string" && encoding === "base64" ? { owner, data: Buffer.from(text, "base64") } : null;
}
