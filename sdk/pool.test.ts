import { expect, test } from "bun:test";
import { createStakePool } from "./pool.ts";

test("each call asks its path with the key, and gives the record that was answered", async () => {
  const asked: string[] = [];
  const pool = createStakePool({
    url: "http://engine/",
    apiKey: "key",
    fetch: async (url, init) => {
      asked.push(`${url} ${new Headers(init.headers).get("x-api-key")}`);
      return Response.json({ path: url });
    },
  });
  const calls = [
    pool.pool(),
    pool.position("a/b"),
    pool.validators(),
    pool.overview("7d"),
    pool.apy(),
    pool.exchangeRate(),
    pool.mevBreakdown(),
    pool.chart("tvl"),
    pool.chart("apy", "all"),
    pool.dashboard(),
    pool.pnl(),
    pool.pnl({ strategy: "jit", period: "1h" }),
    pool.explain("mev/breakdown"),
    pool.explain("position", { wallet: "w" }),
  ];
  const paths = [
    "pool",
    "position/a%2Fb",
    "validators",
    "overview/7d",
    "apy",
    "exchange-rate",
    "mev/breakdown",
    "charts/tvl",
    "charts/apy?period=all",
    "dashboard",
    "pnl",
    "pnl?strategy=jit&period=1h",
    "explain?record=mev%2Fbreakdown",
    "explain?record=position&wallet=w",
  ].map((path) => `http://engine/api/v1/${path}`);
  expect((await Promise.all(calls)) as unknown[]).toEqual(paths.map((path) => ({ path })));
  expect(asked).toEqual(paths.map((path) => `${path} key`));
});

test("a refusal rejects with its code", async () => {
  const problem = { type: "", title: "t", status: 403, detail: "d", instance: "i", code: "INVALID_API_KEY" };
  const headers = { "content-type": "application/problem+json" };
  const pool = createStakePool({
    url: "http://engine",
    apiKey: "bad",
    fetch: async () => new Response(JSON.stringify(problem), { status: 403, headers }),
  });
  await expect(pool.pool()).rejects.toMatchObject({ code: "INVALID_API_KEY" });
});
