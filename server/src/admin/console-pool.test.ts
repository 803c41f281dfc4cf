import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import { ManualClock } from "@sluice/lib";
import { createRestApp } from "../http/index.ts";
import { addPoolPage, type ConsolePoolParts } from "./console-pool.ts";
import type { ConsoleViewer } from "./console-session.ts";

const nowMs = Date.UTC(2026, 10, 20);
const rates = { apy: 6.5, baseApy: 6, mevApy: 0.5 };
/** More digits than a double holds, which must arrive as they are. */
const tvl = "18446744073.709551615";
const pool = { exchangeRate: 1.1, validatorCount: 1, tokenSupply: 9, ...rates };
const poolText = JSON.stringify(pool).replace("{", `{"tvl":${tvl},`);
const validator = { address: "v", name: "n", stake: 1, apy: 6, commission: 5, mevScore: 50 };
const bundles = { bundlesLanded24h: 1, bundlesTotal: 2, landingRate: 1, mevRevenue24h: 1, mevRevenueTotal: 2 };

/** The routes over figures that tell what they were asked of. */
function open(viewer: Partial<ConsoleViewer> | null, isThere = true) {
  const asked: unknown[] = [];
  const answer = (record: unknown, sinceMs: number | null = null) => {
    const text = typeof record === "string" ? record : JSON.stringify(record);
    return { text, body: new TextEncoder().encode(text), sinceMs, fromMs: 0 };
  };
  const service: ConsolePoolParts["service"] = {
    pool: async () => answer(poolText),
    validators: async () => answer([validator]),
    apy: async () => answer({ current_apy: 6.5, base_apy: 6, mev_apy: 0.5, apy_7d_avg: 6, apy_30d_avg: 6 }),
    exchangeRate: async () => answer({ rate: 1.1, rate_change_24h: 0, rate_change_7d: 0, rate_change_30d: 0 }),
    overview: async (period) =>
      answer(
        { period, total_tips_earned: 1, total_bundles_landed: 1, avg_tip_per_bundle: 1, landing_rate: 1 },
        nowMs - 5_000,
      ),
    breakdown: async () => answer([{ type: "JIT", bundles: 1, revenue: 1, percentage: 100 }]),
    chart: async (chart, period) => {
      asked.push([chart, period]);
      return answer([{ timestamp: "2026-11-20", value: 1 }], nowMs);
    },
    dashboard: async () => answer({ tvl: 1, tvlChange24h: 0, ...pool, ...bundles, exchangeRateChange24h: 0 }),
    pnl: async (accountId, { strategy, period }) => {
      asked.push([accountId, strategy, period]);
      const profits = { totalRevenue: 1, totalCost: 1, netProfit: 0, bundleCount: 1, avgProfitPerBundle: 0 };
      return answer({ strategy, period, ...profits });
    },
    explain: async (question) => {
      asked.push(question);
      return answer({
        record: question.record,
        at: "2026-11-20T00:00:00.000Z",
        slot: null,
        inputs: [],
        steps: ["a = 1"],
      });
    },
  };
  const app = createRestApp({ cors: "none" }, { requestId: () => "req_1", log: { error: () => {} } });
  addPoolPage(app, {
    pool: isThere ? { service, door: "http://engine" } : null,
    sessions: {
      admit: async () => {
        if (viewer === null) throw new SluiceError("INVALID_API_KEY");
        return { accountId: "acct_1", keyId: null, signedIn: true, operates: false, ...viewer } as ConsoleViewer;
      },
    },
    clock: new ManualClock(nowMs),
  });
  const ask = async (query: string) => {
    const response = await app.fetch(new Request(`http://console/api/v1/console/pool${query}`), { requestId: "r" });
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) };
  };
  return { ask, asked };
}

test("the page has each record as its own path has it, with all digits, for the periods that are asked for", async () => {
  const { ask, asked } = open({});
  const { status, text, body } = await ask("?chart=90d&period=7d&strategy=jit");
  expect(status).toBe(200);
  expect(schemas.consolePool.parse(body) as unknown).toEqual(body);
  expect(text).toContain(`"tvl":${tvl}`);
  expect(body).toMatchObject({ samplesSince: "2026-11-20T00:00:00.000Z", bundlesSince: "2026-11-19T23:59:55.000Z" });
  expect(asked).toEqual([
    ["tvl", "90d"],
    ["apy", "90d"],
    ["acct_1", "jit", "7d"],
  ]);
  await ask("");
  expect(asked.slice(3)).toEqual([
    ["tvl", "30d"],
    ["apy", "30d"],
    ["acct_1", "all", "24h"],
  ]);
});

test("profits and their explanation are of the viewer's account, and of everybody for who operates the server", async () => {
  const operator = open({ operates: true });
  await operator.ask("");
  await operator.ask("/explain?record=pnl");
  expect(operator.asked.slice(2)).toEqual([
    [null, "all", "24h"],
    { record: "pnl", accountId: null, strategy: "all", period: "24h" },
  ]);
  const { ask, asked } = open({});
  expect((await ask("/explain?record=pnl&period=1h")).body).toMatchObject({ record: "pnl", steps: ["a = 1"] });
  expect(asked).toEqual([{ record: "pnl", accountId: "acct_1", strategy: "all", period: "1h" }]);
});

test("nobody without a session sees it, wrong periods are refused, and a server without the figures says so", async () => {
  for (const path of ["", "/explain?record=pool"]) {
    expect((await open(null).ask(path)).body.code).toBe("INVALID_API_KEY");
    expect((await open({}, false).ask(path)).body).toMatchObject({ status: 404, code: "NOT_FOUND" });
  }
  for (const query of ["?chart=2d", "?period=2h", "?strategy=none", "/explain?record=none", "/explain"]) {
    expect([query, (await open({}).ask(query)).body.code]).toEqual([query, "INVALID_INPUT"]);
  }
});
