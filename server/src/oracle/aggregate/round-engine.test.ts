import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { Round } from "../model/round.ts";
import type { Input } from "./inputs.ts";
import { serialiseRound } from "./inputs.ts";
import { RoundEngine } from "./round-engine.ts";
import { replay } from "./testing/replay.ts";
import { startMs, tickOf, ticksOf } from "./testing/ticks.ts";

const options = { symbols: ["BTC", "ETH"] };

function boot() {
  const clock = new ManualClock(startMs);
  const marks: { inputs: readonly Input[]; rounds: readonly Round[] }[] = [];
  const seen = Promise.withResolvers<void>();
  const engine = new RoundEngine(options, {
    clock,
    onMark: (mark) => {
      marks.push(mark);
      seen.resolve();
    },
  });
  return { clock, engine, marks, seen: seen.promise };
}

test("ticks of one turn are one round a symbol, made at the turn's end without being asked", async () => {
  const { engine, marks, seen } = boot();
  await using _ = engine;
  for (const price of ["100", "100.1", "100.2"]) for (const tick of ticksOf([price, price, price])) engine.accept(tick);
  expect(marks).toEqual([]);
  await seen;
  expect(marks.map(({ inputs, rounds }) => [inputs.length, rounds.length])).toEqual([[10, 1]]);
  expect(marks[0]?.rounds[0]).toMatchObject({ symbol: "BTC", kind: "price" });
});

test("what it hands on replays to the same bytes, with idle marks, silence and a clock that goes back", async () => {
  const { clock, engine, marks } = boot();
  {
    await using _ = engine;
    for (let step = 0; step < 50; step += 1) {
      const atMs = clock.now();
      engine.accept(tickOf("binance", `${100 + step / 100}`, { asOfMs: atMs }));
      if (step % 3 === 0) for (const tick of ticksOf(["100", "100.1", "100.2"], { asOfMs: atMs })) engine.accept(tick);
      if (step % 2 === 0) engine.mark();
      engine.mark();
      clock.advance(step === 20 ? 90_000 : 700);
      engine.mark();
      if (step === 30) clock.jump(startMs);
    }
  }
  const rounds = marks.flatMap((mark) => mark.rounds).map(serialiseRound);
  expect(rounds.length).toBeGreaterThan(50);
  expect(
    [
      ...replay(
        marks.flatMap((mark) => mark.inputs),
        options,
      ),
    ].map(serialiseRound),
  ).toEqual(rounds);
});

test("a mark that finds nothing to do is not made", async () => {
  const { clock, engine, marks } = boot();
  await using _ = engine;
  engine.mark();
  engine.accept(tickOf("binance", "100"));
  engine.mark();
  clock.advance(1);
  engine.mark();
  expect(marks.length).toBe(1);
});

test("a flood within one turn is marked before it grows without bound, ticks of an unknown symbol included", async () => {
  const { engine, marks } = boot();
  await using _ = engine;
  const tick = tickOf("binance", "1", { base: "DOGE" });
  for (let index = 0; index < 10_000; index += 1) engine.accept(tick);
  expect(marks.map(({ inputs, rounds }) => [inputs.length, rounds.length])).toEqual([
    [4_097, 0],
    [4_097, 0],
  ]);
});

test("an engine makes what is pending when it ends, and nothing after", async () => {
  const { engine, marks } = boot();
  engine.accept(tickOf("binance", "100"));
  await engine[Symbol.asyncDispose]();
  expect(marks.length).toBe(1);
  engine.accept(tickOf("binance", "101"));
  engine.mark();
  expect(marks.length).toBe(1);
});
