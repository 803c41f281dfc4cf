import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { marketStartMs } from "../../../../devnet/market/testing/market.ts";
import { formatDecimal } from "../model/decimal.ts";
import type { Tick } from "../model/tick.ts";
import type { SourceHealth } from "./source-health.ts";
import { World } from "./testing/world.ts";

// What is waited for decides; this only ends a run that waits in vain on a busy machine.
setDefaultTimeout(60_000);

const symbols = ["BTC", "ETH", "SOL", "USDC", "USDT", "CRO", "FTT"];
let world: World;

beforeAll(async () => {
  world = new World({ symbols, startMs: marketStartMs });
  await world.pass(20);
});
afterAll(() => world[Symbol.asyncDispose]());
/** The longest backoff is a minute, and the first figures after it take a moment. */
beforeEach(async () => {
  await world.heal();
  for (let waited = 0; waited < 75 && world.health().some(({ status }) => status !== "active"); waited++)
    await world.pass(1);
});

const everyone = ["binance", "coinbase", "kraken", "okx", "bybit", "kucoin", "bitstamp", "gate"];
const fresh = ({ markets }: SourceHealth): string[] =>
  markets.filter(({ state }) => state === "fresh").map(({ base }) => base);
const dropCount = (): number =>
  world.health().reduce((sum, { drops }) => sum + Object.values(drops).reduce((total, count) => total + count, 0), 0);
const priceOf = (tick: Tick): number => Number(formatDecimal(tick.price));
const isNear = (tick: Tick, usd: number): boolean => Math.abs(priceOf(tick) / usd - 1) < 0.02;

test("all eight are active on every market that they list, and nothing they send is dropped", () => {
  for (const health of world.health()) {
    expect(`${health.source} ${health.status} by ${health.transport}`).toBe(`${health.source} active by stream`);
    const absent = health.markets.filter(({ state }) => state === "absent").map(({ base }) => base);
    expect([...fresh(health), ...absent].length).toBe(health.markets.length);
    expect(health.drops).toEqual({});
    expect(health.restarts24h).toBe(0);
  }
  expect(world.faults).toEqual([]);
});

test("every tick is near what its asset is worth", () => {
  expect(world.ticks.length).toBeGreaterThan(100);
  for (const tick of world.ticks) expect(isNear(tick, world.usd(tick.base))).toBe(true);
});

test("a market that an exchange does not list is absent there and read elsewhere", () => {
  const stateOf = (source: string, base: string) =>
    world
      .health()
      .find((health) => health.source === source)
      ?.markets.find((market) => market.base === base)?.state;
  expect(stateOf("kraken", "CRO")).toBe("absent");
  expect(stateOf("okx", "CRO")).toBe("fresh");
});

describe("while something is wrong with an exchange, no price of it is wrong", () => {
  const harmless = [
    { kind: "crossed" },
    { kind: "drop", symbols: ["BTC"] },
    { kind: "skew", ms: 3_600_000 },
    { kind: "limited", ban: false },
    { kind: "outage", form: "html" },
    { kind: "outage", form: "busy" },
    { kind: "slow", ms: 3_000 },
    { kind: "refuse" },
    { kind: "silence" },
    { kind: "unacknowledged" },
    { kind: "duplicate", share: 0.5 },
    { kind: "reorder", share: 0.5 },
    { kind: "tokens" },
    ...["truncated", "types", "nan", "negative", "huge", "zero", "missing"].map((form) => ({
      ...{ kind: "garbage", form, share: 0.5 },
    })),
  ];
  test.each(harmless.map((fault) => [JSON.stringify(fault), fault] as const))("%s", async (_name, fault) => {
    const before = world.ticks.length;
    await world.fault({ ...fault, exchanges: everyone });
    const dropped = dropCount();
    await world.cutStreams();
    await world.pass(12);
    // What is wrong with a row must have been met, or nothing was proved; how soon is up to the connections.
    const isMet = (): boolean => !["garbage", "skew"].includes(fault.kind) || dropCount() > dropped;
    for (let times = 0; times < 30 && !isMet(); times += 1) await world.pass(12);
    expect(isMet()).toBe(true);
    for (const tick of world.ticks.slice(before)) {
      expect(tick.price > 0n).toBe(true);
      expect(tick.bid === null || tick.ask === null || tick.bid <= tick.ask).toBe(true);
      expect(isNear(tick, world.usd(tick.base))).toBe(true);
      expect(tick.asOfMs).toBeLessThanOrEqual(tick.receivedAtMs);
    }
    expect(world.faults).toEqual([]);
  });
});

describe("an exchange that stands still", () => {
  const statuses = () => world.health().map(({ status }) => status);

  test.each(["content", "whole"])(
    "vouches for no later moment (%s), and is active again after it woke",
    async (mode) => {
      await world.fault({ kind: "freeze", mode, exchanges: everyone });
      const frozenAtMs = world.clock.now();
      const before = world.ticks.length;
      await world.pass(110);
      // The quiet before the first answer and a poll, and half a minute for which heartbeats vouch.
      for (const tick of world.ticks.slice(before))
        expect(tick.asOfMs - frozenAtMs).toBeLessThanOrEqual(tick.source === "coinbase" ? 45_000 : 16_000);
      expect(new Set(statuses())).toEqual(new Set(["down"]));
      await world.heal();
      await world.pass(70);
      expect(new Set(statuses())).toEqual(new Set(["active"]));
    },
  );

  test("by its stream alone is read by requests, and its connection taken anew", async () => {
    const restarts = () => world.health().map(({ restarts24h }) => restarts24h);
    await world.fault({ kind: "freeze", mode: "stream", exchanges: everyone });
    const before = restarts();
    await world.pass(80);
    for (const health of world.health()) {
      expect(`${health.source} ${fresh(health).includes("BTC") || fresh(health).includes("ETH")}`).toBe(
        `${health.source} true`,
      );
    }
    expect(restarts().every((count, index) => count > (before[index] ?? 0))).toBe(true);
    const requests = world.health().map(({ requests24h }) => requests24h);
    await world.heal();
    await world.pass(70);
    expect(new Set(statuses())).toEqual(new Set(["active"]));
    expect(requests.every((count) => count > 0)).toBe(true);
  });

  test("behind by minutes reports so in every tick", async () => {
    await world.fault({ kind: "lag", ms: 120_000, exchanges: ["binance", "okx", "bitstamp"] });
    const before = world.ticks.length;
    await world.pass(10);
    const late = world.ticks.slice(before).filter(({ source }) => ["binance", "okx", "bitstamp"].includes(source));
    for (const tick of late.filter(({ receivedAtMs }) => receivedAtMs > world.clock.now() - 8_000))
      expect(tick.receivedAtMs - tick.asOfMs).toBeGreaterThan(100_000);
  });
});
