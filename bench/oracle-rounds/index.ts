/**
 * bench/oracle-rounds: what one round costs in CPU, from a tick taken in to the round made, beside the plainest thing
 * that could be done with the same ticks: a median of doubles. Each step is one tick of one source and one mark, so
 * that one of the sources has changed, as in life. Then what a candle of an exchange costs, from its text to the volume
 * of its minute, beside the reading of a price. Run it with `npm run bench -- oracle-rounds`; it takes about ten
 * seconds.
 */
import { ManualClock } from "@sluice/lib";
import { Aggregator } from "../../server/src/oracle/aggregate/aggregator.ts";
import { decimal } from "../../server/src/oracle/model/decimal.ts";
import { type SourceId, sourceIds, type Tick } from "../../server/src/oracle/model/tick.ts";
import { binance } from "../../server/src/oracle/sources/exchanges/binance.ts";
import { MarketState } from "../../server/src/oracle/sources/market-state.ts";
import { readCandle } from "../../server/src/oracle/sources/read-candle.ts";
import { readRow } from "../../server/src/oracle/sources/read-row.ts";
import { TradedVolumes } from "../../server/src/oracle/store/traded-volumes.ts";

const rounds = 5;
const roundMs = 150;
const startMs = 1_800_000_000_000;

/** The venues that quote in dollars; the others quote in USDT, which costs a conversion. */
const inDollars: ReadonlySet<SourceId> = new Set(["coinbase", "kraken", "bitstamp", "chain"]);

function ticks(count: number): Tick[] {
  return sourceIds.slice(0, count).flatMap((source, position) =>
    Array.from({ length: 64 }, (_, step): Tick => {
      const price = 60_000 + ((step * 7 + position * 13) % 32) / 4;
      return {
        source,
        base: "BTC",
        quote: inDollars.has(source) ? "USD" : "USDT",
        price: decimal(price.toFixed(2)),
        bid: decimal((price - 0.5).toFixed(2)),
        ask: decimal((price + 0.5).toFixed(2)),
        open24h: decimal("59000.5"),
        high24h: decimal("61000.25"),
        low24h: decimal("58000.75"),
        baseVolume24h: decimal(`${1000 * (position + 1)}.125`),
        quoteVolume24h: decimal(`${60_000_000 * (position + 1)}.5`),
        asOfMs: startMs,
        receivedAtMs: startMs,
      };
    }),
  );
}

const dollarsOfUsdt = (source: SourceId): Tick => ({
  ...(ticks(1)[0] as Tick),
  source,
  base: "USDT",
  quote: "USD",
  price: decimal("0.9995"),
});

/** One step: the next tick of the next source, and the round it makes. */
function sluice(count: number): () => unknown {
  const all = ticks(count);
  const aggregator = new Aggregator({ symbols: ["BTC"] });
  for (const source of ["coinbase", "kraken", "bitstamp"] as const) {
    aggregator.accept({ kind: "tick", tick: dollarsOfUsdt(source) });
  }
  aggregator.accept({ kind: "time", atMs: startMs });
  for (let position = 0; position < count; position += 1) {
    aggregator.accept({ kind: "tick", tick: all[position * 64] as Tick });
  }
  let step = 0;
  return () => {
    step += 1;
    const tick = all[(step % count) * 64 + (step % 64)] as Tick;
    aggregator.accept({ kind: "tick", tick });
    const [round] = aggregator.accept({ kind: "time", atMs: startMs });
    if (round?.kind !== "price") throw new Error(`no price: ${JSON.stringify(round?.reason)}`);
    return round;
  };
}

function naive(count: number): () => unknown {
  const all = ticks(count).map((tick) => Number(tick.price) / 1e18);
  const prices = new Float64Array(count);
  let step = 0;
  return () => {
    step += 1;
    prices[step % count] = all[(step % count) * 64 + (step % 64)] as number;
    return prices.toSorted()[count >> 1];
  };
}

/** Mean nanoseconds of CPU of one step over about `roundMs`: on a shared machine the clock on the wall says little. */
function measure(work: () => unknown): number {
  let count = 0;
  let batch = 1;
  const start = performance.now();
  const before = process.cpuUsage();
  let elapsed = 0;
  while (elapsed < roundMs) {
    for (let i = 0; i < batch; i += 1) work();
    count += batch;
    elapsed = performance.now() - start;
    if (elapsed < roundMs / 10) batch *= 2;
  }
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1e3) / count;
}

const minuteMs = 60_000;
const [market] = binance.markets;

/** A price of the stream: the frame's text, the checks, and the tick that it makes. */
function readPrice(): () => unknown {
  if (market === undefined) throw new Error("no market");
  const state = new MarketState(market, binance.id);
  let step = 0;
  return () => {
    step += 1;
    const atMs = startMs + step;
    const last = `60000.${String(step % 100).padStart(2, "0")}000000`;
    const sizes = { B: "1.00000000", A: "1.00000000", v: "1000.00000000", q: "60000000.00000000" };
    const prices = { c: last, b: "59999.00000000", a: "60001.00000000", o: last, h: "61000.0", l: "59000.0" };
    const message = binance.stream.read(
      JSON.stringify({ e: "24hrTicker", E: atMs, s: "BTCUSDT", ...prices, ...sizes, L: step }),
    );
    if (message.kind !== "rows" || message.rows[0] === undefined) throw new Error(message.kind);
    const reading = readRow(message.rows[0], atMs);
    if (!reading.ok) throw new Error(reading.reason);
    state.observe("stream", reading.value, atMs);
    return state.take();
  };
}

/** A candle of the stream: the frame's text, the checks, and the claim that it is, among those of eight exchanges. */
function readVolume(): { readonly claim: () => unknown; readonly answer: () => unknown } {
  const clock = new ManualClock(startMs + minuteMs - 1);
  const price = decimal("60000");
  const day = { rangeAt: () => ({ low: price, high: price }), priceAt: () => decimal("0.9995") };
  const volumes = new TradedVolumes({ clock, day, recorded: () => undefined });
  const figures = { baseVolume: decimal("2"), quoteVolume: decimal("120000"), statedAtMs: startMs };
  for (const source of sourceIds.slice(0, 8)) {
    for (let back = 0; back < 60; back += 1) {
      volumes.accept({ source, base: "BTC", quote: "USDT", atMs: startMs - back * minuteMs, ...figures });
    }
  }
  // All but the open minute are recorded, as in life.
  volumes.take(true);
  let step = 0;
  const claim = (): unknown => {
    step += 1;
    const k = { t: startMs, s: "BTCUSDT", i: "1m", o: "60000", h: "60000", l: "60000", c: "60000" };
    const amounts = { v: `${1 + (step % 1_000)}`, q: `${60_000 * (1 + (step % 1_000))}` };
    const message = binance.stream.read(
      JSON.stringify({ e: "kline", E: startMs + 1 + (step % minuteMs), s: "BTCUSDT", k: { ...k, ...amounts } }),
    );
    if (message.kind !== "candles" || message.rows[0] === undefined) throw new Error(message.kind);
    const reading = readCandle(message.rows[0], clock.now());
    if (!reading.ok) throw new Error(reading.reason);
    return volumes.accept({ source: "binance", base: "BTC", quote: "USDT", ...reading.value });
  };
  return { claim, answer: () => volumes.unrecorded("BTC", startMs + minuteMs) };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const microseconds = (nanoseconds: number): string => `${(nanoseconds / 1_000).toFixed(2)} µs`;

for (const count of [3, 5, 9]) {
  const works = [sluice(count), naive(count)];
  const times: number[][] = [[], []];
  for (const work of works) measure(work);
  for (let round = 0; round < rounds; round += 1) {
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) times[which]?.push(measure(works[which] as () => unknown));
  }
  const [ours, other] = [median(times[0] ?? []), median(times[1] ?? [])];
  console.log(`${count} sources: a round ${microseconds(ours)}, a median of doubles ${microseconds(other)}`);
}

const { claim, answer } = readVolume();
const frames: readonly (readonly [string, () => unknown])[] = [
  ["a price of the stream", readPrice()],
  ["a candle of the stream", claim],
  ["the volume of the open minute", answer],
];
const figures = frames.map((): number[] => []);
for (let round = 0; round <= rounds; round += 1) {
  for (const [index, [, work]] of frames.entries()) {
    const cost = measure(work);
    // The first round warms up.
    if (round > 0) figures[index]?.push(cost);
  }
}
for (const [index, [name]] of frames.entries()) console.log(`${name}: ${microseconds(median(figures[index] ?? []))}`);
