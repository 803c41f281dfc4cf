/**
 * Roles in processes of their own over one database and one log, and a network that gets its first node while they run:
 * its blocks are read, told and delivered from then on.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { natsBinary, startNats } from "../src/log/testing/nats-servers.ts";
import { newSchema } from "../src/state/testing/schema.ts";
import { startFaultyChain } from "./testing/chain.ts";
import { type Gateway, sluice, startGateway } from "./testing/gateway.ts";
import { startLedgerServer } from "./testing/ledger-server.ts";
import { startStubNode } from "./testing/stub-node.ts";

setDefaultTimeout(240_000);

/** A busy machine is slow; nothing here is decided by time. */
const slowMs = 120_000;

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const redisUrl = Bun.env["REDIS_URL"] ?? "";
const canRun = databaseUrl !== "" && redisUrl !== "" && natsBinary !== null;
if (!canRun)
  console.warn("NOT RUN: roles apart over one log (DATABASE_URL or REDIS_URL is not set, or there is no nats-server)");

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync(), 60_000);

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-first-node-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function start(env: Record<string, string>, port: number): Promise<Gateway> {
  const started = await startGateway(newDirectory(), env, { port });
  resources.defer(async () => void (await started.end()));
  return started;
}

test.skipIf(!canRun)("a network that gets its first node at run time is read, told and delivered", async () => {
  const schema = resources.use(await newSchema(databaseUrl));
  const ledger = resources.use(await startLedgerServer());
  const [nats] = await startNats(newDirectory(), 1);
  resources.defer(() => nats?.kill());
  const chain = resources.use(await startFaultyChain("--traffic", "10", "--slot-ms", "200", "--grpc-port", "0"));
  const stub = startStubNode();
  resources.defer(() => stub.stop(true));
  const environment = {
    MASTER_KEY: "5e".repeat(32),
    BIND: "127.0.0.1",
    NETWORK_DEFAULT: "testnet",
    GENESIS_ALLOW_UNKNOWN: "stub,first",
    UPSTREAMS_TESTNET: `stub=http://127.0.0.1:${stub.port};ws=ws://127.0.0.1:${stub.port}`,
    DATABASE_URL: schema.url,
    REDIS_URL: Object.assign(new URL(redisUrl), { pathname: `/${1 + Math.floor(Math.random() * 15)}` }).href,
    CLICKHOUSE_URL: ledger.url,
    LOG_URL: `nats://127.0.0.1:${nats?.port}`,
    WEBHOOK_ALLOW_HTTP: "1",
    WEBHOOK_ALLOW_PRIVATE_CIDRS: "127.0.0.0/8",
  };
  const [gateway, streams, webhooks] = await Promise.all([
    start({ ...environment, ROLES: "gateway,ingest" }, 8899),
    start({ ...environment, ROLES: "streams" }, 8899),
    start({ ...environment, ROLES: "webhooks" }, 9464),
  ]);
  const account = await sluice(gateway, environment, "accounts", "create", "--name", "one", "--tier", "enterprise");
  const rights = ["--permission", "read", "--permission", "webhooks:write"];
  const made = ["keys", "create", "--account", account.id, "--name", "k", ...rights];
  const { key } = await sluice(gateway, environment, ...made);
  const events = new URL("/api/v1/webhooks?network=devnet", gateway.url);
  const received: { readonly network: string; readonly event: string }[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      received.push(await request.json());
      return new Response(null, { status: 204 });
    },
  });
  resources.defer(() => receiver.stop(true));
  const create = async (): Promise<number> => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    const response = await fetch(events, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify({ url, events: ["block.confirmed"], network: "devnet" }),
    });
    return response.status;
  };
  expect(await create()).toBe(400);

  const { rpc, ws, grpc } = chain;
  const where = ["--ws", ws, "--grpc", grpc ?? ""];
  await sluice(gateway, environment, "upstreams", "add", "devnet", "first", rpc, ...where);
  await eventually("a webhook is taken", async () => (await create()) === 201, slowMs);

  const told: { readonly type: string }[] = [];
  let socket: WebSocket | null = null;
  resources.defer(() => socket?.close());
  await eventually(
    "a stream of slots",
    async () => {
      if (told.some(({ type }) => type === "slot")) return true;
      if (socket !== null && socket.readyState <= WebSocket.OPEN) return false;
      const opened = new WebSocket(`${streams.url.replace("http", "ws")}/ws?network=devnet&api-key=${key}`);
      socket = opened;
      opened.onopen = () => opened.send(JSON.stringify({ action: "subscribe", channel: "slots" }));
      opened.onmessage = ({ data }) => {
        const message = JSON.parse(String(data));
        told.push(message);
        if (message.type === "error") opened.close();
      };
      await Bun.sleep(500);
      return false;
    },
    slowMs,
  );
  await eventually("a delivery", () => received.some(({ event }) => event === "block.confirmed"), slowMs);
  expect(received.every(({ network }) => network === "devnet")).toBe(true);
  const ready = await fetch(`http://127.0.0.1:${9464 + webhooks.offset}/ready?role=webhooks`);
  expect(ready.status).toBe(200);
  const status = await sluice(gateway, environment, "ingest", "status");
  const devnet = status.networks.find(({ network }: { network: string }) => network === "devnet");
  const sources = devnet.sources.filter(({ kind }: { kind: string }) => kind === "yellowstone");
  expect(sources).toMatchObject([{ up: true }]);
});
