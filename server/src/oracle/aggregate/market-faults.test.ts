import { describe, expect, test } from "bun:test";
import { exchangesOf } from "../../../../devnet/market/exchanges/index.ts";
import type { Trouble } from "../../../../devnet/market/faults/fault.ts";
import { Faults } from "../../../../devnet/market/faults/faults.ts";
import { marketAssets } from "../../../../devnet/market/model/assets.ts";
import { allListings, type ExchangeId, exchangeIds } from "../../../../devnet/market/model/listings.ts";
import type { HourBars } from "../../../../devnet/market/process/bar.ts";
import { Recent } from "../../../../devnet/market/process/recent.ts";
import { Truth } from "../../../../devnet/market/process/truth.ts";
import { Venue } from "../../../../devnet/market/venue.ts";
import { type Decimal, unit } from "../model/decimal.ts";
import type { PricedRound, Round } from "../model/round.ts";
import type { Tick } from "../model/tick.ts";
import { Aggregator } from "./aggregator.ts";
import { fromNumber, startMs, toNumber } from "./testing/ticks.ts";

const symbols = ["BTC", "CRO", "FTT", "USDC", "USDT"];
const basis = 1e-4;
const reachBps = 50;
const noiseBps = 8;

/** The development market's exchanges, read every second without their protocols, into an aggregator. */
class Street {
  readonly #aggregator = new Aggregator({ symbols });
  readonly #latest = new Map<string, Round>();
  readonly #truth = new Truth({ seed: "street" });
  readonly #venues: readonly Venue[];
  readonly faults: Faults;
  nowMs = startMs;

  constructor() {
    const listings = allListings.filter((listing) => symbols.includes(listing.base));
    const now = (): number => this.nowMs;
    this.faults = new Faults({ listings }, { now });
    const exchanges = exchangesOf({ seed: "street" });
    const hours = new Recent<HourBars>(512);
    this.#venues = exchangeIds.map(
      (id) =>
        new Venue(
          { id, seed: "street", listings, symbolOf: (listing) => exchanges[id].symbolOf(listing) },
          { truth: this.#truth, hours, faults: this.faults, now },
        ),
    );
  }

  set(trouble: Trouble, exchanges: readonly ExchangeId[] = exchangeIds): void {
    this.faults.set({ trouble, exchanges, symbols: null });
  }

  usd(symbol: string): number {
    const asset = marketAssets.findIndex((each) => each.symbol === symbol);
    return this.#truth.usd(asset, Math.floor(this.nowMs / 1_000));
  }

  /** Lets seconds pass; the rounds of the last one. */
  pass(seconds: number, silent: readonly ExchangeId[] = []): ReadonlyMap<string, Round> {
    for (let second = 0; second < seconds; second += 1) {
      this.nowMs += 1_000;
      for (const venue of this.#venues) if (!silent.includes(venue.id)) this.#receive(venue);
      const rounds = this.#aggregator.accept({ kind: "time", atMs: this.nowMs });
      for (const round of rounds) this.#latest.set(round.symbol, round);
    }
    return new Map(this.#latest);
  }

  #receive(venue: Venue): void {
    for (const market of venue.markets()) {
      const { listing, tape } = market;
      const { contentMs, stampMs } = venue.moment(market);
      const { bid, ask } = tape.quotes(contentMs);
      const isCrossed = this.faults.ofMarket("crossed", listing) !== null;
      const price = (units: number): Decimal =>
        ((BigInt(units) * unit) / 10n ** BigInt(listing.pricePlaces)) as Decimal;
      const factor = this.faults.ofMarket("volume", listing)?.factor ?? 1;
      const tick: Tick = {
        source: venue.id,
        base: listing.base,
        quote: listing.quote,
        price: price(Math.min(Math.max(tape.last(contentMs).price, bid), ask)),
        bid: price(isCrossed ? ask : bid),
        ask: price(isCrossed ? bid : ask),
        open24h: null,
        high24h: null,
        low24h: null,
        baseVolume24h: null,
        quoteVolume24h: fromNumber(1e6 * factor * (1 + exchangeIds.indexOf(venue.id))),
        asOfMs: stampMs,
        receivedAtMs: this.nowMs,
      };
      this.#aggregator.accept({ kind: "tick", tick });
    }
  }
}

function priced(rounds: ReadonlyMap<string, Round>, symbol: string): PricedRound {
  const round = rounds.get(symbol);
  if (round?.kind !== "price") throw new Error(`${symbol}: ${round?.reason}`);
  return round;
}

const sourcesOf = (round: Round | undefined): readonly string[] =>
  round?.kind === "price" ? round.sources.map(({ source }) => source) : (round?.sources ?? []);
const errorOf = (street: Street, round: PricedRound): number =>
  Math.abs(toNumber(round.price) / street.usd(round.symbol) - 1) / basis;

describe("eight exchanges", () => {
  test("agree on every symbol, thin ones with fewer sources and less confidence", () => {
    const street = new Street();
    const rounds = street.pass(20);
    for (const symbol of symbols)
      expect(errorOf(street, priced(rounds, symbol))).toBeLessThan(["CRO", "FTT"].includes(symbol) ? 20 : 8);
    expect(sourcesOf(rounds.get("BTC"))).toHaveLength(8);
    expect(priced(rounds, "FTT").confidence < priced(rounds, "BTC").confidence).toBe(true);
  });

  test("of which four, a half, collude by any amount, at once or slowly: beyond the reach of the others never their price", () => {
    for (const factor of [1.0005, 1.003, 1.02, 1.5, 100]) {
      for (const rampMs of [0, 30_000]) {
        for (const liars of [
          ["binance", "okx", "bybit", "gate"],
          ["coinbase", "binance", "okx", "kucoin"],
        ] as const) {
          const street = new Street();
          street.pass(5);
          street.faults.set({ trouble: { kind: "collusion", factor, rampMs }, exchanges: liars, symbols: ["BTC"] });
          for (let step = 0; step < 8; step += 1) {
            const round = street.pass(5).get("BTC");
            if (round?.kind === "price") expect(errorOf(street, round)).toBeLessThan(reachBps + noiseBps);
          }
        }
      }
    }
  });

  test("of which three collude still have a price", () => {
    const street = new Street();
    street.pass(5);
    street.set({ kind: "collusion", factor: 1.3, rampMs: 0 }, ["binance", "okx", "bybit"]);
    street.set({ kind: "volume", factor: 1e6 }, ["binance", "okx", "bybit"]);
    for (let step = 0; step < 5; step += 1) expect(errorOf(street, priced(street.pass(2), "BTC"))).toBeLessThan(8);
  });

  test("go on while USDT leaves its peg, and USDT's own price shows it", () => {
    const street = new Street();
    street.pass(5);
    street.set({ kind: "depeg", asset: "USDT", factor: 0.92, rampMs: 120_000 });
    for (let step = 0; step < 30; step += 1) {
      const round = street.pass(5).get("BTC");
      if (round?.kind === "price") expect(errorOf(street, round)).toBeLessThan(30);
      else expect(round?.reason).toMatch(/depeg|disagreement/);
    }
    const rounds = street.pass(5);
    expect(errorOf(street, priced(rounds, "BTC"))).toBeLessThan(8);
    expect(toNumber(priced(rounds, "USDT").price) / street.usd("USDT")).toBeCloseTo(0.92, 3);
    expect(errorOf(street, priced(rounds, "USDC"))).toBeLessThan(10);
  });

  test("that freeze fall out by their own time, and with a running clock once the price has left them", () => {
    const street = new Street();
    street.pass(5);
    street.set({ kind: "freeze", mode: "whole" }, ["binance", "okx"]);
    expect(sourcesOf(street.pass(70).get("BTC"))).not.toContain("binance");
    const running = new Street();
    running.pass(5);
    running.set({ kind: "freeze", mode: "content" }, ["binance", "okx"]);
    running.set({ kind: "offset", factor: 1.004, rampMs: 0 }, [
      "coinbase",
      "kraken",
      "bitstamp",
      "bybit",
      "kucoin",
      "gate",
    ]);
    const rounds = running.pass(70);
    expect(sourcesOf(rounds.get("BTC"))).not.toContain("binance");
    expect(sourcesOf(rounds.get("BTC"))).toContain("gate");
  });

  test("that vanish one after the other leave a price until too few are left, and none after", () => {
    const street = new Street();
    street.pass(5);
    const counts: (number | string)[] = [];
    for (let gone = 1; gone <= exchangeIds.length; gone += 1) {
      const round = street.pass(65, exchangeIds.slice(0, gone)).get("BTC");
      counts.push(round?.kind === "price" ? round.sources.length : (round?.reason ?? "none"));
    }
    // From the sixth on only Gate and Bitstamp, then none, report.
    expect(counts.slice(0, 5)).toEqual([7, 6, 5, 4, 3]);
    expect(counts.slice(5)).toEqual(Array(3).fill(expect.stringMatching(/too-few-sources|unknown-rate/)));
  });

  test("with crossed books, inflated volumes and clocks astray keep the price right", () => {
    const street = new Street();
    street.pass(5);
    street.set({ kind: "crossed" }, ["okx"]);
    street.set({ kind: "volume", factor: 1e6 }, ["gate", "bybit"]);
    street.set({ kind: "skew", ms: 3_600_000 }, ["kucoin"]);
    street.set({ kind: "skew", ms: -3_600_000 }, ["kraken"]);
    const rounds = street.pass(80);
    expect(errorOf(street, priced(rounds, "BTC"))).toBeLessThan(8);
    expect(sourcesOf(rounds.get("BTC"))).not.toContain("kraken");
  });
});
