import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oraclePoolSymbols, oracleSymbols } from "@sluice/contract/oracle";
import { eventually } from "@sluice/lib/testing";
import { descendants, isAlive, type Network, runSluice, startNetwork } from "./testing/network.ts";

let network: Network;
let oracle: string;
beforeAll(async () => {
  network = await startNetwork();
  oracle = `${network.dev.doors["oracle"]}`;
  await eventually("prices of all symbols", async () => (await get("/v1/market/summary")).body.data?.symbols === 14);
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 30_000);

async function get(path: string, key = network.dev.key) {
  const response = await fetch(`${oracle}${path}`, { headers: { authorization: `Bearer ${key}` } });
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

/** A command of `sluice` against the running server, with what it prints as JSON. */
async function sluice(...args: string[]) {
  const { code, out, err } = await runSluice([...args, "--json"], { directory: network.directory });
  if (code !== 0) throw new Error(err);
  // biome-ignore lint/suspicious/noExplicitAny: printed records are read member by member.
  return JSON.parse(out) as any;
}

/** Messages of the stream of prices, as a client gets them. */
async function stream(key: string) {
  const socket = new WebSocket(`${oracle.replace(/^http/, "ws")}/api/v1/ws`);
  // biome-ignore lint/suspicious/noExplicitAny: messages are asserted on, member by member.
  const got: any[] = [];
  const gone = Promise.withResolvers<number>();
  socket.addEventListener("message", ({ data }) => got.push(JSON.parse(String(data))));
  socket.addEventListener("close", ({ code }) => gone.resolve(code));
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const say = (message: object): void => socket.send(JSON.stringify(message));
  say({ type: "auth", api_key: key });
  return { got, say, gone: gone.promise, close: () => socket.close() };
}

const command = (pid: number): string => Bun.spawnSync(["ps", "-o", "args=", "-p", String(pid)]).stdout.toString();
const marketPid = (): number | undefined =>
  descendants(network.process.pid).find((pid) => command(pid).includes("devnet/market/main.ts"));

test("a process that is alone holds the lease of each job that one process does", async () => {
  const text = await (await fetch(`${network.dev.doors["metrics"]}`)).text();
  for (const job of ["oracle-recorder", "engine-book"]) {
    expect(text).toContain(`sluice_lease_held{network="devnet",job="${job}"} 1\n`);
    expect(text).toContain(`sluice_lease_epoch{network="devnet",job="${job}"} 1\n`);
  }
});

describe("the oracle's endpoint of a development network", () => {
  test("prices every symbol in both variants, from sources that the list names", async () => {
    // A pool's price is a mean over slots, and there have to be some first.
    const pooled = await eventually("the pool has a price", async () => {
      const { status, body } = await get(`/api/v1/price/${oraclePoolSymbols[0]}`);
      return status === 200 && body;
    });
    expect(pooled.sources).toEqual(["Chain pools"]);
    expect(pooled.confidence).toBeLessThanOrEqual(50);
    for (const symbol of oracleSymbols.filter((each) => !oraclePoolSymbols.includes(each))) {
      const { status, body } = await get(`/api/v1/price/${symbol}`);
      expect([symbol, status, body.success]).toEqual([symbol, 200, true]);
      expect(body.price).toBeGreaterThan(0);
      expect(body.sources.length).toBeGreaterThanOrEqual(2);
      expect(Date.now() - Date.parse(body.timestamp)).toBeLessThan(60_000);
    }
    const { body } = await get("/v1/prices/all");
    expect(body.data).toHaveLength(oracleSymbols.length);
    const sources = (await get("/api/v1/data-sources")).body.sources;
    expect(sources.filter((source: { enabled: boolean }) => source.enabled)).toHaveLength(9);
  });

  test("shows what its market really says, and where faults of it are set", async () => {
    const { marketAdmin } = network.dev;
    await eventually("the faults are named", () => network.said().includes(`${marketAdmin}/faults`));
    const { usd } = (await (await fetch(`${marketAdmin}/truth`)).json()) as { usd: Record<string, number> };
    const { body } = await get("/api/v1/price/BTC");
    expect(Math.abs(body.price / Number(usd["BTC"]) - 1)).toBeLessThan(0.01);
    const fault = { kind: "offset", factor: 1.05, symbols: ["LINK"] };
    const before = (await get("/api/v1/price/LINK")).body.price;
    const set = await fetch(`${marketAdmin}/faults`, { method: "POST", body: JSON.stringify(fault) });
    expect(set.status).toBe(201);
    await eventually("a price that went with its sources", async () => {
      const { price } = (await get("/api/v1/price/LINK")).body;
      return price > before * 1.04;
    });
    expect((await fetch(`${marketAdmin}/faults`, { method: "DELETE" })).status).toBe(200);
  });

  test("is opened by the platform's keys, each with its account's own subscription", async () => {
    expect((await fetch(`${oracle}/api/v1/price/BTC`)).status).toBe(401);
    const free = await get("/v1/auth/validate", network.dev.keys.free);
    expect(free.body).toMatchObject({ valid: true, plan: "community", limits: { requests_per_month: 1_000 } });
    expect((await get("/v1/auth/validate")).body.plan).toBe("enterprise");
    const history = await get("/api/v1/price/BTC/history?hours=48", network.dev.keys.free);
    expect([history.status, history.body.error]).toEqual([403, "INSUFFICIENT_TIER"]);
  });

  test("keeps what it agreed on: histories and candles end with the present price", async () => {
    const { body } = await get("/api/v1/price/ETH/history?hours=1&limit=1000");
    expect(body.count).toBeGreaterThan(0);
    expect(Date.now() - Date.parse(body.history.at(-1).timestamp)).toBeLessThan(60_000);
    const bars = (await get("/v1/prices/ETH-USD/ohlcv?interval=1m")).body.data;
    const last = bars.at(-1);
    expect(last.high).toBeGreaterThanOrEqual(last.low);
    expect(last.close).toBeGreaterThan(0);
  });

  test("the console shows the same prices, to people who are signed in", async () => {
    const origin = new URL(`${network.dev.doors["rpc"]}`).origin;
    const { body } = await get("/v1/prices/all");
    // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
    const shown = (await (await fetch(`${origin}/api/v1/console/prices`)).json()) as any;
    expect(shown.prices.map(({ symbol }: { symbol: string }) => symbol)).toEqual([...oracleSymbols]);
    expect(Number(shown.prices[0].price) / body.data[0].price).toBeCloseTo(1, 2);
    expect(shown.origin).toBe("market");
    expect(shown.door).toBe(oracle);
    const foreign = await fetch(`${origin}/api/v1/console/prices`, { headers: { host: "evil.example" } });
    expect(foreign.status).toBe(401);
  });

  test("streams prices to the tiers that include it, and ends the stream of a key that is revoked", async () => {
    const refused = await stream(network.dev.keys.business);
    expect(await refused.gone).toBe(4403);
    const account = await sluice("accounts", "create", "--name", "streamer");
    await sluice("accounts", "set-tier", account.id, "ultra", "--product", "oracle");
    const key = await sluice("keys", "create", "--account", account.id);
    const client = await stream(key.key);
    await eventually("auth", () => client.got[0]?.type === "auth_success");
    client.say({ type: "subscribe", channel: "prices", symbols: ["BTC", "SOL"] });
    await eventually("prices of both", () => {
      const symbols = client.got.filter(({ type }) => type === "price_update").map(({ symbol }) => symbol);
      return symbols.filter((symbol) => symbol === "BTC").length > 2 && symbols.includes("SOL");
    });
    expect(client.got[1]).toEqual({ type: "subscribed", channel: "prices", symbols: ["BTC", "SOL"] });
    await sluice("keys", "revoke", key.id);
    expect(await client.gone).toBe(4401);
    expect(client.got.at(-1)).toMatchObject({ type: "error", code: "INVALID_API_KEY" });
  });

  test("loses its prices with the market and reports how old the last ones are; finds them again when it is back", async () => {
    // The exchanges that list BNB all speak every few seconds, so their silence is noticed soonest.
    const pid = marketPid() ?? 0;
    expect(pid).toBeGreaterThan(0);
    const before = await get("/api/v1/price/BNB");
    // Stopped, not ended: connections stay open and bring nothing, and no other is started.
    process.kill(pid, "SIGSTOP");
    try {
      const lost = await eventually(
        "503",
        async () => {
          const answer = await get("/api/v1/price/BNB");
          return answer.status === 503 ? answer : null;
        },
        70_000,
      );
      expect(lost.body.error).toBe("PRICE_UNAVAILABLE");
      expect(lost.body.details.symbol).toBe("BNB");
      expect(lost.body.details.last_price_age_seconds).toBeGreaterThanOrEqual(0);
      expect(Date.parse(lost.body.details.last_price_at)).toBeGreaterThanOrEqual(Date.parse(before.body.timestamp));
      expect(Number(lost.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    } finally {
      process.kill(pid, "SIGKILL");
    }
    await eventually("prices again", async () => (await get("/api/v1/price/BNB")).status === 200, 60_000);
    expect(marketPid()).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
  }, 150_000);

  test("remembers the last day and what accounts have used when it is started again", async () => {
    const usage = async () => (await get("/v1/auth/validate")).body.usage.requests;
    const used = await usage();
    const newest = (await get("/v1/prices/BTC-USD/ohlcv?interval=1m")).body.data.length;
    await network.end("SIGTERM");
    const again = await startNetwork({
      directory: network.directory,
      portOffset: network.portOffset,
      args: ["--oracle", "off"],
      keep: true,
    });
    expect(again.dev.doors["oracle"]).toBeNull();
    await again[Symbol.asyncDispose]();
    network = await startNetwork({ directory: network.directory, portOffset: network.portOffset });
    expect(await usage()).toBe(used + 1);
    expect((await get("/v1/prices/BTC-USD/ohlcv?interval=1m")).body.data.length).toBeGreaterThanOrEqual(newest);
  }, 90_000);
});
