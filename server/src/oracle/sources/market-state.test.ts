import { describe, expect, test } from "bun:test";
import { type Decimal, decimal, formatDecimal } from "../model/decimal.ts";
import { MarketState } from "./market-state.ts";
import type { Observation } from "./row.ts";

const t0 = Date.parse("2026-11-01T00:00:00Z");
const market = { base: "BTC", quote: "USD", name: "BTC-USD", streamName: "BTC-USD", aliases: [] } as const;
const observation = (changes: Partial<Observation>): Observation => ({
  part: "ticker",
  last: decimal("100"),
  bid: decimal("99"),
  ask: decimal("101"),
  day: null,
  timeMs: null,
  timeMeans: "generated",
  sequence: null,
  tradeId: null,
  witness: "w",
  ...changes,
});
const open = () => new MarketState(market, "coinbase");
const text = (value: Decimal | null | undefined): string | null =>
  value === null || value === undefined ? null : formatDecimal(value);

describe("the moment that a tick vouches for", () => {
  test("is the exchange's where it reports one, and that of arrival where it does not", () => {
    const state = open();
    state.observe("rest", observation({}), t0);
    expect(state.take()?.asOfMs).toBe(t0);
    state.observe("stream", observation({ timeMs: t0 + 500, witness: "x", last: decimal("101") }), t0 + 700);
    expect(state.take()).toMatchObject({ asOfMs: t0 + 500, receivedAtMs: t0 + 700 });
  });

  test("stands still while nothing moves, whatever clock a row carries", () => {
    const state = open();
    state.observe("stream", observation({ timeMs: t0 }), t0);
    state.take();
    for (let second = 1; second < 100; second++) {
      const verdict = state.observe("stream", observation({ timeMs: t0 + second * 1_000 }), t0 + second * 1_000);
      expect(verdict.kind).toBe("repeat");
    }
    expect(state.take()).toBeNull();
    expect(state.published?.asOfMs).toBe(t0);
  });

  test("is no later when another way reports the same after a while, and is when it reports something else", () => {
    const state = open();
    state.observe("stream", observation({ timeMs: t0 }), t0);
    expect(state.observe("rest", observation({ witness: "other columns" }), t0 + 30_000).kind).toBe("repeat");
    expect(state.observe("rest", observation({ witness: "moved since" }), t0 + 35_000).kind).toBe("news");
    expect(state.take()?.asOfMs).toBe(t0 + 35_000);
  });

  test("of a last trade's time is that time, until the row moves around the same trade", () => {
    const state = open();
    const trade = { timeMeans: "trade" as const, tradeId: 7n, timeMs: t0 - 60_000 };
    state.observe("rest", observation(trade), t0);
    expect(state.take()?.asOfMs).toBe(t0 - 60_000);
    state.observe("rest", observation({ ...trade, bid: decimal("99.5"), witness: "y" }), t0 + 5_000);
    expect(state.take()?.asOfMs).toBe(t0 + 5_000);
  });

  test("never goes back within a way, and a sequence that falls is not believed until a new connection", () => {
    const state = open();
    state.observe("rest", observation({ timeMs: t0 }), t0);
    expect(state.observe("rest", observation({ timeMs: t0 - 1, witness: "x" }), t0)).toEqual({
      kind: "dropped",
      reason: "older",
    });
    state.observe("stream", observation({ sequence: 10n, witness: "a", last: decimal("100.5") }), t0 + 1);
    const earlier = observation({ sequence: 9n, witness: "b" });
    expect(state.observe("stream", earlier, t0 + 2)).toEqual({ kind: "dropped", reason: "out-of-order" });
    state.startSession();
    expect(state.observe("stream", earlier, t0 + 3).kind).toBe("news");
  });

  test("begins anew when our own clock was set back", () => {
    const state = open();
    state.observe("rest", observation({ timeMs: t0 }), t0);
    state.take();
    const hourAgo = t0 - 3_600_000;
    expect(state.observe("rest", observation({ timeMs: hourAgo, witness: "x" }), hourAgo).kind).toBe("news");
    expect(state.take()?.asOfMs).toBe(hourAgo);
  });
});

describe("the price", () => {
  test("is the last trade, held within the best orders", () => {
    const priceOf = (last: string): string | null => {
      const state = open();
      state.observe("rest", observation({ last: decimal(last) }), t0);
      return text(state.take()?.price);
    };
    expect([priceOf("98"), priceOf("100"), priceOf("105")]).toEqual(["99", "100", "101"]);
  });

  test("is not held within orders that are older than the trade", () => {
    const state = open();
    state.observe("rest", observation({ timeMs: t0 }), t0);
    const trade = { part: "last" as const, bid: null, ask: null, last: decimal("110") };
    state.observe("stream", observation({ ...trade, timeMs: t0 + 2_000, witness: "1" }), t0 + 2_000);
    expect(text(state.take()?.price)).toBe("101");
    state.observe("stream", observation({ ...trade, timeMs: t0 + 4_000, witness: "2" }), t0 + 4_000);
    const tick = state.take();
    expect([text(tick?.price), tick?.bid, tick?.ask]).toEqual(["110", null, null]);
  });

  test("waits for a last trade: orders and figures of the day alone are none", () => {
    const state = open();
    state.observe("stream", observation({ part: "book", last: null }), t0);
    expect(state.take()).toBeNull();
  });
});

test("figures of the day are kept from whatever way brought them, and forgotten after ten minutes", () => {
  const state = open();
  const day = { open: decimal("90"), high: decimal("110"), low: null, baseVolume: decimal("5"), quoteVolume: null };
  state.observe("rest", observation({ day }), t0);
  state.observe("stream", observation({ witness: "s", last: decimal("100.5") }), t0 + 1_000);
  expect(text(state.take()?.high24h)).toBe("110");
  state.observe(
    "rest",
    observation({ part: "day", last: null, bid: null, ask: null, day: { ...day, high: null } }),
    t0 + 2_000,
  );
  state.observe("stream", observation({ witness: "t" }), t0 + 3_000);
  expect(text(state.take()?.high24h)).toBe("110");
  state.observe("stream", observation({ witness: "u" }), t0 + 700_000);
  expect(state.take()).toMatchObject({ high24h: null, baseVolume24h: null });
});
