/** A whole Redis cluster, three servers that are written to and a replica of each, one of which is killed. */

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@sluice/lib";
import { eventually, freePort, type ServerProcess } from "@sluice/lib/testing";
import { openHot } from "./open.ts";
import { redisBinary, redisCommand, startRedis } from "./testing/redis-process.ts";

if (redisBinary === null) {
  console.warn("NOT RUN: the failover of a Redis cluster (there is no redis-server on this machine)");
}

const resources = new AsyncDisposableStack();
const directory = mkdtempSync(join(tmpdir(), "sluice-redis-failover-"));
afterAll(async () => {
  await resources.disposeAsync();
  rmSync(directory, { recursive: true });
}, 20_000);

interface Node {
  readonly port: number;
  readonly bus: number;
  readonly id: string;
  readonly server: ServerProcess;
}

const slots = 16_384;
const primaries = 3;

async function startNode(): Promise<Node> {
  const [port, bus] = [await freePort(), await freePort()];
  const home = mkdtempSync(join(directory, "node-"));
  const own = ["--bind", "127.0.0.1", "--port", String(port), "--repl-diskless-sync-delay", "0"];
  // A replica may take over however long it has heard nothing, and is asked for its vote soon.
  const clustered = ["--cluster-enabled", "yes", "--cluster-port", String(bus), "--cluster-node-timeout", "1000"];
  const server = resources.use(
    await startRedis(home, [...own, ...clustered, "--cluster-replica-validity-factor", "0"]),
  );
  return { port, bus, server, id: await redisCommand(port, "CLUSTER", "MYID") };
}

/** Six nodes, of which the last three are replicas of the first three. */
async function startCluster(): Promise<readonly Node[]> {
  const nodes = await Promise.all(Array.from({ length: 2 * primaries }, startNode));
  for (const [index, { port }] of nodes.slice(0, primaries).entries()) {
    const bounds = [Math.floor((slots / primaries) * index), Math.floor((slots / primaries) * (index + 1)) - 1];
    await redisCommand(port, "CLUSTER", "ADDSLOTSRANGE", ...bounds.map(String));
  }
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error("no node");
  for (const { port } of others) {
    await redisCommand(port, "CLUSTER", "MEET", "127.0.0.1", String(first.port), String(first.bus));
  }
  for (const { port } of nodes) {
    await eventually("the cluster agrees", async () => {
      const info = await redisCommand(port, "CLUSTER", "INFO");
      return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${2 * primaries}`);
    });
  }
  for (const [index, { port }] of nodes.slice(primaries).entries()) {
    await redisCommand(port, "CLUSTER", "REPLICATE", nodes[index]?.id ?? "");
    await eventually("a replica follows", async () => (await redisCommand(port, "ROLE")).includes("connected"));
  }
  return nodes;
}

if (redisBinary !== null) {
  test("a cluster of three with replicas: when one is killed its replica answers for it, with its keys, over both connections", async () => {
    const nodes = await startCluster();
    const [victim] = nodes;
    if (victim === undefined) throw new Error("no node");
    const log = { info: () => {}, warn: () => {} };
    const redisUrl = `redis+cluster://${nodes
      .slice(0, primaries)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(",")}`;
    await using hot = await openHot({ redisUrl, prefix: "f:", commandTimeoutMs: 2_000 }, { clock: systemClock, log });
    const bytes = new TextEncoder().encode("kept");
    const keys = Array.from({ length: 40 }, (_, number) => `key ${number}`);
    for (const key of keys) await hot.set(key, bytes, 600_000);
    const held = Number(await redisCommand(victim.port, "DBSIZE"));
    expect(held).toBeGreaterThan(0);
    await eventually("its replica has them", async () => {
      return Number(await redisCommand(nodes[primaries]?.port ?? 0, "DBSIZE")) === held;
    });
    const messages: string[] = [];
    await using _subscription = await hot.subscribe("keys", (message) => messages.push(message));

    await victim.server[Symbol.asyncDispose]();
    await eventually("its replica takes over", async () => {
      return (await redisCommand(nodes[primaries]?.port ?? 0, "ROLE")).startsWith("master");
    });
    await eventually(
      "every key is answered",
      async () => {
        const found = await Promise.all(keys.map((key) => hot.get(key)));
        return found.every((value) => value !== null);
      },
      30_000,
    );
    await eventually("messages", async () => {
      await hot.publish("keys", "after").catch(() => {});
      return messages.length > 0;
    });
    for (const key of keys) await hot.set(key, bytes, 600_000);
    expect(await hot.ping()).toBe(true);
  }, 90_000);
}
