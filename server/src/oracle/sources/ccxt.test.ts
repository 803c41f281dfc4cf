import { beforeAll, describe, expect, test } from "bun:test";
import { type Decimal, formatDecimal } from "../model/decimal.ts";
import { exchanges } from "./exchanges/index.ts";
import { readRow } from "./read-row.ts";
import type { Observation } from "./row.ts";
import { readExchangeFixtures } from "./testing/fixtures.ts";
import { readAtMs, readFixture } from "./testing/readings.ts";

/** What ccxt makes of one row; numbers are doubles there. */
interface PeerTicker {
  readonly last?: number | undefined;
  readonly bid?: number | undefined;
  readonly ask?: number | undefined;
  readonly open?: number | undefined;
  readonly high?: number | undefined;
  readonly low?: number | undefined;
  readonly baseVolume?: number | undefined;
  readonly quoteVolume?: number | undefined;
  readonly timestamp?: number | undefined;
}
interface Peer {
  parseTicker(row: object, market?: object): PeerTicker;
  /** Where an exchange's derivatives have taken the other name. */
  parseSpotOrUtaTicker?(row: object, market?: object): PeerTicker;
  parseTrade(row: object, market?: object): { price?: number };
}

let peers: Readonly<Record<string, Peer>> = {};
beforeAll(async () => {
  const { default: ccxt } = await import("ccxt");
  peers = {
    binance: new ccxt.binance(),
    coinbase: new ccxt.coinbaseexchange(),
    kraken: new ccxt.kraken(),
    okx: new ccxt.okx(),
    bybit: new ccxt.bybit(),
    kucoin: new ccxt.kucoin(),
    bitstamp: new ccxt.bitstamp(),
    gate: new ccxt.gate(),
  } as unknown as Readonly<Record<string, Peer>>;
});

// A stub of the market is all that ccxt wants for its names.
const stub = { symbol: "A/B", spot: true };
const parseTicker = (peer: Peer, row: Json | undefined): PeerTicker =>
  peer.parseSpotOrUtaTicker?.(row as object, stub) ?? peer.parseTicker(row as object, stub);

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
const member = (value: Json | undefined, ...path: (string | number)[]): Json | undefined =>
  path.reduce<Json | undefined>((at, name) => (at as Record<string, Json> | undefined)?.[name], value);

/** The row, or rows, within a body or a frame that ccxt parses, by exchange. */
const rowsWithin: Readonly<Record<string, (value: Json) => readonly (Json | undefined)[]>> = {
  binance: (value) => [value],
  coinbase: (value) => [value],
  kraken: (value) => Object.values(member(value, "result") ?? {}),
  okx: (value) => (member(value, "data") as readonly Json[] | undefined) ?? [],
  bybit: (value) => (member(value, "result", "list") as readonly Json[] | undefined) ?? [member(value, "data")],
  kucoin: (value) => (member(value, "data", "ticker") as readonly Json[] | undefined) ?? [member(value, "data")],
  bitstamp: (value) => [value],
  gate: (value) => (Array.isArray(value) ? value : [member(value, "result")]),
};

const asNumber = (value: Decimal | null): number | null => (value === null ? null : Number(formatDecimal(value)));
const isClose = (ours: number, theirs: number): boolean => Math.abs(ours - theirs) <= Math.abs(theirs) * 1e-9;

/** Where both say something, both say the same; what was compared is returned. */
function compare(ours: Observation, theirs: PeerTicker): string[] {
  const pairs: readonly (readonly [keyof PeerTicker, number | null])[] = [
    ["last", asNumber(ours.last)],
    ["bid", asNumber(ours.bid)],
    ["ask", asNumber(ours.ask)],
    ["open", asNumber(ours.day?.open ?? null)],
    ["high", asNumber(ours.day?.high ?? null)],
    ["low", asNumber(ours.day?.low ?? null)],
    ["baseVolume", asNumber(ours.day?.baseVolume ?? null)],
    ["quoteVolume", asNumber(ours.day?.quoteVolume ?? null)],
  ];
  return pairs.flatMap(([name, our]) => {
    const their = theirs[name];
    if (our === null || their === undefined) return [];
    expect(`${name} ${isClose(our, their) ? their : our}`).toBe(`${name} ${their}`);
    return [name];
  });
}

/** Recorded tickers of each exchange, and what both must have compared of the first row. */
const answers: readonly (readonly [exchange: string, fixture: string, compared: string])[] = [
  ["binance", "ticker-24hr-full", "last bid ask open high low baseVolume quoteVolume"],
  ["coinbase", "ticker-btc-usd", "last bid ask"],
  ["coinbase", "ticker-btc-usdt", "last bid ask"],
  // Kraken's open is the day's, which is none of 24 hours: we give none.
  ["kraken", "ticker-2024", "last bid ask high low baseVolume quoteVolume"],
  ["kraken", "ticker-altname-key", "last bid ask high low baseVolume quoteVolume"],
  ["kraken", "ticker-renamed-key", "last bid ask high low baseVolume quoteVolume"],
  // Without its list of markets ccxt does not know that this one is spot, and gives no quote volume.
  ["okx", "ticker-celo-usdt", "last bid ask open high low baseVolume"],
  ["bybit", "tickers-spot", "last bid ask open high low baseVolume quoteVolume"],
  ["kucoin", "all-tickers", "last bid ask open high low baseVolume quoteVolume"],
  ["kucoin", "stats-btc-usdt", "last bid ask open high low baseVolume quoteVolume"],
  // ccxt takes the day's open for the one of 24 hours ago; that is not compared.
  ["bitstamp", "ticker-btcusd", "last bid ask high low baseVolume quoteVolume"],
  ["bitstamp", "ticker-btcusdt", "last bid ask high low baseVolume quoteVolume"],
  ["gate", "ticker-btc-usdt", "last bid ask open high low baseVolume quoteVolume"],
  ["gate", "tickers-all-trimmed", "last bid ask open high low baseVolume quoteVolume"],
];

/** Recorded streams whose rows ccxt reads by the same function as answers. */
const streams = [
  ["okx", "ws-tickers-2026"],
  ["okx", "ws-tickers-capture"],
  ["bybit", "ws-tickers-spot"],
  ["gate", "ws-tickers-capture"],
  ["gate", "ws-tickers-docs"],
  ["coinbase", "ws-ticker-capture"],
  ["coinbase", "ws-ticker-docs"],
  ["kucoin", "ws-ticker-capture"],
] as const;

const exchangeOf = (id: string) => exchanges.find((each) => each.id === id);
const fixtureOf = (id: string, name: string) => readExchangeFixtures(id).find((each) => each.name === name);

describe.skipIf(fixtureOf("okx", "ticker-celo-usdt") === undefined)("ccxt reads the same numbers", () => {
  test.each(answers)("from the answer %s/%s", (id, name, compared) => {
    const [exchange, fixture, peer] = [exchangeOf(id), fixtureOf(id, name), peers[id]];
    if (exchange === undefined || fixture === undefined || peer === undefined) throw new Error("not there");
    const outcome = readFixture(exchange, fixture);
    const rows = outcome.kind === "rows" ? outcome.rows : [];
    const theirs = rowsWithin[id]?.(JSON.parse(fixture.body)) ?? [];
    expect(rows.length).toBe(theirs.length);
    expect(rows.length).toBeGreaterThan(0);
    for (const [index, row] of rows.entries()) {
      const reading = readRow(row, readAtMs);
      if (!reading.ok) throw new Error(reading.reason);
      const { open, ...parsed } = parseTicker(peer, theirs[index]);
      const fields = compare(reading.value, id === "bitstamp" ? parsed : { ...parsed, open });
      expect(fields.join(" ")).toBe(compared);
    }
  });

  test.each(streams)("from the stream %s/%s", (id, name) => {
    const [exchange, fixture, peer] = [exchangeOf(id), fixtureOf(id, name), peers[id]];
    if (exchange === undefined || fixture === undefined || peer === undefined) throw new Error("not there");
    let seen = 0;
    for (const text of fixture.received) {
      const message = exchange.stream.read(text);
      if (message.kind !== "rows") continue;
      const theirs = rowsWithin[id]?.(JSON.parse(text)) ?? [];
      for (const [index, row] of message.rows.entries()) {
        const reading = readRow(row, readAtMs);
        if (!reading.ok) throw new Error(reading.reason);
        const parsed = parseTicker(peer, theirs[index]);
        expect(compare(reading.value, parsed)).toContain("last");
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(0);
  });

  test("from the trades of Bitstamp's stream", () => {
    const [exchange, fixture, peer] = [
      exchangeOf("bitstamp"),
      fixtureOf("bitstamp", "ws-live-trades-capture"),
      peers["bitstamp"],
    ];
    if (exchange === undefined || fixture === undefined || peer === undefined) throw new Error("not there");
    const trades = fixture.received.flatMap((text) => {
      const message = exchange.stream.read(text);
      if (message.kind !== "rows") return [];
      const trade = peer.parseTrade(member(JSON.parse(text), "data") as object, { symbol: "ETH/USD" });
      return message.rows.map((row) => ({ row, trade }));
    });
    expect(trades.length).toBe(6);
    for (const { row, trade } of trades) {
      const reading = readRow(row, readAtMs);
      if (!reading.ok) throw new Error(reading.reason);
      expect(asNumber(reading.value.last)).toBe(trade.price ?? null);
    }
  });
});
