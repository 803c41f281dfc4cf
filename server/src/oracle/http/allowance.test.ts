import { describe, expect, test } from "bun:test";
import { oracleTierTerms } from "@sluice/contract/oracle";
import { ManualClock, seededRandom } from "@sluice/lib";
import { bootOracle, CountedStore } from "../testing/booted-oracle.ts";
import { secondsToMonthEnd } from "./admission.ts";
import { MonthUsage, monthUsageLimits } from "./month-usage.ts";

const dayMs = 86_400_000;

/** Plain arithmetic over the calendar, beside the code under test: days of each month of a year. */
const daysOf = (year: number, month: number): number => {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month] ?? 0;
};

test("the month's end is the first moment of the next month in UTC, in leap years, over the year's end and over clock changes", () => {
  for (let year = 2023; year <= 2033; year += 1) {
    for (let month = 0; month < 12; month += 1) {
      const begin = Date.UTC(year, month, 1);
      const lengthSeconds = daysOf(year, month) * 86_400;
      expect(secondsToMonthEnd(begin)).toBe(lengthSeconds);
      expect(secondsToMonthEnd(begin + lengthSeconds * 1_000 - 1)).toBe(1);
      expect(secondsToMonthEnd(begin + lengthSeconds * 1_000 - 1_001)).toBe(2);
      expect(secondsToMonthEnd(begin + 13 * dayMs)).toBe(lengthSeconds - 13 * 86_400);
    }
  }
});

test("the machine's time zone changes nothing", () => {
  const script = `
    import { secondsToMonthEnd } from "${import.meta.dir}/admission.ts";
    import { monthOf } from "${import.meta.dir}/../../credits/account-credits.ts";
    const at = [Date.UTC(2026, 9, 31, 23, 30), Date.UTC(2026, 10, 1, 0, 30), Date.UTC(2028, 1, 29, 12), Date.UTC(2027, 2, 28, 1, 30)];
    console.log(JSON.stringify(at.map((ms) => [secondsToMonthEnd(ms), monthOf(ms)])));`;
  const run = (zone: string): string =>
    Bun.spawnSync([process.execPath, "-e", script], { env: { ...process.env, TZ: zone } }).stdout.toString();
  const here = run("UTC");
  expect(JSON.parse(here)).toEqual([
    [1_800, "2026-10"],
    [30 * 86_400 - 1_800, "2026-11"],
    [43_200 + 86_400 - 86_400, "2028-02"],
    [4 * 86_400 - 5_400, "2027-03"],
  ]);
  for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin", "America/New_York"]) {
    expect(run(zone)).toBe(here);
  }
});

test("a month's requests are answered to the last one and no further; the refusal says when the next month begins", async () => {
  const endOfFebruary = Date.UTC(2028, 1, 29, 20);
  const { get, say, addKey, clock, dispose } = await bootOracle({ startMs: endOfFebruary });
  await say("BTC", "1");
  const key = addKey();
  const drain = async (): Promise<number> => {
    let answered = 0;
    for (let attempt = 0; attempt < 1_500; attempt += 1) {
      const { status, body, headers } = await get("/api/v1/price/BTC", key);
      if (status === 200) answered += 1;
      else if (body.error === "QUOTA_EXCEEDED") {
        expect(status).toBe(429);
        expect(body.details).toEqual({ requests_per_month: 1_000 });
        expect(Number(headers.get("retry-after"))).toBe(secondsToMonthEnd(clock.now()));
        return answered;
      } else throw new Error(`unexpected ${status} ${body.error}`);
      clock.advance(1_000);
      if (attempt % 30 === 0) await say("BTC", "1");
    }
    return answered;
  };
  expect(await drain()).toBe(1_000);
  // What is refused, wrong or unavailable is not counted, so nothing more is owed in the new month.
  clock.jump(Date.UTC(2028, 1, 29, 23, 59, 59));
  clock.advance(999);
  expect((await get("/api/v1/price/BTC", key)).body.error).toBe("QUOTA_EXCEEDED");
  clock.advance(1_001);
  await say("BTC", "1");
  expect((await get("/api/v1/price/BTC", key)).status).toBe(200);
  await dispose();
});

test("what is not answered with 200 costs nothing", async () => {
  const { get, say, addKey, clock, meters, dispose } = await bootOracle();
  await say("BTC", "1");
  const key = addKey({ oracle: "enterprise" }, "acct_x");
  const used = async (): Promise<bigint> => (await meters.v1.spent("acct_x")).used;
  for (const path of [
    "/api/v1/price/DOGE",
    "/api/v1/price/ETH",
    "/api/v1/prices",
    "/api/v1/nothing",
    "/resources/sdks",
  ]) {
    await get(path, key);
  }
  await get("/api/v1/price/BTC", key, { method: "POST" });
  expect(await used()).toBe(0n);
  await get("/api/v1/price/BTC", key);
  clock.advance(1_000);
  expect(await used()).toBe(1n);
  await dispose();
});

test("unlimited is counted and never refused", async () => {
  const { get, say, addKey, meters, dispose } = await bootOracle();
  await say("BTC", "1");
  const key = addKey({ oracle: "ultra" }, "acct_u");
  for (let index = 0; index < 1_500; index += 1) expect((await get("/api/v1/price/BTC", key)).status).toBe(200);
  expect(oracleTierTerms.ultra.requestsMonthly).toBeNull();
  expect((await meters.v1.spent("acct_u")).used).toBe(1_500n);
  await dispose();
});

test.each([1, 2, 3])(
  "over random traffic on several servers, restarts, kills and month ends an account never gets more than its month's requests, and all of them where no server was killed (seed %d)",
  async (seed) => {
    const random = seededRandom(seed);
    const stores = { v1: new CountedStore(), v2: new CountedStore() };
    const begin = Date.UTC(2027, 11, 31, 23, 30);
    const boot = (startMs: number) => bootOracle({ startMs, stores });
    const servers = [await boot(begin), await boot(begin)];
    const answered = new Map<string, number>();
    let kills = 0;
    const accountKeys = new Map<Awaited<ReturnType<typeof bootOracle>>, string>();
    const keyOf = (server: Awaited<ReturnType<typeof bootOracle>>): string => {
      const known = accountKeys.get(server) ?? server.addKey({}, "acct_shared");
      accountKeys.set(server, known);
      return known;
    };
    let nowMs = begin;
    // Half an hour of either month, in which about twice its requests are asked for.
    for (let step = 0; step < 500; step += 1) {
      const index = Math.floor(random.next() * servers.length);
      const stepMs = 1_000 + Math.floor(random.next() * 13_000);
      nowMs += stepMs;
      for (const server of servers) server.clock.advance(stepMs);
      const server = servers[index];
      if (server === undefined) throw new Error("no server");
      await server.say("BTC", "1");
      const month = new Date(nowMs).toISOString().slice(0, 7);
      // Several at the same moment, as clients do.
      const answers = await Promise.all(Array.from({ length: 8 }, () => get(server, keyOf(server))));
      for (const status of answers) if (status === 200) answered.set(month, (answered.get(month) ?? 0) + 1);
      const chance = random.next();
      if (chance < 0.016) {
        // A restart gives back what it held; a kill does not.
        if (chance < 0.008) await server.dispose();
        else kills += 1;
        servers[index] = await boot(nowMs);
      }
    }
    for (const [month, count] of answered) {
      expect([month, count <= 1_000]).toEqual([month, true]);
      expect(count).toBeGreaterThan(1_000 - (kills + 1) * 2 * 64);
    }
    expect([...answered.keys()]).toEqual(["2027-12", "2028-01"]);
    await Promise.all(servers.map((server) => server.dispose()));
  },
  30_000,
);

async function get(server: Awaited<ReturnType<typeof bootOracle>>, key: string): Promise<number> {
  return (await server.get("/api/v1/price/BTC", key)).status;
}

test("while the store of allowances is away nothing is given away, and what is leased is still answered", async () => {
  const { get, say, addKey, stores, dispose } = await bootOracle();
  await say("BTC", "1");
  const key = addKey({ oracle: "enterprise" }, "acct_d");
  expect((await get("/api/v1/price/BTC", key)).status).toBe(200);
  stores.v1.isDown = true;
  const statuses: number[] = [];
  for (let index = 0; index < 60; index += 1) statuses.push((await get("/api/v1/price/BTC", key)).status);
  expect(statuses.indexOf(503)).toBeGreaterThan(0);
  expect(statuses.slice(statuses.indexOf(503)).every((status) => status === 503)).toBe(true);
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(32);
  stores.v1.isDown = false;
  await dispose();
});

describe("the headers of the month", () => {
  const monthOf = (headers: Headers) => ["limit", "used", "reset"].map((name) => headers.get(`x-quota-${name}`));
  const december = String(Date.UTC(2026, 11, 1) / 1_000);

  test("tell quota, use and reset on every answer of either variant after the rate, and may be read by a page", async () => {
    const { get, say, addKey, clock, dispose } = await bootOracle();
    await say("BTC", "1");
    const key = addKey({ oracle: "builders", "oracle-v2": "developer" });
    const first = await get("/api/v1/price/BTC", key);
    expect(monthOf(first.headers)).toEqual(["50000", "1", december]);
    expect(first.headers.get("access-control-expose-headers")).toContain("X-Quota-Limit, X-Quota-Used, X-Quota-Reset");
    expect(monthOf((await get("/api/v1/prices?symbols=BTC", key)).headers)).toEqual(["50000", "2", december]);
    // What is not answered with data costs nothing, and neither do resources.
    for (const path of ["/api/v1/price/DOGE", "/api/v1/price/ETH", "/api/v1/resources/tiers"]) {
      expect([path, ...monthOf((await get(path, key)).headers)]).toEqual([path, "50000", "2", december]);
    }
    expect(monthOf((await get("/v1/prices/BTC-USD", key)).headers)).toEqual(["10000", "1", december]);
    expect(monthOf((await get("/v1/auth/validate", key)).headers)).toEqual(["10000", "1", december]);
    clock.jump(Date.UTC(2026, 11, 1));
    clock.advance(250);
    await say("BTC", "1");
    const next = String(Date.UTC(2027, 0, 1) / 1_000);
    expect(monthOf((await get("/api/v1/price/BTC", key)).headers)).toEqual(["50000", "1", next]);
    expect(monthOf((await get("/api/v1/price/BTC", null)).headers)).toEqual([null, null, null]);
    await dispose();
  });

  test("tell that the month is used up, and of an unlimited one how much was used", async () => {
    const { get, say, addKey, clock, dispose } = await bootOracle();
    await say("BTC", "1");
    const [small, unlimited] = [addKey(), addKey({ oracle: "ultra" })];
    for (let request = 1; request <= 1_000; request += 1) {
      expect((await get("/api/v1/price/BTC", small)).status).toBe(200);
      clock.advance(1_000);
      if (request % 30 === 0) await say("BTC", "1");
    }
    const refused = await get("/api/v1/price/BTC", small);
    expect([refused.body.error, ...monthOf(refused.headers)]).toEqual(["QUOTA_EXCEEDED", "1000", "1000", december]);
    expect(monthOf((await get("/api/v1/price/BTC", unlimited)).headers)).toEqual(["unlimited", "1", december]);
    await dispose();
  });

  test("learn within ten seconds what other servers counted, and are left out while the store does not answer", async () => {
    const stores = { v1: new CountedStore(), v2: new CountedStore() };
    const [one, other] = [await bootOracle({ stores }), await bootOracle({ stores })];
    for (const server of [one, other]) await server.say("BTC", "1");
    const [key, same] = [one.addKey({ oracle: "ultra" }, "acct_o"), other.addKey({ oracle: "ultra" }, "acct_o")];
    expect((await one.get("/api/v1/price/BTC", key)).headers.get("x-quota-used")).toBe("1");
    for (let index = 0; index < 3; index += 1) await other.get("/api/v1/price/BTC", same);
    await other.meters.v1.sweep();
    one.clock.advance(monthUsageLimits.keptMs);
    await one.get("/api/v1/price/BTC", key);
    await one.meters.v1.sweep();
    expect((await one.get("/api/v1/price/BTC", key)).headers.get("x-quota-used")).toBe("6");
    stores.v2.isDown = true;
    const { headers } = await one.get("/api/v1/resources/tiers", key);
    expect(headers.get("x-quota-used")).toBe("6");
    await Promise.all([one.dispose(), other.dispose()]);
  });
});

test("a store that fails or hangs fails no answer, and is asked again only after a while", async () => {
  const clock = new ManualClock(0);
  let asked = 0;
  let spent = (): Promise<{ month: string; used: bigint }> => Promise.reject(new Error("away"));
  const usage = new MonthUsage({
    clock,
    allowance: {
      spent: () => {
        asked += 1;
        return spent();
      },
    },
  });
  expect(await usage.of("a")).toBeNull();
  expect(await usage.of("a")).toBeNull();
  expect(asked).toBe(1);
  const hanging = Promise.withResolvers<{ month: string; used: bigint }>();
  spent = () => hanging.promise;
  clock.advance(monthUsageLimits.keptMs);
  const waiting = usage.of("a");
  clock.advance(monthUsageLimits.waitMsMax);
  expect(await waiting).toBeNull();
  hanging.resolve({ month: "1970-01", used: 5n });
  await hanging.promise;
  await Promise.resolve();
  expect(await usage.of("a")).toEqual({ used: 5, resetAt: Date.UTC(1970, 1, 1) / 1_000 });
  usage.count("a", 1);
  expect((await usage.of("a"))?.used).toBe(6);
  expect(asked).toBe(2);
});
