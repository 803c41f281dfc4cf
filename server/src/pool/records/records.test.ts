import { expect, test } from "bun:test";
import type { PoolSample } from "../../ledger/index.ts";
import { PoolNode, poolIdentity } from "../testing/pool-node.ts";
import { noBundles, PoolStand } from "../testing/pool-stand.ts";
import { reachOf } from "./reach.ts";

const day = 86_400_000;
const hour = 3_600_000;
const { address, programs } = poolIdentity;
const wallet = "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf";

/** The endpoint over a node with a pool, and a sample of a day ago where one is given. */
function open(firstAtMs: number | null = null, sample: PoolSample | null = null) {
  const node = new PoolNode();
  const stand = new PoolStand(
    address,
    {
      samples: {
        ...{ firstAtMs: async () => firstAtMs, lastUpTo: async () => sample, beforeUpdate: async () => null },
        ...{ before: async () => new Map(), rates: async () => [], days: async () => [] },
      },
    },
    programs,
  );
  stand.chain = (method, params) =>
    method === "getTokenAccountsByOwner" ? Promise.resolve({ value: [] }) : node.chain.read(method, params);
  return { node, stand };
}

const since = async (stand: PoolStand, path: string): Promise<number | null> => {
  const { headers } = await stand.ask(path);
  const text = headers.get("x-data-since");
  return text === null ? null : Date.parse(text);
};

test("a record and its explanation are of the same reading, whatever the chain does between them", async () => {
  const sample = { atMs: 0, slot: 5n, epoch: 9n, updatedIn: 9n, lamports: 1_190_000_000n, tokens: 1_000_000_000n };
  const { node, stand } = open(0, sample);
  for (const record of ["pool", "charts/tvl", "dashboard"]) {
    await stand.ask(`/${record}`);
    node.totalLamports += 1_000_000n;
    stand.clock.advance(5_000);
    const explained = await stand.ask(`/explain?record=${record}`);
    expect(stand.clock.now() - Date.parse(explained.body.at)).toBeLessThanOrEqual(10_000);
    const shown = await stand.ask(`/${record}`);
    const [, held] = explained.body.steps.join("\n").match(/(?:tvl = \d+ \/ 10\^9|2026-11-20) = ([\d.]+)/) ?? [];
    expect(held).toMatch(/^1\.2/);
    expect(shown.text).toContain(`:${held}`);
  }
  // The change is of what the pool holds now, and not of what it held when the samples were read.
  stand.clock.advance(11_000);
  const shown = (await stand.ask("/exchange-rate")).body;
  const { steps } = (await stand.ask("/explain?record=exchange-rate")).body;
  const present = Number(node.totalLamports) / 1e9;
  expect(shown.rate).toBeCloseTo(present, 9);
  expect(shown.rate_change_24h).toBeCloseTo((present / 1.19 - 1) * 100, 6);
  expect(steps.find((line: string) => line.startsWith("rate change in 24h"))).toContain(` = ${shown.rate_change_24h}`);
  expect(steps.join("\n")).toContain(`${node.totalLamports} · 1000000000 / (1190000000 · 1000000000)`);
});

test("nothing older than ten seconds is shown while nodes answer, however long nobody asked", async () => {
  const { node, stand } = open();
  await stand.ask("/pool");
  for (const idleMs of [10_001, 60_000, 299_000]) {
    node.totalLamports += 1_000_000_000n;
    stand.clock.advance(idleMs);
    expect((await stand.ask("/pool")).body.tvl).toBe(Number(node.totalLamports) / 1e9);
  }
});

test("an explanation is made once for each reading, and lists what the record counts", async () => {
  const { stand } = open();
  stand.figures = { ...noBundles, ended: 2, landed: 1, tips: 5n };
  stand.newestLanded = [{ id: "a", mevType: "jit", slot: 5n, tip: 5n }];
  await stand.ask("/overview/1h");
  const before = stand.asked.length;
  const first = await stand.ask("/explain?record=overview&period=1h");
  expect(stand.asked.length).toBe(before + 1);
  expect(first.body.steps).toEqual([
    "tips in 1h = 5 lamports of 1 bundles that landed",
    "tip of one = 5 / 1 = 5",
    "landing rate = 1 / 2 that ended = 0.5",
  ]);
  const questions = stand.asked.filter((each) => typeof each === "object");
  expect(questions[1]).toEqual(questions[0]);
  stand.newestLanded = [];
  expect((await stand.ask("/explain?record=overview&period=1h")).text).toBe(first.text);
  expect(stand.asked.length).toBe(before + 1);
  // A bundle that the ledger has got since the sums were read is listed, and said to be none of them.
  stand.clock.advance(6_000);
  await stand.ask("/overview/1h");
  stand.newestLanded = ["a", "b"].map((id) => ({ id, mevType: "jit", slot: 5n, tip: 5n }));
  const late = await stand.ask("/explain?record=overview&period=1h");
  expect(late.body.steps[0]).toBe(
    "listed are 2 bundles; the sums are of the 1 that the ledger had when they were read",
  );
});

test("an explanation that could not be made is made when it is next asked for", async () => {
  const { stand } = open();
  await stand.ask("/overview/1h");
  stand.ledgerError = new TypeError("a defect");
  expect((await stand.ask("/explain?record=overview&period=1h")).status).toBe(500);
  stand.ledgerError = null;
  expect((await stand.ask("/explain?record=overview&period=1h")).status).toBe(200);
});

test("a dashboard has all that there is from where its bundles and its samples of a day both begin", async () => {
  const nowMs = Date.UTC(2026, 10, 20);
  for (const [bundlesMs, samplesMs, expected] of [
    [nowMs - 3 * day, nowMs - 40 * day, nowMs - 3 * day],
    [nowMs - 3 * day, nowMs - 2 * hour, nowMs - 2 * hour],
    [nowMs - 3 * day, null, nowMs],
    [null, nowMs - 40 * day, nowMs],
  ] as const) {
    const { stand } = open(samplesMs);
    stand.firstAtMs = bundlesMs;
    expect(await since(stand, "/dashboard")).toBe(expected);
  }
});

test("profits have all that there is from where the ledger has both outcomes and transactions", async () => {
  const { stand } = open();
  const nowMs = stand.clock.now();
  stand.firstAtMs = nowMs - 3 * day;
  expect(await since(stand, "/pnl?period=7d")).toBe(nowMs);
  stand.heldSinceMs = nowMs - 2 * day;
  stand.clock.advance(6_000);
  expect(await since(stand, "/pnl?period=7d")).toBe(nowMs - 2 * day);
  expect(await since(stand, "/explain?record=pnl&period=7d")).toBe(nowMs - 2 * day);
  expect(await since(stand, "/pnl?period=24h")).toBeNull();
  stand.heldSinceMs = nowMs - 4 * day;
  stand.clock.advance(6_000);
  expect(await since(stand, "/pnl?period=7d")).toBe(nowMs - 3 * day);
});

test("rates that are not known are said to be missing until now, and no point of a chart is made of them", async () => {
  const { node, stand } = open(0);
  const nowMs = stand.clock.now();
  node.refused.add("getVoteAccounts");
  for (const path of ["/pool", "/validators", "/apy", "/charts/apy", "/dashboard"]) {
    expect([path, await since(stand, path)]).toEqual([path, nowMs]);
  }
  expect(await since(stand, "/exchange-rate")).toBeNull();
  expect((await stand.ask("/charts/apy")).body).toEqual([]);
  expect((await stand.ask("/explain?record=charts/apy")).body.steps).toEqual([
    "today has no point, as the yearly rate is not known",
  ]);
  node.refused.clear();
  stand.clock.advance(11_000);
  for (const path of ["/pool", "/validators", "/apy", "/charts/apy"]) {
    expect([path, await since(stand, path)]).toEqual([path, null]);
  }
  expect((await stand.ask("/charts/apy")).body).toHaveLength(1);
  // One validator of whom no node tells: the pool's rate is known all the same.
  const other = open(0);
  other.node.refused.add("getInflationReward");
  expect([await since(other.stand, "/pool"), await since(other.stand, "/validators")]).toEqual([null, nowMs]);
});

test("a large answer arrives whole, each time that it is asked for", async () => {
  const { stand } = open();
  stand.newestLanded = Array.from({ length: 1_000 }, (_, index) => {
    return { id: `${index}`.padStart(64, "a"), mevType: "jit", slot: 5n, tip: 5n };
  });
  stand.figures = { ...noBundles, ended: 1_000, landed: 1_000 };
  for (let time = 0; time < 3; time += 1) {
    const { text, body } = await stand.ask("/explain?record=overview");
    expect([text.length > 100_000, body.inputs.length]).toEqual([true, 1_000]);
  }
});

test("a position is explained by the reading that it is of", async () => {
  const { stand } = open();
  expect((await stand.ask(`/position/${wallet}`)).body.tokenBalance).toBe(0);
  const { body } = await stand.ask(`/explain?record=position&wallet=${wallet}`);
  expect([body.slot, Date.parse(body.at)]).toEqual([String(10n * 432_000n + 5n), stand.clock.now()]);
});

test("a record of several parts reaches back to the latest of those that do not have all of their period", () => {
  expect(reachOf([])).toBeNull();
  expect(
    reachOf([
      { sinceMs: null, fromMs: 0 },
      { sinceMs: 5, fromMs: 5 },
    ]),
  ).toBeNull();
  expect(
    reachOf([
      { sinceMs: 5, fromMs: 4 },
      { sinceMs: 7, fromMs: 0 },
      { sinceMs: 9, fromMs: 9 },
    ]),
  ).toBe(7);
});
