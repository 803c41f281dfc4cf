import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock } from "@sluice/lib";
import { eventually, freePort, type ServerProcess } from "@sluice/lib/testing";
import { parseRedisUrl } from "../config/index.ts";
import { type Hot, HotUnavailable } from "./hot.ts";
import { openHot } from "./open.ts";
import { RedisHot } from "./redis.ts";
import { describeHotConformance } from "./testing/conformance.ts";
import { redisBinary, redisCommand, startRedis } from "./testing/redis-process.ts";

if (redisBinary === null)
  console.warn("NOT RUN: loss of Redis and Redis cluster (there is no redis-server on this machine)");
const describeWithServer: (name: string, tests: () => void) => void = redisBinary === null ? () => {} : describe;

const directories: string[] = [];
function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-redis-"));
  directories.push(directory);
  return directory;
}
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

const clock = systemClock;
const silent = { info: () => {}, warn: () => {} };

const leaseOfOne = {
  rate: 1,
  burst: 1,
  holder: "me",
  sequence: 1,
  held: 0,
  needed: 1,
  want: 1,
  owed: 0,
  lifeMs: 1_000,
};

/** How each call ended and how long the slowest took. */
async function callEverything(hot: Hot): Promise<{ unavailable: number; calls: number; slowestMs: number }> {
  const calls = [
    () => hot.get("key"),
    () => hot.set("key", new Uint8Array(1), 1_000),
    () => hot.delete("key"),
    () => hot.leaseTokens("key", leaseOfOne),
    () => hot.attend("key", "me", 1_000),
    () => hot.publish("channel", "message"),
  ];
  const started = performance.now();
  const errors = await Promise.all(
    calls.map((call) =>
      call().then(
        () => null,
        (error: unknown) => error,
      ),
    ),
  );
  const unavailable = errors.filter((error) => error instanceof HotUnavailable).length;
  return { unavailable, calls: calls.length, slowestMs: performance.now() - started };
}

describeWithServer("loss of Redis", () => {
  test("a killed Redis makes every call fail at once; when it is back, so are calls, and subscribers learn of the gap", async () => {
    const directory = temporaryDirectory();
    const socket = join(directory, "redis.sock");
    const settings = ["--port", "0", "--unixsocket", socket];
    const said: string[] = [];
    const reasons: unknown[] = [];
    const log = {
      info: (_fields: object, message: string) => void said.push(message),
      warn: ({ reason }: { readonly reason?: unknown }, message: string) => {
        said.push(message);
        reasons.push(reason);
      },
    };
    const first = await startRedis(directory, settings);
    await using hot = await openHot({ redisUrl: `redis+unix://${socket}` }, { clock, log, random: seededRandom(1) });
    const messages: string[] = [];
    let gaps = 0;
    const onGap = (): void => {
      gaps += 1;
    };
    await using _subscription = await hot.subscribe("channel", (message) => messages.push(message), { onGap });
    await hot.publish("channel", "before");
    await eventually("the first message", async () => messages.length === 1);
    expect(gaps).toBe(0);

    await first[Symbol.asyncDispose]();
    await eventually("the loss is noticed", async () => !(await hot.ping()));
    const away = await callEverything(hot);
    expect(away.unavailable).toBe(away.calls);
    expect(away.slowestMs).toBeLessThan(100);
    expect(await hot.ping()).toBe(false);

    await using _second = await startRedis(directory, settings);
    await eventually("commands work again", () => hot.ping());
    await eventually("the subscription is back", async () => gaps === 1);
    await hot.publish("channel", "after");
    await eventually("the second message", async () => messages.length === 2);
    expect(messages).toEqual(["before", "after"]);
    expect((await callEverything(hot)).unavailable).toBe(0);
    expect(said).toEqual(["the connection to Redis was lost or could not be opened", "connected to Redis again"]);
    // Never an empty one.
    expect(reasons).toEqual([expect.stringMatching(/\w/)]);
  }, 20_000);

  test("a Redis that is silent makes calls fail within the time allowed, then at once, and heals when it goes on", async () => {
    const directory = temporaryDirectory();
    const socket = join(directory, "redis.sock");
    await using server = await startRedis(directory, ["--port", "0", "--unixsocket", socket]);
    await using hot = await openHot(
      { redisUrl: `redis+unix://${socket}`, commandTimeoutMs: 100 },
      { clock, log: silent, random: seededRandom(1) },
    );
    server.signal("SIGSTOP");
    const stalled = await callEverything(hot);
    expect(stalled.unavailable).toBe(stalled.calls);
    expect(stalled.slowestMs).toBeGreaterThan(90);
    expect(stalled.slowestMs).toBeLessThan(300);
    await Bun.sleep(500);
    const givenUp = await callEverything(hot);
    expect(givenUp.unavailable).toBe(givenUp.calls);
    expect(givenUp.slowestMs).toBeLessThan(50);
    server.signal("SIGCONT");
    await eventually("commands work again", () => hot.ping());
  }, 20_000);

  test("a start without Redis is no failure: the store fails fast, and works as soon as Redis comes", async () => {
    const directory = temporaryDirectory();
    const socket = join(directory, "redis.sock");
    await using hot = await openHot(
      { redisUrl: `redis+unix://${socket}` },
      { clock, log: silent, random: seededRandom(1) },
    );
    const messages: string[] = [];
    await using _subscription = await hot.subscribe("channel", (message) => messages.push(message));
    const away = await callEverything(hot);
    expect(away.unavailable).toBe(away.calls);
    expect(away.slowestMs).toBeLessThan(100);
    await using _server = await startRedis(directory, ["--port", "0", "--unixsocket", socket]);
    await eventually("a message arrives", async () => {
      await hot.publish("channel", "hello").catch(() => {});
      return messages.length > 0;
    });
  }, 20_000);
});

describeWithServer("cluster", () => {
  const servers: ServerProcess[] = [];
  const ports: number[] = [];

  beforeAll(async () => {
    if (redisBinary === null) return;
    for (let node = 0; node < 2; node += 1) {
      const [port, bus] = [await freePort(), await freePort()];
      const own = ["--port", String(port), "--bind", "127.0.0.1", "--cluster-enabled", "yes"];
      const settings = [...own, "--cluster-port", String(bus), "--cluster-node-timeout", "1000"];
      servers.push(await startRedis(temporaryDirectory(), settings));
      ports.push(port);
      if (node === 1) await redisCommand(port, "CLUSTER", "MEET", "127.0.0.1", String(ports[0]), String(firstBus));
      else firstBus = bus;
    }
    const [first = 0, second = 0] = ports;
    await redisCommand(first, "CLUSTER", "ADDSLOTSRANGE", "0", "8191");
    await redisCommand(second, "CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
    for (const port of ports) {
      await eventually("the cluster agrees", async () => {
        const info = await redisCommand(port, "CLUSTER", "INFO");
        return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:2");
      });
    }
  }, 20_000);
  let firstBus = 0;
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  const times = { commandMs: 2_000, silenceMs: 4_000, connectMs: 2_000 };
  async function openCluster(seed: number): Promise<RedisHot> {
    const address = parseRedisUrl(`redis+cluster://127.0.0.1:${seed}`);
    const hot = new RedisHot(
      { address, prefix: "test:", times, pingMs: 1_000 },
      { clock: systemClock, log: silent, random: seededRandom(1) },
    );
    if (!(await hot.connected(5_000))) throw new Error("The cluster does not answer.");
    return hot;
  }

  describeHotConformance("a Redis cluster of two", async () => {
    // Each view is given another node only, so messages and keys have to find their way through the cluster.
    const [hot, other] = [await openCluster(ports[0] ?? 0), await openCluster(ports[1] ?? 0)];
    return {
      hot,
      other,
      pass: (durationMs) => Bun.sleep(durationMs),
      [Symbol.asyncDispose]: async () => {
        await hot[Symbol.asyncDispose]();
        await other[Symbol.asyncDispose]();
      },
    };
  });

  test("when its nodes are gone, every call fails within the time allowed", async () => {
    const address = `redis+cluster://127.0.0.1:${ports[0]}`;
    await using hot = await openHot({ redisUrl: address }, { clock, log: silent, random: seededRandom(1) });
    expect(await hot.ping()).toBe(true);
    for (const server of servers) await server[Symbol.asyncDispose]();
    const away = await callEverything(hot);
    expect(away.unavailable).toBe(away.calls);
    expect(away.slowestMs).toBeLessThan(400);
  }, 20_000);
});
