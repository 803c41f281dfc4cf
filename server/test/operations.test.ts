/**
 * What an operator does to a running gateway, from outside: signals, orders for nodes, a restart, the loss of a node.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { permissions } from "@sluice/contract/tiers";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { issueKey } from "../src/admin/index.ts";
import { openState } from "../src/state/index.ts";
import { type StubCall, StubNode } from "../src/upstreams/testing/stub-node.ts";
import { type Gateway, sluice, startGateway } from "./testing/gateway.ts";
import { post } from "./testing/network.ts";

const resources = new AsyncDisposableStack();
const answered = (label: string) => (call: StubCall) => `{"jsonrpc":"2.0","result":"${label}","id":${call.id}}`;
const nodeOf = (label: string): StubNode => resources.use(new StubNode(answered(label)));
const configured = (label: string, node: StubNode): string => `${label}=${node.url};ws=${node.ws}`;

let one: StubNode;
let other: StubNode;
let late: StubNode;
let environment: Record<string, string> = {};
let settings = "";
let gateway: Gateway;
let key = "";
/** A development key that came with the stores, as those of a machine that was a developer's before. */
let developmentKey = "";

/** Writes the file of settings: both nodes of devnet, and on testnet the late one when it is to be there. */
function configure({ isLateIn }: { readonly isLateIn: boolean }): void {
  const testnet = isLateIn ? `testnet = "${configured("late", late)}"\n` : "";
  writeFileSync(
    settings,
    `[upstreams]\ndevnet = "${configured("one", one)},${configured("other", other)}"\n${testnet}`,
  );
}

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-operations-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  [one, other, late] = [nodeOf("one"), nodeOf("other"), nodeOf("late")];
  settings = join(directory, "sluice.toml");
  configure({ isLateIn: false });
  environment = {
    SLUICE_CONFIG: settings,
    MASTER_KEY: "5e".repeat(32),
    NETWORK_DEFAULT: "devnet",
    ORACLE: "off",
    DRAIN_DELAY_MS: "3000",
    UNKNOWN_METHODS: "pass",
  };
  developmentKey = await plantDevelopmentKey(directory);
  gateway = await startGateway(directory, environment);
  const account = await sluice(gateway, environment, "accounts", "create", "--name", "operator", "--tier", "business");
  const of = ["--account", account.id, "--permission", "admin"];
  key = (await sluice(gateway, environment, "keys", "create", ...of)).key;
}, 90_000);

afterAll(async () => {
  await gateway?.end();
  await resources.disposeAsync();
}, 30_000);

async function plantDevelopmentKey(directory: string): Promise<string> {
  const dependencies = {
    clock: systemClock,
    random: systemRandom,
    log: { info: () => undefined, warn: () => undefined },
  };
  await using state = await openState({ directory: join(directory, "state"), databaseUrl: null }, dependencies);
  const { id: accountId } = await state.accounts.create({ name: "developer" });
  const { key: planted, record } = issueKey(
    {
      accountId,
      name: "development",
      environment: "dev",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      permissions: [...permissions],
      methods: [],
      enhanced: true,
      enhancedRequestsPerSecond: null,
      requestsPerSecond: null,
      expiresAt: null,
    },
    dependencies,
  );
  await state.keys.insert(record);
  return planted;
}

const call = (method: string) => ({ jsonrpc: "2.0", id: 1, method, params: [] });
/** A call that no earlier answer serves. */
const askAt = (network: string, method = "getLatestBlockhash") =>
  post(`${gateway.url}/rpc/${network}`, call(method), { "x-api-key": key });
const statusAt = async (network: string): Promise<number> => (await askAt(network)).status;
const order = (node: string, action: string) =>
  post(`${gateway.url}/api/v1/admin/upstreams/${node}/${action}`, "", { "x-api-key": key });

/** The labels that answer a number of calls. */
async function answering(network: string, calls = 12): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: calls }, () => askAt(network)));
  return [...new Set(answers.map(({ headers }) => headers.get("x-rpc-endpoint") ?? ""))].toSorted();
}

/** A PubSub client with one account subscription, and the nodes that were asked for it under numbers of their own. */
async function subscribe() {
  const asked: { label: string; notify: (text: string) => void }[] = [];
  for (const [label, node, number] of [
    ["one", one, 71],
    ["other", other, 4_000],
  ] as const) {
    node.onPubSub = (socket, text) => {
      socket.send(`{"jsonrpc":"2.0","result":${number},"id":${JSON.stringify(JSON.parse(text).id)}}`);
      const notify = (value: string): void => {
        const params = `{"subscription":${number},"result":{"context":{"slot":1},"value":"${value}"}}`;
        socket.send(`{"jsonrpc":"2.0","method":"accountNotification","params":${params}}`);
      };
      asked.push({ label, notify });
    };
  }
  const socket = new WebSocket(`${gateway.pubsubUrl}?api-key=${key}`);
  const received: { result?: number; params?: { subscription: number; result: { value: string } } }[] = [];
  const closes: number[] = [];
  socket.onmessage = ({ data }) => void received.push(JSON.parse(String(data)));
  socket.onclose = ({ code }) => void closes.push(code);
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  socket.send(JSON.stringify({ ...call("accountSubscribe"), params: ["11111111111111111111111111111111"] }));
  await eventually("the subscription", () => received.length === 1);
  return { socket, asked, received, closes, number: received[0]?.result };
}

test("serve writes records alone: when it is ready, with its addresses, and what to do while there is no account", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-first-start-"));
  const fresh = await startGateway(directory, { ...environment, DRAIN_DELAY_MS: "0" });
  await fresh.end();
  rmSync(directory, { recursive: true, force: true });
  const records = fresh
    .said()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { msg: string; endpoints?: Record<string, string>; next?: string });
  const ready = records.find(({ msg }) => msg === "server is ready");
  expect(ready?.endpoints).toMatchObject({ rpc: `${fresh.url}/rpc`, console: `${fresh.url}/` });
  expect(records.filter(({ msg }) => msg === "there is no account yet").map(({ next }) => next)).toEqual([
    "sluice accounts create --name <name>; sluice keys create --account <id>",
  ]);
}, 60_000);

test("a development key opens nothing, the socket for commands is the operator's alone, and unknown methods pass when the operator allows it", async () => {
  const development = { "x-api-key": developmentKey };
  expect((await post(gateway.url, call("getSlot"), development)).status).toBe(401);
  expect((await post(`${gateway.url}/api/v1/admin/reload`, "", development)).status).toBe(401);
  expect(statSync(join(gateway.directory, "sluice.sock")).mode & 0o777).toBe(0o600);
  expect((await askAt("devnet", "getMoon")).body).toMatchObject({ id: 1, result: expect.any(String) });
  const byName = { ...call("getStar"), params: { id: "x" } };
  const passed = await post(`${gateway.url}/rpc/devnet`, byName, { "x-api-key": key });
  expect(passed.body).toMatchObject({ id: 1, result: expect.any(String) });
  const asked = [one, other].flatMap(({ calls }) => calls.filter(({ method }) => method === "getStar"));
  expect(asked.map(({ params }) => params as unknown)).toEqual([{ id: "x" }]);
}, 30_000);

test("SIGHUP has the file read again: a call in flight is answered, a socket stays, and a faulty file changes nothing", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const inFlight = Promise.withResolvers<void>();
  for (const node of [one, other]) {
    node.answer = async (asked) => {
      if (asked.method === "getSupply") {
        inFlight.resolve();
        await held;
      }
      return answered("held")(asked);
    };
  }
  const client = await subscribe();
  const answer = askAt("devnet", "getSupply");
  await inFlight.promise;
  expect(await statusAt("testnet")).toBe(503);
  configure({ isLateIn: true });
  gateway.process.kill("SIGHUP");
  await eventually("the new node serves", async () => (await statusAt("testnet")) === 200);
  writeFileSync(settings, "[upstreams]\ncordon_slots = 0\n");
  gateway.process.kill("SIGHUP");
  await eventually("the fault is reported", () => gateway.said().includes("nothing was changed"));
  expect([await statusAt("devnet"), await statusAt("testnet")]).toEqual([200, 200]);
  letGo();
  expect((await answer).body.result).toBe("held");
  client.asked[0]?.notify("still here");
  await eventually("the socket's notice", () => client.received[1]?.params?.result.value === "still here");
  expect([client.closes, client.asked.length]).toEqual([[], 1]);
  client.socket.close();
}, 60_000);

test("a node that is added over REST serves at once, and the call that added it is counted", async () => {
  const added = nodeOf("added");
  expect(await statusAt("mainnet")).toBe(503);
  const wish = { network: "mainnet", label: "added", url: added.url, ws: added.ws };
  const { status, body } = await post(`${gateway.url}/api/v1/admin/upstreams`, wish, { "x-api-key": key });
  expect([status, body.origin, body.order]).toEqual([201, "run time", "open"]);
  await eventually("it serves", async () => (await statusAt("mainnet")) === 200);
  expect(await answering("mainnet", 3)).toEqual(["added"]);
  const series = 'endpoint="admin",network="",method="POST /api/v1/admin/upstreams",status="201"';
  expect(await gateway.metric("sluice_requests_total", series)).toBe(1);
}, 30_000);

test("SIGTERM notifies balancers first and goes on taking calls, then waits for one in flight; orders and added nodes hold after the restart", async () => {
  configure({ isLateIn: true });
  expect((await post(`${gateway.url}/api/v1/admin/reload`, "", { "x-api-key": key })).status).toBe(200);
  expect([(await order("devnet/one", "cordon")).status, (await order("testnet/late", "drain")).status]).toEqual([
    200, 200,
  ]);
  expect(await answering("devnet")).toEqual(["other"]);
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const inFlight = Promise.withResolvers<void>();
  other.answer = async (asked) => {
    inFlight.resolve();
    await held;
    return answered("held")(asked);
  };
  const answer = askAt("devnet");
  await inFlight.promise;
  const ending = gateway.end();
  const at = (path: string) => fetch(`${gateway.url}${path}`, { headers: { connection: "close" } });
  await eventually("the end is reported", async () => (await at("/ready")).status === 503);
  const health = await at("/health");
  expect([health.status, await health.json()]).toMatchObject([200, { status: "down", parts: { server: "down" } }]);
  expect(await statusAt("mainnet")).toBe(200);
  letGo();
  expect([(await answer).body.result, await ending]).toEqual(["held", 0]);
  gateway = await startGateway(gateway.directory, environment);
  const listed = await fetch(`${gateway.url}/api/v1/admin/upstreams`, { headers: { "x-api-key": key } });
  const { items } = (await listed.json()) as { items: { network: string; label: string; order: string }[] };
  expect(items.map((item) => `${item.network}/${item.label} ${item.order}`).toSorted()).toEqual([
    "devnet/one cordoned",
    "devnet/other open",
    "mainnet/added open",
    "testnet/late drained",
  ]);
  await eventually("the open node serves", async () => (await statusAt("devnet")) === 200);
  expect(await answering("devnet")).toEqual(["other"]);
  expect(await statusAt("testnet")).toBe(503);
  await eventually("the added node serves", async () => (await statusAt("mainnet")) === 200);
  await order("devnet/one", "uncordon");
  await order("testnet/late", "uncordon");
  await eventually("both serve again", async () => (await answering("devnet")).length === 2);
  await eventually("the drained one too", async () => (await statusAt("testnet")) === 200);
}, 90_000);

test("a PubSub client whose node is lost continues to receive from another, under the number that it knows", async () => {
  const client = await subscribe();
  const [first] = client.asked;
  first?.notify("from the first");
  await eventually("a notice", () => client.received.length === 2);
  (first?.label === "one" ? one : other)[Symbol.dispose]();
  await eventually("the subscription is made elsewhere", () => client.asked.length === 2);
  expect(client.asked[1]?.label).toBe(first?.label === "one" ? "other" : "one");
  client.asked[1]?.notify("from the second");
  await eventually("its notice", () => client.received.length === 3);
  expect(client.received.map(({ params }) => [params?.subscription, params?.result.value])).toEqual([
    [undefined, undefined],
    [client.number, "from the first"],
    [client.number, "from the second"],
  ]);
  expect(client.closes).toEqual([]);
  expect(await gateway.metric("sluice_pubsub_moved_total")).toBe(1);
  expect(await statusAt("devnet")).toBe(200);
  client.socket.close();
}, 60_000);
