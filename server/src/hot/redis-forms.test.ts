/** What an operator may write into REDIS_URL, from the environment to a connection with a real server behind it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@sluice/lib";
import { eventually, freePort } from "@sluice/lib/testing";
import { loadConfig } from "../config/index.ts";
import { newAuthority, type PrivateAuthority } from "../net/tls/testing/private-authority.ts";
import type { Hot } from "./hot.ts";
import { openHot } from "./open.ts";
import { startFakeSentinel } from "./testing/fake-sentinel.ts";
import { redisBinary, redisCommand, startRedis, startSentinel } from "./testing/redis-process.ts";

if (redisBinary === null) {
  console.warn("NOT RUN: every form of REDIS_URL on a real server (there is no redis-server on this machine)");
}
const describeWithServer: (name: string, tests: () => void) => void = redisBinary === null ? () => {} : describe;

const resources = new AsyncDisposableStack();
const directory = mkdtempSync(join(tmpdir(), "sluice-redis-forms-"));
afterAll(async () => {
  await resources.disposeAsync();
  rmSync(directory, { recursive: true });
});

/** Opens the hot store of an environment, as the server does. */
async function openFrom(environment: Record<string, string>): Promise<Hot> {
  const outcome = loadConfig({ mode: "dev", env: environment });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.faults));
  const { redisUrl, redisPrefix } = outcome.config.stores;
  const log = { info: () => {}, warn: () => {} };
  return openHot({ redisUrl, prefix: redisPrefix, commandTimeoutMs: 2_000 }, { clock: systemClock, log });
}

const bytes = new TextEncoder().encode("kept");

/** That a value and a message go all the way, over both of the store's connections. */
async function expectConnected(hot: Hot): Promise<void> {
  await hot.set("key", bytes, 60_000);
  expect(Uint8Array.from((await hot.get("key")) ?? [])).toEqual(bytes);
  const messages: string[] = [];
  await using _subscription = await hot.subscribe("channel", (message) => messages.push(message));
  await hot.publish("channel", "hello");
  await eventually("the message", async () => messages.length === 1);
}

/** A name for a test's keys: several forms lead to one server. */
let prefixes = 0;
const newPrefix = (): string => {
  prefixes += 1;
  return `form-${prefixes}:`;
};

describeWithServer("one server", () => {
  const socket = join(directory, "one.sock");
  let authority: PrivateAuthority;
  let port = 0;
  let tlsPort = 0;
  beforeAll(async () => {
    authority = await newAuthority(directory);
    const { certificate, key } = await authority.server("redis.internal", ["redis.internal", "127.0.0.1"]);
    [port, tlsPort] = [await freePort(), await freePort()];
    const tls = ["--tls-port", String(tlsPort), "--tls-cert-file", certificate, "--tls-key-file", key];
    const listening = ["--bind", "127.0.0.1", "--port", String(port), "--unixsocket", socket, ...tls];
    const rights = ["~form-*", "&form-*", "+@all", "-@dangerous", "+info"];
    const user = ["--user", "sluice", "on", ">se,cr/et", ...rights];
    const settings = ["--tls-ca-cert-file", authority.caFile, "--tls-auth-clients", "no"];
    resources.use(await startRedis(directory, [...listening, ...settings, ...user]));
  }, 20_000);

  test.each([
    ["TCP", () => `redis://127.0.0.1:${port}`],
    ["a database", () => `redis://127.0.0.1:${port}/5`],
    ["a user of an access list", () => `redis://sluice:se%2Ccr%2Fet@127.0.0.1:${port}/3`],
    ["a Unix socket", () => `redis+unix://${socket}`],
    ["a Unix socket with user and database", () => `redis+unix://sluice:se%2Ccr%2Fet@${socket}?db=2`],
    ["TLS with a private authority", () => `rediss://127.0.0.1:${tlsPort}?ca_file=${authority.caFile}`],
    [
      "TLS with the name of the certificate",
      () => `rediss://localhost:${tlsPort}/1?ca_file=${authority.caFile}&server_name=redis.internal`,
    ],
  ] as const)("is reached by %s", async (_name, url) => {
    await using hot = await openFrom({ REDIS_URL: url(), REDIS_PREFIX: newPrefix() });
    await expectConnected(hot);
  });

  test("is not reached with another password, an unknown authority, or a name that the certificate lacks", async () => {
    const wrong = [
      `redis://sluice:other@127.0.0.1:${port}`,
      `rediss://127.0.0.1:${tlsPort}`,
      `rediss://127.0.0.1:${tlsPort}?ca_file=${authority.caFile}&server_name=other.internal`,
    ];
    const reached = await Promise.all(
      wrong.map(async (url) => {
        await using hot = await openFrom({ REDIS_URL: url, REDIS_PREFIX: newPrefix() });
        return await hot.ping();
      }),
    );
    expect(reached).toEqual(wrong.map(() => false));
  }, 10_000);

  test("holds its keys under the prefix, in the database", async () => {
    const prefix = newPrefix();
    await using hot = await openFrom({ REDIS_URL: `redis://127.0.0.1:${port}/6`, REDIS_PREFIX: prefix });
    await hot.set("key", bytes, 60_000);
    await using seen = await openFrom({ REDIS_URL: `redis://127.0.0.1:${port}/6`, REDIS_PREFIX: `${prefix}v:x` });
    expect(await seen.get("key")).toBeNull();
    expect(await hot.get("key")).not.toBeNull();
  });

  test("keeps the messages of installations apart, by prefix and by database", async () => {
    const [prefix, other] = [newPrefix(), newPrefix()];
    const installations = [
      { REDIS_URL: `redis://127.0.0.1:${port}`, REDIS_PREFIX: prefix },
      { REDIS_URL: `redis://127.0.0.1:${port}/7`, REDIS_PREFIX: prefix },
      { REDIS_URL: `redis://127.0.0.1:${port}/8`, REDIS_PREFIX: prefix },
      { REDIS_URL: `redis://127.0.0.1:${port}`, REDIS_PREFIX: other },
    ];
    await using opened = new AsyncDisposableStack();
    const stores: Hot[] = [];
    const heard: string[][] = installations.map(() => []);
    for (const [index, installation] of installations.entries()) {
      const hot = opened.use(await openFrom(installation));
      opened.use(await hot.subscribe("keys", (message) => void heard[index]?.push(message)));
      stores.push(hot);
    }
    for (const [index, hot] of stores.entries()) await hot.publish("keys", `from ${index}`);
    await eventually("its own message at each", async () => heard.every((messages) => messages.length > 0));
    // Each is told a second one: whatever else was under way has then arrived.
    for (const [index, hot] of stores.entries()) await hot.publish("keys", `again ${index}`);
    await eventually("both", async () => heard.every((messages) => messages.some((each) => each.startsWith("again"))));
    expect(heard).toEqual(installations.map((_, index) => [`from ${index}`, `again ${index}`]));
  });

  test("has the names that it always had with the usual prefix and database", async () => {
    await using hot = await openFrom({ REDIS_URL: `redis://127.0.0.1:${port}` });
    await using _subscription = await hot.subscribe("keys", () => {});
    expect(await redisCommand(port, "PUBSUB", "CHANNELS", "sluice:*")).toBe("sluice:p:keys");
  });
});

describeWithServer("a cluster of three over TLS", () => {
  test("is reached through any of its nodes, with a private authority", async () => {
    const authority = await newAuthority(directory);
    const { certificate, key } = await authority.server("node", ["127.0.0.1"]);
    const own = await authority.client("node-to-node");
    const tls = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", authority.caFile];
    const between = [
      "--tls-cluster",
      "yes",
      "--tls-client-cert-file",
      own.certificate,
      "--tls-client-key-file",
      own.key,
    ];
    const nodes: { port: number; tlsPort: number; bus: number }[] = [];
    for (let index = 0; index < 3; index += 1) {
      const [port, tlsPort, bus] = [await freePort(), await freePort(), await freePort()];
      const home = mkdtempSync(join(directory, "node-"));
      const listening = ["--bind", "127.0.0.1", "--port", String(port), "--tls-port", String(tlsPort)];
      const clustered = ["--cluster-enabled", "yes", "--cluster-port", String(bus), ...between];
      resources.use(await startRedis(home, [...listening, ...clustered, ...tls, "--tls-auth-clients", "no"]));
      nodes.push({ port, tlsPort, bus });
    }
    const [first] = nodes;
    if (first === undefined) throw new Error("no node");
    for (const [index, { port }] of nodes.entries()) {
      const bounds = [Math.floor((16_384 / 3) * index), Math.floor((16_384 / 3) * (index + 1)) - 1];
      await redisCommand(port, "CLUSTER", "ADDSLOTSRANGE", ...bounds.map(String));
      if (port !== first.port) {
        await redisCommand(port, "CLUSTER", "MEET", "127.0.0.1", String(first.port), String(first.bus));
      }
    }
    for (const { port } of nodes) {
      await eventually(
        "the cluster agrees",
        async () => {
          const info = await redisCommand(port, "CLUSTER", "INFO");
          return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3");
        },
        20_000,
      );
    }
    const hosts = nodes.map(({ tlsPort }) => `127.0.0.1:${tlsPort}`).join(",");
    const url = `rediss+cluster://${hosts}?ca_file=${authority.caFile}`;
    await using hot = await openFrom({ REDIS_URL: url, REDIS_PREFIX: newPrefix() });
    await expectConnected(hot);
    for (let key = 0; key < 20; key += 1) await hot.set(`key ${key}`, bytes, 60_000);
    for (let key = 0; key < 20; key += 1) expect(await hot.get(`key ${key}`)).not.toBeNull();
  }, 40_000);
});

describeWithServer("a server that sentinels watch", () => {
  test("is found through them, and so is the replica that takes its place when it is killed", async () => {
    const [firstPort, secondPort] = [await freePort(), await freePort()];
    const bound = ["--bind", "127.0.0.1", "--requirepass", "servers", "--masterauth", "servers"];
    const primary = await startRedis(mkdtempSync(join(directory, "a-")), ["--port", String(firstPort), ...bound]);
    resources.use(primary);
    const replicaOf = ["--replicaof", "127.0.0.1", String(firstPort), "--repl-diskless-sync-delay", "0"];
    const replica = ["--port", String(secondPort), ...bound, ...replicaOf];
    resources.use(await startRedis(mkdtempSync(join(directory, "b-")), replica));
    const sentinel = await watch(firstPort);
    const url = `redis+sentinel://:servers@127.0.0.1:1,${sentinel}/main/2?sentinel_password=watchers`;
    await eventually(
      "the sentinel knows the replica",
      async () => {
        const answer = await askSentinel(sentinel, "replicas", "main");
        return answer.includes(String(secondPort)) && !answer.includes("err,");
      },
      20_000,
    );
    await using hot = await openFrom({ REDIS_URL: url });
    await expectConnected(hot);
    const messages: string[] = [];
    let gaps = 0;
    const onGap = (): void => {
      gaps += 1;
    };
    await using _subscription = await hot.subscribe("keys", (message) => messages.push(message), { onGap });

    await primary[Symbol.asyncDispose]();
    await eventually("commands at the new primary", () => hot.ping(), 30_000);
    await eventually(
      "messages at the new primary",
      async () => {
        await hot.publish("keys", "after").catch(() => {});
        return messages.length > 0;
      },
      30_000,
    );
    expect(gaps).toBeGreaterThan(0);
    await expectConnected(hot);
    expect(await askSentinel(sentinel, "get-master-addr-by-name", "main")).toContain(String(secondPort));
  }, 90_000);

  test("is found again when the sentinels announce another one while they are being asked", async () => {
    const port = await freePort();
    const server = await startRedis(directory, ["--bind", "127.0.0.1", "--port", String(port)]);
    resources.use(server);
    await using sentinel = startFakeSentinel(port);
    await using hot = await openFrom({ REDIS_URL: `redis+sentinel://127.0.0.1:${sentinel.port}/main` });
    await expectConnected(hot);
    await eventually("who listens for announcements", async () => sentinel.listeners() === 2);
    sentinel.isHolding = true;
    await redisCommand(port, "CLIENT", "KILL", "TYPE", "normal");
    await redisCommand(port, "CLIENT", "KILL", "TYPE", "pubsub");
    await eventually("questions that wait", async () => sentinel.waiting() > 0);
    sentinel.announce();
    sentinel.isHolding = false;
    await eventually("commands", () => hot.ping());
    await eventually("messages", () =>
      expectConnected(hot).then(
        () => true,
        () => false,
      ),
    );
  }, 60_000);

  test("is found over TLS, as are the sentinels", async () => {
    const authority = await newAuthority(mkdtempSync(join(directory, "tls-")));
    const { certificate, key } = await authority.server("both", ["127.0.0.1"]);
    const [port, own] = [await freePort(), await freePort()];
    const files = { "tls-cert-file": certificate, "tls-key-file": key, "tls-ca-cert-file": authority.caFile };
    const tls = { ...files, "tls-auth-clients": "no", "tls-replication": "yes", bind: "127.0.0.1", port: "0" };
    const settings = Object.entries({ ...tls, "tls-port": String(port) }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    resources.use(await startRedis(mkdtempSync(join(directory, "c-")), settings));
    const watching = Object.entries({ ...tls, "tls-port": String(own) }).map(([name, value]) => `${name} ${value}`);
    resources.use(await startSentinel(directory, [...watching, `sentinel monitor main 127.0.0.1 ${port} 1`]));
    const url = `rediss+sentinel://127.0.0.1:${own}/main/1?ca_file=${authority.caFile}`;
    await using hot = await openFrom({ REDIS_URL: url });
    await expectConnected(hot);
    await using distrustful = await openFrom({ REDIS_URL: `rediss+sentinel://127.0.0.1:${own}/main/1` });
    expect(await distrustful.ping()).toBe(false);
  }, 20_000);

  /** A sentinel that decides alone: of several, two may vote for themselves again and again. */
  async function watch(port: number): Promise<string> {
    const own = await freePort();
    const settings = [
      `port ${own}`,
      "bind 127.0.0.1",
      "requirepass watchers",
      "sentinel sentinel-pass watchers",
      `sentinel monitor main 127.0.0.1 ${port} 1`,
      "sentinel auth-pass main servers",
      "sentinel down-after-milliseconds main 500",
      "sentinel failover-timeout main 2000",
    ];
    resources.use(await startSentinel(directory, settings));
    return `127.0.0.1:${own}`;
  }

  async function askSentinel(address: string, ...words: string[]): Promise<string> {
    const { Redis } = await import("ioredis");
    const [host = "", port = ""] = address.split(":");
    const client = new Redis({ host, port: Number(port), password: "watchers", protocol: 2 });
    return String(await client.call("SENTINEL", ...words).finally(() => client.disconnect()));
  }
});
