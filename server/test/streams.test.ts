import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type StreamServerMessage, streamServerMessage } from "@sluice/contract/schemas";
import { eventually } from "@sluice/lib/testing";
import { type Network, post, runSluice, startNetwork } from "./testing/network.ts";

setDefaultTimeout(240_000);

/** A busy machine is slow; nothing here is decided by time. */
const slowMs = 90_000;

let network: Network;
beforeAll(async () => {
  const env = { ROLES: "gateway,ingest,streams" };
  network = await startNetwork({ env, args: ["--traffic", "30", "--oracle", "off"] });
  const ready = new URL("/ready?role=streams", network.rpcUrl);
  await eventually("the log of the chain", async () => (await fetch(ready)).ok, slowMs);
}, 180_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 60_000);

async function sluice(...args: string[]) {
  const { code, out, err } = await runSluice([...args, "--json"], { directory: network.directory });
  if (code !== 0) throw new Error(`sluice ${args.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out);
}

type Of<Type extends StreamServerMessage["type"]> = Extract<StreamServerMessage, { type: Type }>;

/** A client with the WebSocket that browsers have. Every message that it gets is one of the contract's. */
class BrowserClient implements Disposable {
  readonly got: StreamServerMessage[] = [];
  closed: number | null = null;
  readonly #socket: WebSocket;

  constructor(key: string) {
    this.#socket = new WebSocket(`${network.dev.doors["ws"]}?api-key=${key}`);
    this.#socket.onmessage = ({ data }) => this.got.push(streamServerMessage.parse(JSON.parse(String(data))));
    this.#socket.onclose = ({ code }) => {
      this.closed = code;
    };
  }

  static async connect(key = network.dev.key): Promise<BrowserClient> {
    const client = new BrowserClient(key);
    await eventually("the connection", () => client.got.length > 0 || client.closed !== null, slowMs);
    return client;
  }

  of<Type extends StreamServerMessage["type"]>(type: Type): Of<Type>[] {
    return this.got.filter((message): message is Of<Type> => message.type === type);
  }

  async subscribe(channel: string, of: object = {}): Promise<Of<"subscribed">> {
    const before = this.of("subscribed").length;
    this.#socket.send(JSON.stringify({ action: "subscribe", channel, ...of }));
    return await eventually("the answer", () => this.of("subscribed")[before] ?? this.refused(), slowMs);
  }

  refused(): null {
    const [error] = this.of("error");
    if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
    return null;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

/** What is left of what a client was told, once what was undone is taken back. */
function standing(messages: readonly StreamServerMessage[]): Of<"transaction">[] {
  let left: Of<"transaction">[] = [];
  for (const message of messages) {
    if (message.type === "transaction") left.push(message);
    if (message.type === "undo") left = left.filter(({ data }) => data.blockhash !== message.blockhash);
  }
  return left;
}

/** The chain as the node has it: the signatures of the blocks of these slots, but votes. */
async function chainOf(from: number, to: number): Promise<string[]> {
  const call = async (method: string, ...params: unknown[]) =>
    (await post(network.rpcUrl, { jsonrpc: "2.0", id: 1, method, params })).body.result;
  const slots: number[] = await call("getBlocks", from, to, { commitment: "confirmed" });
  const signatures: string[] = [];
  for (const slot of slots) {
    const config = { commitment: "confirmed", maxSupportedTransactionVersion: 1, rewards: false };
    const { transactions } = await call("getBlock", slot, config);
    for (const { transaction } of transactions) {
      const { accountKeys, instructions } = transaction.message;
      const isVote = instructions.every(
        ({ programIdIndex }: { programIdIndex: number }) =>
          accountKeys[programIdIndex] === "Vote111111111111111111111111111111111111111",
      );
      if (!isVote) signatures.push(transaction.signatures[0]);
    }
  }
  return signatures;
}

const admin = async (method: string, ...params: unknown[]) => {
  const { body } = await post(network.dev.chainAdmin ?? "", { jsonrpc: "2.0", id: 1, method, params });
  if (body.error !== undefined) throw new Error(`${method}: ${body.error.message}`);
  return body.result;
};

test("what a browser is told of transactions equals the blocks of the node, also over a fork and over resumes", async () => {
  using first = await BrowserClient.connect();
  await first.subscribe("transactions");
  await eventually("traffic", () => first.of("transaction").length > 40, slowMs);
  const newest = (): number => first.of("transaction").at(-1)?.slot ?? 0;
  // On a busy machine the log may be behind the blocks that a fork abandons: then nobody was told them.
  for (let attempt = 0; attempt < 5 && first.of("undo").length === 0; attempt += 1) {
    await eventually("the head", async () => newest() + 3 >= (await chainSlot()), slowMs);
    const { openSlot } = await admin("devnet_fork", { depth: 8, landAgain: true, confirmed: true });
    await eventually("blocks after the fork", () => newest() > openSlot + 2, slowMs);
  }
  expect(first.of("undo")).not.toEqual([]);
  const told = standing(first.got);
  const [from, to] = [told[0]?.slot ?? 0, (told.at(-1)?.slot ?? 0) - 1];
  const whole = told.filter(({ slot }) => slot <= to).map(({ data }) => data.signature);
  expect(whole).toEqual(await chainOf(from, to));
  // At any of the cursors another connection goes on, also from within a block and from before the fork.
  const all = first.of("transaction");
  for (const at of [0, 1, Math.floor(all.length / 2), all.length - 2]) {
    const last = all[at];
    if (last === undefined) throw new Error("too few messages");
    const { cursor, slot } = last;
    using again = await BrowserClient.connect();
    await again.subscribe("transactions", { cursor });
    await eventually("the head", () => (again.of("transaction").at(-1)?.slot ?? 0) > to, slowMs);
    const before = first.got.slice(0, first.got.indexOf(last) + 1);
    const both = standing([...before, ...again.got]).filter((message) => message.slot <= to);
    expect([slot, both.map(({ data }) => data.signature)]).toEqual([slot, whole]);
  }
});

async function chainSlot(): Promise<number> {
  const { body } = await post(network.rpcUrl, { jsonrpc: "2.0", id: 1, method: "getSlot", params: [] });
  return body.result;
}

test("a key that is revoked is cut, with the reason", async () => {
  const account = await sluice("accounts", "create", "--name", "one", "--tier", "free");
  const made = await sluice("keys", "create", "--account", account.id, "--name", "first", "--environment", "dev");
  using client = await BrowserClient.connect(made.key);
  await client.subscribe("blocks");
  await sluice("keys", "revoke", made.id);
  await eventually("the cut", () => client.closed !== null, slowMs);
  expect([client.of("error").map(({ code }) => code), client.closed]).toEqual([["KEY_INACTIVE"], 4401]);
});

test("slots are told at each commitment, and the end tells where to go on", async () => {
  using client = await BrowserClient.connect();
  for (const commitment of ["processed", "confirmed", "finalized"]) {
    await client.subscribe("slots", { filters: { commitment } });
  }
  await eventually("slots", () => new Set(client.of("slot").map(({ data }) => data.status)).size === 3, slowMs);
  const { subscriptionId } = await client.subscribe("blocks");
  await eventually("a block", () => client.of("block").length > 0, slowMs);
  await network.end("SIGTERM");
  await eventually("the end", () => client.closed !== null, slowMs);
  const [draining] = client.of("draining");
  const found = draining?.subscriptions.find((each) => each.subscriptionId === subscriptionId);
  expect([client.closed, typeof found?.cursor]).toEqual([1001, "string"]);
});
