/**
 * Every kind of subscription: whether a client of the gateway is told what a client of the node is told, byte for
 * byte, and what unmodified clients are told while nodes are lost and come back.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { address, createSolanaRpcSubscriptions_UNSTABLE } from "@solana/kit";
import { Connection, Keypair, LAMPORTS_PER_SOL } from "@solana/web3.js";
import { type FaultyChain, startFaultyChain } from "./testing/chain.ts";
import { type CutProxy, startCutProxy } from "./testing/cut-proxy.ts";
import { type Network, post, startNetwork } from "./testing/network.ts";
import { compared, settled, slotsMin, subscriptions } from "./testing/pubsub-differences.ts";
import { PubSubRecorder } from "./testing/pubsub-recorder.ts";

setDefaultTimeout(120_000);

const systemProgram = "11111111111111111111111111111111";
const clock = "SysvarC1ock11111111111111111111111111111111";

let chain: FaultyChain;
/** Two ways to the chain, as two nodes of it. */
const ways: CutProxy[][] = [];
let network: Network;
beforeAll(async () => {
  chain = await startFaultyChain("--slot-ms", "300", "--finalized-after", "8", "--traffic", "12");
  for (let way = 0; way < 2; way += 1) {
    const port = (url: string): number => Number(new URL(url).port);
    const proxies = [chain.rpc, chain.ws].map((url) => startCutProxy({ host: "127.0.0.1", port: port(url) }));
    ways.push(await Promise.all(proxies));
  }
  const nodes = ways.map(([rpc, ws], way) => `n${way}=http://127.0.0.1:${rpc?.port};ws=ws://127.0.0.1:${ws?.port}`);
  network = await startNetwork({
    env: { UPSTREAMS_DEVNET: nodes.join(","), ROLES: "gateway,ingest,streams" },
    args: ["--oracle", "off"],
  });
  await eventually("both nodes serve", async () => (await nodesIn()) === ways.length, 30_000);
  await eventually("blocks of the log near the head", blocksAreNear, 60_000);
}, 180_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  for (const proxy of ways.flat()) await proxy[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
}, 30_000);

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${network.dev.doors["metrics"]}`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

/** Loses one node after the other. */
async function loseEachNode(whileLost: () => Promise<void>): Promise<void> {
  for (const proxies of ways) {
    await eventually("both nodes serve", async () => (await nodesIn()) === ways.length, 60_000);
    for (const proxy of proxies) proxy.cut();
    await whileLost();
    for (const proxy of proxies) proxy.heal();
  }
}

/** Whether what blocks say is told from the log: it has blocks of every stage, near those of the nodes. */
async function blocksAreNear(): Promise<boolean> {
  using client = await PubSubRecorder.open(network.webSocketUrl);
  for (const commitment of settled) await client.subscribe("logsSubscribe", ["all", { commitment }]);
  const isNear = (await metric("sluice_pubsub_node_subscriptions")) === 0;
  client[Symbol.dispose]();
  await nothingIsLeft();
  return isNear;
}

const nothingIsLeft = (): Promise<unknown> =>
  eventually("nothing is left", async () => (await metric("sluice_pubsub_subscriptions")) === 0, 60_000);

async function nodesIn(): Promise<number> {
  return await metric("sluice_upstream_healthy");
}

/** A client with every kind of subscription that it has. */
interface Watcher {
  /** Whether every kind has been told something since the last call. */
  goesOn(): boolean;
  close(): Promise<void>;
}

/** Counts of notifications by kind, of kinds that are all to be told. */
class Counts {
  readonly #kinds: readonly string[];
  readonly #counts = new Map<string, number>();
  #before = new Map<string, number>();

  constructor(kinds: readonly string[]) {
    this.#kinds = kinds;
  }

  add(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  goesOn(): boolean {
    const all = this.#kinds.every((kind) => (this.#counts.get(kind) ?? 0) > (this.#before.get(kind) ?? 0));
    if (all) this.#before = new Map(this.#counts);
    return all;
  }
}

/** web3.js 1.x with one account that a test funds, and the roots that it was told. */
function watchWithWeb3(
  roots: number[],
  lamports: number[],
  keypair: Keypair,
): Watcher & { readonly connection: Connection } {
  const connection = new Connection(network.rpcUrl, { commitment: "confirmed", wsEndpoint: network.webSocketUrl });
  const counts = new Counts(["logs", "slot", "slotUpdate"]);
  connection.onAccountChange(keypair.publicKey, ({ lamports: now }) => void lamports.push(now));
  connection.onProgramAccountChange(keypair.publicKey, () => counts.add("program"));
  connection.onLogs("all", () => counts.add("logs"));
  connection.onSlotChange(() => counts.add("slot"));
  connection.onRootChange((root) => void roots.push(root));
  connection.onSlotUpdate(() => counts.add("slotUpdate"));
  return {
    connection,
    goesOn: () => counts.goesOn(),
    close: async () => Reflect.get(connection, "_rpcWebSocket").close(),
  };
}

type ToldBlock = { readonly slot: bigint; readonly parentSlot: bigint };

/** kit 8 with every kind, and the blocks that it was told. */
function watchWithKit(blocks: ToldBlock[]): Watcher {
  const subscriptions = createSolanaRpcSubscriptions_UNSTABLE(network.webSocketUrl);
  const stop = new AbortController();
  const options = { abortSignal: stop.signal };
  const counts = new Counts(["block", "account", "program", "logs", "slot", "root", "slotsUpdates", "vote"]);
  const count = async (kind: string, source: Promise<AsyncIterable<unknown>>): Promise<void> => {
    for await (const _ of await source) counts.add(kind);
  };
  const form = { commitment: "confirmed", transactionDetails: "none", maxSupportedTransactionVersion: 0 } as const;
  const read = async (): Promise<void> => {
    for await (const { value } of await subscriptions.blockNotifications("all", form).subscribe(options)) {
      counts.add("block");
      if (value.block !== null) blocks.push({ slot: value.slot, parentSlot: value.block.parentSlot });
    }
  };
  const reading = [
    read(),
    count("account", subscriptions.accountNotifications(address(clock)).subscribe(options)),
    count("program", subscriptions.programNotifications(address(systemProgram)).subscribe(options)),
    count("logs", subscriptions.logsNotifications("all").subscribe(options)),
    count("slot", subscriptions.slotNotifications().subscribe(options)),
    count("root", subscriptions.rootNotifications().subscribe(options)),
    count("slotsUpdates", subscriptions.slotsUpdatesNotifications().subscribe(options)),
    count("vote", subscriptions.voteNotifications().subscribe(options)),
  ];
  return {
    goesOn: () => counts.goesOn(),
    close: async () => {
      stop.abort();
      await Promise.all(reading);
    },
  };
}

test("every subscription is told what the node tells, byte for byte and in its order", async () => {
  using node = await PubSubRecorder.open(chain.ws);
  using client = await PubSubRecorder.open(network.webSocketUrl);
  const pairs: { readonly name: string; readonly own: readonly string[]; readonly shared: readonly string[] }[] = [];
  for (const [method, params] of subscriptions) {
    const [own, shared] = [await node.subscribe(method, params), await client.subscribe(method, params)];
    pairs.push({ name: `${method} ${JSON.stringify(params)}`, own, shared });
  }
  // What the one was told earlier or later than the other is compared by nobody.
  const report = await eventually(
    "notifications of everything",
    () => {
      const found = pairs.map(({ name, own, shared }) => compared(name, own, shared));
      return found.every(({ slots }) => slots >= slotsMin) ? found : null;
    },
    90_000,
  );
  expect(report.filter(({ difference }) => difference !== null)).toEqual([]);
  // What blocks say is not asked of the node.
  const ofBlocks = /^root|^block|^logs.*(confirmed|finalized)/;
  const asked = subscriptions.filter(([method, params]) => !ofBlocks.test(`${method} ${JSON.stringify(params)}`));
  expect(await metric("sluice_pubsub_subscriptions")).toBe(subscriptions.length);
  expect(await metric("sluice_pubsub_node_subscriptions")).toBe(asked.length);
  expect(await metric("sluice_pubsub_node_connections")).toBe(1);
  node[Symbol.dispose]();
  client[Symbol.dispose]();
  await nothingIsLeft();
});

test("web3.js and kit receive every kind while each node is lost: no root or block is missing, accounts tell their final state", async () => {
  const closed = await metric("sluice_pubsub_closed_total");
  const [roots, lamports, blocks]: [number[], number[], ToldBlock[]] = [[], [], []];
  const keypair = Keypair.generate();
  const { connection, ...web3 } = watchWithWeb3(roots, lamports, keypair);
  const watchers = [web3, watchWithKit(blocks)];
  const allGoOn = (): Promise<unknown> =>
    Promise.all(watchers.map((each) => eventually("every kind goes on", () => each.goesOn(), 60_000)));
  await allGoOn();
  let funded = 0;
  await loseEachNode(async () => {
    await allGoOn();
    funded += LAMPORTS_PER_SOL;
    const params = [keypair.publicKey.toBase58(), LAMPORTS_PER_SOL];
    const { body } = await post(chain.rpc, { jsonrpc: "2.0", id: 1, method: "requestAirdrop", params });
    await new Promise<void>((resolve) => connection.onSignature(body.result, () => resolve(), "confirmed"));
    await eventually("the account's state", () => lamports.at(-1) === funded, 30_000);
  });
  expect(await metric("sluice_pubsub_closed_total")).toBe(closed);
  for (const watcher of watchers) await watcher.close();
  // Every slot of this chain has a block, so that roots follow one another.
  expect(roots.slice(1).every((root, index) => root === (roots[index] ?? 0) + 1)).toBe(true);
  expect(blocks.slice(1).every(({ parentSlot }, index) => parentSlot === blocks[index]?.slot)).toBe(true);
  expect(lamports).toEqual(lamports.toSorted((one, other) => one - other));
});

test("a thousand equal subscriptions are one at the node, floods leave none behind, and stalled clients stall nobody", async () => {
  const clients = await Promise.all(Array.from({ length: 40 }, () => PubSubRecorder.open(network.webSocketUrl)));
  await nothingIsLeft();
  const told = await Promise.all(
    clients.flatMap((client) => Array.from({ length: 25 }, () => client.subscribe("accountSubscribe", [clock]))),
  );
  expect(await metric("sluice_pubsub_node_subscriptions")).toBe(1);
  // Every tenth client reads nothing any more.
  for (const client of clients.filter((_, index) => index % 10 === 0)) client.stall();
  const [first] = told.slice(25);
  const had = first?.length ?? 0;
  await eventually("notifications", () => (first?.length ?? 0) > had + 3, 30_000);
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(
      clients.slice(1, 9).map(async (client, index) => {
        const keys = Array.from({ length: 5 }, (_, each) => [
          clock,
          { commitment: "processed", minContextSlot: index * 5 + each },
        ]);
        const numbers = await Promise.all(keys.map((params) => client.number("accountSubscribe", params)));
        await Promise.all(numbers.map((number) => client.number("accountUnsubscribe", [number])));
      }),
    );
  }
  for (const client of clients) client[Symbol.dispose]();
  await nothingIsLeft();
  expect(await metric("sluice_pubsub_node_subscriptions")).toBe(0);
});
