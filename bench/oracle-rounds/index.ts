/**
 * bench/oracle-rounds: what one round costs in CPU, from a tick taken in to the round made, beside the plainest thing
 * that could be done with the same ticks: a median of doubles. Each step is one tick of one source and one mark, so
 * that one of the sources has changed, as in life. Run it with `npm run bench -- oracle-rounds`; it takes about ten
 * seconds.
 */
import { Aggregator } from "../../server/src/oracle/aggregate/aggregator.ts";
import { decimal } from "../../server/src/oracle/model/decimal.ts";
import { type SourceId, sourceIds, type Tick } from "../../server/src/oracle/model/tick.ts";

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
