import { describe, expect, test } from "bun:test";
import { oraclePaths, oracleTierTerms, oracleV2TierTerms } from "@sluice/contract/oracle";
import { oracleTiers, oracleV2Tiers } from "@sluice/contract/tiers";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import { decimal } from "../model/decimal.ts";
import { recorderLimits } from "../store/recorder.ts";
import { oracleOfTest } from "../testing/oracle-of-test.ts";
import { tick } from "../testing/rounds.ts";

const boot = oracleOfTest();
type Booted = Awaited<ReturnType<typeof boot>>;

/** Every path that shows prices or what is made of them, with the parameters that decide how. */
const v1Paths = [
  "/api/v1/price/BTC",
  "/api/v1/prices?symbols=BTC,ETH",
  "/api/v1/price/BTC/history?hours=1&limit=1000",
  "/api/v1/price/BTC/history?hours=24&limit=2",
  "/api/v1/data-sources/stats",
];
const v2Paths = [
  "/v1/prices/BTC-USD",
  "/v1/prices/batch?symbols=BTC-USD,ETH-USD",
  "/v1/prices/all",
  "/v1/prices/BTC-USD/history?period=1h&limit=1000",
  "/v1/prices/BTC-USD/history?period=24h&limit=3",
  "/v1/prices/BTC-USD/ohlcv?interval=1m&limit=2",
  "/v1/prices/BTC-USD/ohlcv?interval=1h&limit=1",
  "/v1/prices/BTC-USD/ohlcv?interval=1d&limit=1",
  "/v1/market/summary",
  "/v1/market/movers",
];
/** Paths that tell nothing of a price. */
const others = ["/api/v1/data-sources", "/api/v1/metrics", "/api/v1/ws", "/v1/auth/validate"];

/** Rows stay in memory, where histories find them. */
const unavailable = {
  insert: async (): Promise<void> => {
    throw new LedgerUnavailableError("not in this test");
  },
  query: async () => [],
};
const startMs = Date.UTC(2026, 10, 21, 12, 0, 0, 100);

/** Three sources state prices and volumes that rise by a thousandth each second, and ever wider spreads. */
async function saySecond({ feed, clock }: Booted): Promise<void> {
  const second = Math.floor((clock.now() - startMs) / 1_000);
  for (const symbol of ["BTC", "ETH"]) {
    for (const [place, source] of (["coinbase", "kraken", "bitstamp"] as const).entries()) {
      const price = decimal((1_000 * (1 + second / 1_000) * (1 + (place * second) / 1e6)).toFixed(9));
      const plain = tick(source, symbol, clock.now(), price);
      feed.play({ ...plain, open24h: decimal("900"), quoteVolume24h: decimal(String(1_000_000 + second)) });
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
}

async function pass(booted: Booted, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await saySecond(booted);
    booted.clock.advance(1_000);
  }
}

const subscriptions = [
  ...oracleTiers.map((tier) => {
    const seconds = oracleTierTerms[tier].updateFrequencySeconds;
    return { name: `v1 ${tier}`, tiers: { oracle: tier }, seconds, paths: v1Paths };
  }),
  ...oracleV2Tiers.map((tier) => {
    const seconds = oracleV2TierTerms[tier].updateFrequencySeconds;
    return { name: `v2 ${tier}`, tiers: { "oracle-v2": tier }, seconds, paths: v2Paths };
  }),
];

/** An answer without the time of the answer itself. Each request is of an account of its own, with its own rate. */
async function answerOf(
  { get, addKey }: Booted,
  { tiers }: Pick<(typeof subscriptions)[number], "tiers">,
  path: string,
) {
  const { status, body } = await get(path, addKey(tiers));
  expect([path, status]).toEqual([path, 200]);
  const { timestamp, ...rest } = body;
  return "data" in body ? rest : { timestamp, ...rest };
}

describe("the age of a tier's prices holds on every path", () => {
  for (const subscription of subscriptions.filter(({ seconds }) => seconds > 1)) {
    test(`${subscription.name}: an answer does not change within a window, and does with the next`, async () => {
      const booted = await boot({ startMs, ledger: unavailable });
      await pass(booted, 120);
      const answers = () =>
        Promise.all(
          subscription.paths.map((path) => answerOf(booted, subscription, path).then((body) => [path, body])),
        );
      const atBegin = await answers();
      await pass(booted, subscription.seconds - 1);
      await saySecond(booted);
      expect(await answers()).toEqual(atBegin);
      booted.clock.advance(1_000);
      const next = await answers();
      for (const [index, [path, body]] of next.entries()) expect([path, body]).not.toEqual(atBegin[index]);
    });
  }

  for (const subscription of subscriptions.filter(({ seconds }) => seconds <= 1)) {
    test(`${subscription.name}: every answer has the newest price`, async () => {
      const booted = await boot({ startMs, ledger: unavailable });
      await pass(booted, 70);
      for (const path of subscription.paths) {
        const before = await answerOf(booted, subscription, path);
        await saySecond(booted);
        // Histories are kept for a second.
        booted.clock.advance(1_000);
        expect([path, await answerOf(booted, subscription, path)]).not.toEqual([path, before]);
      }
    });
  }
});

test("the paths above are all paths with data", () => {
  const pathOf = (path: string): string => path.replace(/\?.*/, "").replace(/BTC(-USD)?/, ":symbol");
  const known = [...v1Paths, ...v2Paths, ...others].map(pathOf);
  expect(oraclePaths.filter((path) => !path.includes("/resources/") && !known.includes(path))).toEqual([]);
});

test("windows of every tier begin with sections of a minute, for which open candles are kept as they were", () => {
  for (const { seconds } of subscriptions.filter((each) => each.seconds > 1)) {
    expect([(seconds * 1_000) % recorderLimits.sectionMs, 60_000 % recorderLimits.sectionMs]).toEqual([0, 0]);
  }
});

test("the stream, which sends every new price, is open only to tiers that are served the newest one", () => {
  const streaming = Object.values(oracleTierTerms).filter(({ webSocketConnections }) => webSocketConnections > 0);
  expect(streaming.length).toBeGreaterThan(0);
  for (const { updateFrequencySeconds } of streaming) expect(updateFrequencySeconds).toBe(1);
});
