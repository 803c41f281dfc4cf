/** Processes of `sluice serve` with some of the roles, and several of them on one database. */

import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { newSchema } from "../src/state/testing/schema.ts";
import { type Gateway, sluice, startGateway } from "./testing/gateway.ts";
import { startLedgerServer } from "./testing/ledger-server.ts";
import { freePortOffset, post, runSluice } from "./testing/network.ts";
import { startStubNode } from "./testing/stub-node.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: a second process on one PostgreSQL (DATABASE_URL is not set)");

const redisUrl = Bun.env["REDIS_URL"] ?? "";
if (redisUrl === "") console.warn("NOT RUN: processes on different stores (REDIS_URL is not set)");

const exchanges = ["binance", "coinbase", "kraken", "okx", "bybit", "kucoin", "bitstamp", "gate"];
const node = startStubNode();
const environment = {
  MASTER_KEY: "5e".repeat(32),
  NETWORK_DEFAULT: "devnet",
  GENESIS_ALLOW_UNKNOWN: "stub",
  UPSTREAMS_DEVNET: `stub=http://127.0.0.1:${node.port};ws=ws://127.0.0.1:${node.port}`,
  // Nothing outside of this machine is asked.
  ORACLE_ENDPOINTS: exchanges.map((each) => `${each}=http://127.0.0.1:1;ws=ws://127.0.0.1:1`).join(","),
};
const ports = { gateway: 8899, pubsub: 8900, engineRest: 7435, oracle: 7450, resolver: 8691, metrics: 9464 };

let resources = new AsyncDisposableStack();
afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});
afterAll(() => node.stop(true));

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-roles-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function start(env: Record<string, string>, port: number, directory = newDirectory()): Promise<Gateway> {
  const started = await startGateway(directory, { ...environment, ...env }, { port });
  resources.defer(async () => void (await started.end()));
  return started;
}

const readyAt = async ({ offset }: Gateway, port: number, role = ""): Promise<readonly [number, unknown]> => {
  const answer = await fetch(`http://127.0.0.1:${port + offset}/ready${role === "" ? "" : `?role=${role}`}`);
  const { reasons } = await answer.json();
  return [answer.status, reasons.map(({ part, is }: { part: string; is: string }) => `${part} ${is}`)];
};

/** The names of the ports that take connections. */
async function openPorts({ offset }: Gateway): Promise<string[]> {
  const answers = await Promise.allSettled(
    Object.values(ports).map((port) => fetch(`http://127.0.0.1:${port + offset}/health`)),
  );
  return Object.keys(ports).filter((_name, index) => answers[index]?.status === "fulfilled");
}

/** What a WebSocket says until it closes, or until it has said two things. */
async function saidBy(url: string, message: object | null): Promise<{ messages: unknown[]; code: number | null }> {
  const socket = new WebSocket(url);
  const messages: unknown[] = [];
  let code: number | null = null;
  socket.onopen = () => message !== null && socket.send(JSON.stringify(message));
  socket.onmessage = ({ data }) => messages.push(JSON.parse(String(data)));
  socket.onclose = (event) => {
    code = event.code;
  };
  await eventually("what the socket says", () => code !== null || messages.length === 2);
  socket.close();
  return { messages, code };
}

describe("a process opens what it was asked for, on the stores of its directory", () => {
  test("the gateway by itself", async () => {
    const gateway = await start({ ROLES: "gateway" }, ports.gateway);
    expect(await openPorts(gateway)).toEqual(["gateway", "pubsub", "metrics"]);
    const account = await sluice(gateway, environment, "accounts", "create", "--name", "one");
    const { key } = await sluice(gateway, environment, "keys", "create", "--account", account.id, "--name", "k");
    const call = { jsonrpc: "2.0", id: 1, method: "getBlockHeight", params: [] };
    expect((await post(`${gateway.url}/rpc`, call, { "x-api-key": key })).status).toBe(200);
    const refused = await saidBy(`${gateway.url.replace("http", "ws")}/ws`, null);
    expect(refused).toMatchObject({ messages: [{ type: "error", code: "STREAM_UNAVAILABLE" }], code: 4503 });
  }, 90_000);

  test("streams by themselves: WebSockets and probes alone", async () => {
    const apart = { NETWORK_DEFAULT: "devnet", LOG_URL: "nats://127.0.0.1:1" };
    const streams = await start({ ...apart, ROLES: "streams" }, ports.metrics);
    expect(await openPorts(streams)).toEqual(["gateway", "pubsub", "metrics"]);
    expect(await readyAt(streams, ports.gateway)).toEqual([503, ["streams down"]]);
    const call = { jsonrpc: "2.0", id: 1, method: "getBlockHeight", params: [] };
    expect((await post(`${streams.url}/rpc`, call)).status).toBe(404);
    expect((await fetch(`${streams.url}/`)).status).toBe(404);
    const account = await sluice(streams, environment, "accounts", "create", "--name", "one");
    const { key } = await sluice(streams, environment, "keys", "create", "--account", account.id, "--name", "k");
    const client = await saidBy(`${streams.url.replace("http", "ws")}/ws?api-key=${key}`, {
      action: "subscribe",
      channel: "slots",
    });
    expect(client.messages).toMatchObject([{ type: "connected" }, { type: "error", code: "STREAM_UNAVAILABLE" }]);
  }, 90_000);

  test("webhooks by themselves: probes and metrics alone", async () => {
    const apart = { NETWORK_DEFAULT: "devnet", LOG_URL: "nats://127.0.0.1:1" };
    const webhooks = await start({ ...apart, ROLES: "webhooks" }, ports.metrics);
    expect(await openPorts(webhooks)).toEqual(["metrics"]);
    expect(await readyAt(webhooks, ports.metrics)).toEqual([503, ["webhooks down"]]);
    const status = await sluice(webhooks, environment, "status");
    expect(status.roles).toEqual(["webhooks"]);
  }, 90_000);

  test("the oracle by itself: no JSON-RPC, no PubSub, no administration over the network", async () => {
    const oracle = await start({ ROLES: "oracle" }, ports.oracle);
    expect(await openPorts(oracle)).toEqual(["oracle", "metrics"]);
    // No exchange can be reached; the process lives all the same.
    expect(await readyAt(oracle, ports.oracle)).toEqual([503, ["oracle down"]]);
    expect(await readyAt(oracle, ports.metrics)).toEqual([503, ["oracle down"]]);
    expect(await readyAt(oracle, ports.metrics, "gateway")).toEqual([503, ["roles absent"]]);
    await eventually("a warning", () => oracle.said().includes("a source of prices cannot be reached"));
    // Commands reach it through the socket in its directory all the same.
    const status = await sluice(oracle, environment, "status");
    expect(status.roles).toEqual(["oracle"]);
    expect(status.endpoints.map(({ name }: { name: string }) => name)).toEqual(["oracle", "metrics"]);
  }, 90_000);

  test("the resolver, where it is named, on the nodes of the default network", async () => {
    const resolver = await start({ ROLES: "gateway,resolver" }, ports.resolver);
    expect(await openPorts(resolver)).toEqual(["gateway", "pubsub", "resolver", "metrics"]);
    const serves = async (port: number, role = "") => (await readyAt(resolver, port, role))[0] === 200;
    await eventually("the resolver", () => serves(ports.metrics, "resolver"));
    for (const port of [ports.gateway, ports.pubsub, ports.metrics]) expect(await serves(port)).toBe(true);
    expect(await serves(ports.gateway, "resolver")).toBe(true);
    expect((await fetch(`http://127.0.0.1:${ports.resolver + resolver.offset}/ready`)).status).toBe(404);
    const version = await fetch(`http://127.0.0.1:${ports.resolver + resolver.offset}/version`);
    expect(await version.json()).toEqual({ chain_core: "2.0.0", rpc: "the nodes of devnet" });
  }, 90_000);
});

if (databaseUrl !== "") {
  test("a second process that counts calls by itself is refused, and one that succeeds a killed one is not", async () => {
    await using schema = await newSchema(databaseUrl);
    const env = { ...environment, ROLES: "gateway", DATABASE_URL: schema.url };
    const first = await start(env, ports.gateway);
    const offset = { PORT_OFFSET: String(await freePortOffset()) };
    const second = await runSluice(["serve"], { directory: newDirectory(), env: { ...env, ...offset } });
    expect(second.code).toBe(1);
    expect(second.err).toContain("another process counts calls on this database");
    expect(second.err).toContain("REDIS_URL and CLICKHOUSE_URL");
    expect(second.err).not.toContain("    at ");
    expect((await fetch(`${first.url}/health`)).status).toBe(200);

    first.process.kill("SIGKILL");
    await first.process.exited;
    const third = await start(env, ports.gateway, first.directory);
    expect((await fetch(`${third.url}/health`)).status).toBe(200);
    // The planned replacement does not wait for anything.
    expect(await third.end()).toBe(0);
    const fourth = await start(env, ports.gateway, first.directory);
    expect(fourth.said()).not.toContain("waits to see");
  }, 180_000);
}

if (databaseUrl !== "" && redisUrl !== "") {
  test("a process on the database of another one, and on another Redis or ClickHouse, is refused by name", async () => {
    await using schema = await newSchema(databaseUrl);
    await using ledger = await startLedgerServer();
    await using another = await startLedgerServer();
    const redisOf = (database: number): string => Object.assign(new URL(redisUrl), { pathname: `/${database}` }).href;
    const stores = { DATABASE_URL: schema.url, CLICKHOUSE_URL: ledger.url, REDIS_URL: redisOf(14) };
    const env = { ...environment, ROLES: "gateway", ...stores };
    const first = await start(env, ports.gateway);
    const others = { REDIS_URL: redisOf(15), CLICKHOUSE_URL: another.url };
    for (const [name, url] of Object.entries(others)) {
      const offset = { PORT_OFFSET: String(await freePortOffset()) };
      const refused = await runSluice(["serve"], {
        directory: newDirectory(),
        env: { ...env, ...offset, [name]: url },
      });
      expect(refused.code).toBe(1);
      expect(refused.err).toContain("NOT_SHARED");
      expect(refused.err).toMatch(
        new RegExp(`${name} leads to a store with the id [0-9a-f]{32} here and with the id [0-9a-f]{32} there`),
      );
    }
    expect((await fetch(`${first.url}/health`)).status).toBe(200);
    const beside = await start(env, ports.gateway);
    expect((await fetch(`${beside.url}/health`)).status).toBe(200);
  }, 180_000);
}
