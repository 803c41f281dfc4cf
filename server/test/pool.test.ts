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
  const explained = schemas.explanationRecord.parse((await get("/explain?record=pnl&strategy=jit")).body);
  expect(explained.inputs.map(({ value }) => value)).toEqual(["-25000", "5000", "20000"]);
  expect(explained.inputs[0]?.where).toContain(" in slot ");
  const tips = schemas.explanationRecord.parse((await get("/explain?record=mev/breakdown")).body);
  expect(tips.inputs).toEqual([
    { what: "tip of a bundle (jit)", where: explained.inputs[2]?.where ?? "", value: "20000" },
  ]);
});

test("tokens of before the ledger's first block are of unknown cost, which a header and the explanation say", async () => {
  const chain = new ChainReader(world.chain.rpc);
  const pool = schemas.explanationRecord.parse((await get("/explain?record=pool")).body);
  const mint = pool.inputs.find(({ what }) => what === "decimals of the token")?.where.split(" ", 1)[0];
  const [largest] = (await chain.call("getTokenLargestAccounts", mint)).value;
  const account = await chain.call("getAccountInfo", largest.address, { encoding: "jsonParsed" });
  const { owner } = account.value.data.parsed.info;
  const { body, headers } = await get(`/position/${owner}`);
  const position = schemas.positionRecord.parse(body);
  expect(position).toMatchObject({ unrealizedRewards: 0, apyEarned: 0 });
  expect(position.tokenBalance).toBeGreaterThan(0);
  expect(position.valueInNative).toBeGreaterThanOrEqual(position.tokenBalance);
  expect(Date.parse(headers.get("x-data-since") ?? "")).toBeGreaterThan(0);
  const explained = schemas.explanationRecord.parse((await get(`/explain?record=position&wallet=${owner}`)).body);
  expect(explained.steps.join()).toContain(`${largest.amount} tokens are of unknown cost`);
});
