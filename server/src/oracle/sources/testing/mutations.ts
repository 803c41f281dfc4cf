import type { Random } from "@sluice/lib";
import type { Exchange } from "../exchange.ts";
import { exchanges } from "../exchanges/index.ts";
import { MarketState } from "../market-state.ts";
import { readCandle } from "../read-candle.ts";
import { readHeartbeat, readRow } from "../read-row.ts";
import { type CandleRow, type DropReason, dropReasons, type Row } from "../row.ts";
import { type ExchangeFixture, readExchangeFixtures } from "./fixtures.ts";
import { readAtMs } from "./readings.ts";

const below = (random: Random, bound: number): number => Math.floor(random.next() * bound);
const pick = <Item>(random: Random, items: readonly Item[]): Item => {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
};

const literals = [
  ...["null", "true", "[]", "{}", '""', '"0"', "0", "-1", '"-1"', '"NaN"', "1e308", "1e-308", '"1e30"', '"0x10"'],
  ...['"1e999"', `"${"9".repeat(80)}"`, "99999999999999999999", '"1790358564"', '"1790358564077000"', "4102444799999"],
  ...[
    '"2026-13-45T99:99:99Z"',
    '"2099-01-01T00:00:00Z"',
    '"Infinity"',
    '" 1"',
    '"1,5"',
    '"１"',
    "[[[[]]]]",
    '"\\u0000"',
  ],
];

/** A text with one to four of its pieces changed: values, members, characters, cuts, repeats. */
export function mutated(text: string, random: Random): string {
  let result = text;
  for (let left = 1 + below(random, 1 + below(random, 4)); left > 0; left--) {
    const at = below(random, result.length + 1);
    switch (below(random, 7)) {
      case 0:
      case 1:
        // A value in place of another.
        result = replacedFrom(
          result,
          at,
          /[:[,]\s*("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|null|true|false)/g,
          pick(random, literals),
        );
        break;
      case 2:
        // A sign or a digit, where one stands.
        result = replacedFrom(result, at, /()\d/g, pick(random, ["-", "0", "9", ".", "e9", ""]));
        break;
      case 3:
        result = result.slice(0, at);
        break;
      case 4:
        result = result.slice(0, at) + result.slice(at + 1 + below(random, 20));
        break;
      case 5:
        result = result.slice(0, at) + pick(random, ['"', "}", "]", ",", ":", "\\", "\u0000", "é"]) + result.slice(at);
        break;
      default:
        result = result.slice(0, at) + result.slice(below(random, at + 1), at) + result.slice(at);
    }
  }
  return result;
}

function replacedFrom(text: string, from: number, pattern: RegExp, put: string): string {
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  if (match === null) return text;
  const group = match[1] ?? "";
  const start = group === "" ? match.index : match.index + match[0].lastIndexOf(group);
  const end = group === "" ? match.index + match[0].length : start + group.length;
  return text.slice(0, start) + put + text.slice(end);
}

/** Random JSON with the members that some exchange uses, so that it is not all refused by the first check. */
function randomJson(random: Random, names: readonly string[], depth: number): string {
  const kind = below(random, depth === 0 ? 2 : 4);
  if (kind === 0) return pick(random, literals);
  if (kind === 1) return JSON.stringify(pick(random, names));
  const size = below(random, 6);
  if (kind === 2) return `[${Array.from({ length: size }, () => randomJson(random, names, depth - 1)).join(",")}]`;
  const members = Array.from(
    { length: size },
    () => `${JSON.stringify(pick(random, names))}:${randomJson(random, names, depth - 1)}`,
  );
  return `{${members.join(",")}}`;
}

export interface Evaluation {
  /** Rows that were believed. */
  readonly believed: number;
  readonly faults: readonly string[];
}

/**
 * Takes one text through an exchange's reading to a tick, as frame and as answer. What may not happen is a fault: a
 * throw, an unknown reason, a price that is not positive or not within its book, a time after receipt.
 */
export function evaluate(exchange: Exchange, text: string, status: number): Evaluation {
  const faults: string[] = [];
  let believed = 0;
  const market = exchange.markets[0];
  if (market === undefined) return { believed, faults: ["no market"] };
  const drop = (reason: DropReason): void => {
    if (!dropReasons.includes(reason)) faults.push(`unknown reason ${reason}`);
  };
  const take = (row: Row, way: "stream" | "rest"): void => {
    const reading = readRow(row, readAtMs);
    if (!reading.ok) {
      drop(reading.reason);
      return;
    }
    const state = new MarketState(market, exchange.id);
    state.observe(way, reading.value, readAtMs);
    const tick = state.take();
    if (tick === null) return;
    believed += 1;
    const { price, bid, ask, asOfMs } = tick;
    if (price <= 0n) faults.push(`price ${price}`);
    if ((bid !== null && price < bid) || (ask !== null && price > ask)) faults.push("price outside of its book");
    if (bid !== null && ask !== null && bid > ask) faults.push("crossed");
    if (asOfMs > readAtMs || !Number.isSafeInteger(asOfMs)) faults.push(`time ${asOfMs}`);
    for (const figure of [tick.open24h, tick.high24h, tick.low24h])
      if (figure !== null && figure <= 0n) faults.push("day");
    for (const figure of [tick.baseVolume24h, tick.quoteVolume24h])
      if (figure !== null && figure < 0n) faults.push("volume");
  };
  const takeCandle = (row: CandleRow): void => {
    const reading = readCandle(row, readAtMs);
    if (!reading.ok) {
      drop(reading.reason);
      return;
    }
    believed += 1;
    const { atMs, baseVolume, quoteVolume, statedAtMs } = reading.value;
    if (atMs % 60_000 !== 0 || atMs > readAtMs + 5_000) faults.push(`minute ${atMs}`);
    if (statedAtMs > readAtMs || !Number.isSafeInteger(statedAtMs)) faults.push(`stated ${statedAtMs}`);
    if (baseVolume < 0n || quoteVolume < 0n) faults.push("volume of a candle");
  };
  try {
    const message = exchange.stream.read(text);
    if (message.kind === "rows") for (const row of message.rows) take(row, "stream");
    if (message.kind === "candles") for (const row of message.rows) takeCandle(row);
    const other = exchange.candleStream?.read(text);
    if (other?.kind === "candles") for (const row of other.rows) takeCandle(row);
    if (message.kind === "malformed") drop(message.reason);
    if (message.kind === "heartbeat") readHeartbeat(message.heartbeat, readAtMs);
    const markets = exchange.markets.slice(0, 1);
    const answer = { status, header: () => text.slice(0, 20), text, receivedAtMs: readAtMs };
    for (const part of ["price", "day", "candles"] as const) {
      const outcome = exchange.rest.read({ method: "GET", path: "", markets, part }, answer);
      if (outcome.kind === "rows") for (const row of outcome.rows) take(row, "rest");
      if (outcome.kind === "candles") for (const row of outcome.rows) takeCandle(row);
      if (outcome.kind === "limited" && outcome.waitMs !== null && !(outcome.waitMs > 0)) faults.push("wait");
    }
    exchange.stream.ticket?.read(answer, exchange.endpoint, "c");
  } catch (error) {
    faults.push(`thrown: ${error}`);
  }
  return { believed, faults: faults.map((error) => `${exchange.id}: ${error} of ${text.slice(0, 400)}`) };
}

/** `n` changed recordings and as many random values, each through a random exchange's reading. */
export function evaluateMany(
  n: number,
  random: Random,
): { readonly believed: number; readonly faults: readonly string[] } {
  const recordings = exchanges.map(({ id }) => readExchangeFixtures(id));
  const textsOf = (fixture: ExchangeFixture): readonly string[] => [fixture.body, ...fixture.received].filter(Boolean);
  const texts = recordings.map((fixtures) => fixtures.flatMap(textsOf));
  // Most changes are made to what gives a price when it is whole.
  const prices = exchanges.map((exchange, index) =>
    texts[index]?.filter((text) => evaluate(exchange, text, 200).believed > 0),
  );
  const names = [
    ...new Set(texts.flat().flatMap((text) => [...text.matchAll(/"(\w{1,24})":/g)].map((match) => match[1] ?? ""))),
  ];
  const faults: string[] = [];
  let believed = 0;
  for (let run = 0; run < n && faults.length < 20; run++) {
    const index = below(random, exchanges.length);
    const exchange = exchanges[index];
    const own = texts[index] ?? [];
    if (exchange === undefined || own.length === 0) continue;
    const status = pick(random, [200, 200, 200, 400, 403, 404, 418, 429, 500]);
    const source = random.next() < 0.75 ? (prices[index] ?? own) : own;
    for (const text of [mutated(pick(random, source), random), randomJson(random, names, 5)]) {
      const evaluation = evaluate(exchange, text, status);
      believed += evaluation.believed;
      faults.push(...evaluation.faults);
    }
  }
  return { believed, faults };
}
