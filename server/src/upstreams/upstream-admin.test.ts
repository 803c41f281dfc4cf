import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as schemas from "@sluice/contract/schemas";
import { ManualClock, seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { openState, type State } from "../state/index.ts";
import { UpstreamAdmin } from "./upstream-admin.ts";
import { createUpstreams, type Upstreams } from "./upstreams.ts";

const masterKey = "a7".repeat(32);
const secret = "token-of-the-provider";
const wish = schemas.upstreamCreate.parse({
  network: "devnet",
  label: "b",
  url: `https://node.example/${secret}?a=1,2;3`,
  headers: { "x-token": `${secret},;` },
  grpc: "https://node.example:10000",
  grpc_token: `${secret};,`,
  weight: 3,
});

let directory: string;
let state: State;
const resources: AsyncDisposableStack[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-upstream-admin-"));
  const dependencies = { clock: new ManualClock(5), random: seededRandom(1), log: { info: () => {}, warn: () => {} } };
  state = await openState({ directory, databaseUrl: null }, dependencies);
});
afterEach(async () => {
  for (const each of resources.splice(0)) await each.disposeAsync();
  await state[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

interface Process {
  readonly admin: UpstreamAdmin;
  readonly upstreams: Upstreams;
  readonly warnings: string[];
  notice(): void;
}

/** A process that is configured with node `a`; it receives nothing but what a test sends it. */
async function boot(key: string | null = masterKey): Promise<Process> {
  const stack = new AsyncDisposableStack();
  resources.push(stack);
  const node = (label: string) => ({
    label,
    url: "http://127.0.0.1:1/",
    ws: "ws://127.0.0.1:1/",
    headers: {},
    groups: ["read"] as const,
    weight: 1,
    requestsPerSecond: null,
  });
  const upstreams = stack.use(
    createUpstreams(
      { networks: { mainnet: [], devnet: [node("a")], testnet: [] } },
      { clock: systemClock, random: seededRandom(2), onSlot: () => undefined },
    ),
  );
  const warnings: string[] = [];
  const handlers: (() => void)[] = [];
  const admin = await UpstreamAdmin.open(
    { masterKey: key },
    {
      clock: systemClock,
      upstreams,
      state,
      random: seededRandom(3),
      log: { warn: (_fields: object, message: string) => void warnings.push(message) },
      hot: {
        publish: async () => undefined,
        subscribe: async (_channel, handler) => {
          handlers.push(() => handler("changed"));
          return { [Symbol.asyncDispose]: async () => undefined };
        },
      },
    },
  );
  stack.use(admin);
  const notice = (): void => {
    for (const handle of handlers) handle();
  };
  return { admin, upstreams, warnings, notice };
}

async function add({ admin }: Process): Promise<void> {
  const prepared = admin.prepare(wish);
  if (!prepared.ok) throw new Error("refused");
  expect(JSON.stringify(prepared.shown)).not.toContain(secret);
  expect(await state.upstreamNodes.add(prepared.node)).toBe(true);
  await admin.follow();
}

const shown = ({ admin }: Process) => admin.list().map(({ label, origin, order }) => [label, origin, order]);

const untilShown = (process: Process, expected: ReturnType<typeof shown>): Promise<boolean> =>
  eventually(`shown are ${JSON.stringify(expected)}`, () => Bun.deepEquals(shown(process), expected));

const both = (order: string) => [
  ["a", "configuration", "open"],
  ["b", "run time", order],
];

test("what one process adds, orders and removes is followed by another without any notice, and at once by one", async () => {
  const [one, other] = [await boot(), await boot()];
  await add(one);
  expect(shown(one)).toEqual(both("open"));
  await untilShown(other, both("open"));
  await state.upstreamOrders.set({ network: "devnet", label: "b", order: "cordoned" });
  other.notice();
  await untilShown(other, both("cordoned"));
  await state.upstreamNodes.remove("devnet", "b");
  await untilShown(other, [["a", "configuration", "open"]]);
});

test("a node that was added is there after a restart with all that it was, and lies sealed in the store", async () => {
  const before = await boot();
  await add(before);
  const options = before.upstreams.nodes()[1]?.options;
  await resources.splice(0)[0]?.disposeAsync();
  const after = await boot();
  expect(after.upstreams.nodes()[1]?.options).toEqual(options as NonNullable<typeof options>);
  expect(options).toMatchObject({ weight: 3, headers: { "x-token": `${secret},;` } });
  expect(options?.yellowstone).toEqual({ url: "https://node.example:10000/", token: `${secret};,` });
  const [, added] = after.admin.list();
  expect([added?.grpc, JSON.stringify(added).includes(secret)]).toEqual(["https://node.example:10000", false]);
  const [stored] = await state.upstreamNodes.list();
  expect(Buffer.from(stored?.options ?? []).includes(secret)).toBe(false);
});

test("a node that this master key did not seal is left out and reported once; the others serve", async () => {
  await add(await boot());
  const other = await boot("5e".repeat(32));
  await other.admin.recall();
  expect(shown(other)).toEqual([["a", "configuration", "open"]]);
  expect(other.warnings).toEqual(["an added node cannot be read with this master key and is left out"]);
});

test("what cannot be read from state changes nothing, and is reported once for as long as it lasts", async () => {
  const process = await boot();
  await add(process);
  const list = state.upstreamNodes.list.bind(state.upstreamNodes);
  state.upstreamNodes.list = () => Promise.reject(new Error("away"));
  await process.admin.recall();
  await process.admin.recall();
  expect([shown(process), process.warnings.length]).toEqual([both("open"), 1]);
  state.upstreamNodes.list = list;
});

test("a label that is taken, what is no node, and one too many are refused", async () => {
  const { admin, upstreams } = await boot();
  expect(admin.prepare({ ...wish, label: "a" })).toEqual({ ok: false, reason: "taken" });
  expect(admin.prepare({ ...wish, label: "a b" })).toMatchObject({ expected: expect.stringContaining("label") });
  expect(admin.prepare({ ...wish, grpc: undefined })).toMatchObject({ expected: "grpc beside grpc_token" });
  expect(admin.prepare({ ...wish, grpc: "ftp://x" })).toMatchObject({ reason: "invalid" });
  expect(admin.prepare({ ...wish, url: "ftp://x" })).toMatchObject({ expected: expect.stringContaining("http") });
  const [{ options } = { options: null }] = upstreams.nodes();
  if (options === null) throw new Error("no node");
  const many = Array.from({ length: 63 }, (_, index) => ({ ...options, label: `n${index}` }));
  upstreams.reconcileAdded(many.map((each) => ({ network: "devnet", options: each })));
  expect(admin.prepare(wish)).toEqual({ ok: false, reason: "invalid", expected: "at most 64 nodes of a network" });
});
