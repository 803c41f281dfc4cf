import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import * as schemas from "@sluice/contract/schemas";
import { eventually } from "@sluice/lib/testing";
import { memo, signed, textOf, tip } from "./testing/bundles.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { type EngineNetwork, startEngineNetwork } from "./testing/engine-network.ts";
import { RestSearcher } from "./testing/searcher.ts";

setDefaultTimeout(60_000);

let world: EngineNetwork;

beforeAll(async () => {
  world = await startEngineNetwork();
}, 60_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
}, 30_000);

async function get(path: string, key = world.network.dev.key) {
  const response = await fetch(`${world.rest}/api/v1${path}`, { headers: { "x-api-key": key } });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test("the started server shows the development chain's pool on the engine's port", async () => {
  const { status, body } = await get("/pool");
  expect(status).toBe(200);
  const pool = schemas.poolRecord.parse(body);
  expect(pool.tvl).toBeGreaterThan(0);
  expect(pool.exchangeRate).toBeGreaterThanOrEqual(1);
  const validators = schemas.validatorRecords.parse((await get("/validators")).body);
  expect(validators).toHaveLength(pool.validatorCount);
  expect(validators.length).toBeGreaterThan(0);
  const unknown = await fetch(`${world.rest}/api/v1/pool`);
  expect([unknown.status, (await (await fetch(`${world.rest}/api/v1/status`)).json()).service]).toEqual([
    401,
    "sluice-block-engine",
  ]);
});

test("a bundle that landed is in the overview, in the breakdown and in the profits of its account", async () => {
  const chain = new ChainReader(world.chain.rpc);
  const searcher = new RestSearcher(world.rest, world.network.dev.key);
  const [payer] = await chain.wallets(1);
  const transaction = signed(payer, await chain.blockhash(), memo("pool"), tip(payer, 20_000));
  const answer = await searcher.post({ transactions: [{ data: textOf(transaction) }], tip: 20_000, mevType: "jit" });
  expect(answer.status).toBe(202);
  await eventually("the bundle's end", async () => (await get("/overview/1h")).body.total_bundles_landed === 1, 40_000);
  const overview = schemas.overviewRecord.parse((await get("/overview/1h")).body);
  expect(overview).toMatchObject({ total_tips_earned: 20_000, avg_tip_per_bundle: 20_000, landing_rate: 1 });
  await eventually("the breakdown", async () => (await get("/mev/breakdown")).body[3].bundles === 1, 20_000);
  const breakdown = schemas.mevBreakdown.parse((await get("/mev/breakdown")).body);
  expect(breakdown[3]).toEqual({ type: "JIT", bundles: 1, revenue: 0.00002, percentage: 100 });
  await eventually("the profits", async () => (await get("/pnl?strategy=jit")).body.bundleCount === 1, 20_000);
  const pnl = schemas.pnlRecord.parse((await get("/pnl?strategy=jit")).body);
  // It gained nothing: it paid the tip and the fee of one signature.
  expect(pnl).toEqual({
    strategy: "jit",
    period: "24h",
    totalRevenue: 0,
    totalCost: 0.000025,
    netProfit: -0.000025,
    bundleCount: 1,
    avgProfitPerBundle: -0.000025,
  });
  expect((await get("/pnl?strategy=arbitrage")).body.bundleCount).toBe(0);
});
