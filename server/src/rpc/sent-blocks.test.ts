import { expect, test } from "bun:test";
import { packBlock } from "@sluice/encode";
import { ManualClock } from "@sluice/lib";
import { addressOfBytes, type Slot, signatureOfBytes } from "@sluice/wire/identifiers";
import { encodeTransaction } from "@sluice/wire/transaction";
import type { BlockHeader, ChainIdentity, Follower, LogEvent } from "../log/index.ts";
import { openMemoryLog } from "../log/testing/memory-log.ts";
import type { NodeAnswer, UpstreamCall, UpstreamOutcome } from "../upstreams/index.ts";
import { SentBlocks } from "./sent-blocks.ts";
import { SentTransactions } from "./sent-transactions.ts";

const bytes32 = (...parts: readonly number[]): Uint8Array => Uint8Array.from({ length: 32 }, (_, at) => parts[at] ?? 9);
const hashOf = (slot: number, fork = 0): string => addressOfBytes(bytes32(slot % 256, slot >> 8, fork));
const chain: ChainIdentity = { genesisHash: hashOf(0), firstBlockhash: null };
const signatureBytes = (number: number): Uint8Array =>
  Uint8Array.from({ length: 64 }, (_, at) => (at < 2 ? number + at : 7));
const signatureOf = (number: number): string => signatureOfBytes(signatureBytes(number));

interface Landed {
  readonly number: number;
  readonly fails?: boolean;
  readonly isUnknown?: boolean;
}

const transactionOf = ({ number, fails = false, isUnknown = false }: Landed) => ({
  signature: signatureOf(number),
  bytes: encodeTransaction({
    signatures: [signatureBytes(number)],
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 0,
      staticKeys: [bytes32(1), bytes32(2)],
      blockhash: bytes32(3),
      instructions: [{ programIndex: 1, accountIndexes: [], data: new Uint8Array(0) }],
    },
  }),
  meta: isUnknown
    ? null
    : {
        error: fails ? ("AccountNotFound" as const) : null,
        fee: 5_000n,
        preBalances: [1n, 1n],
        postBalances: [1n, 1n],
        preTokenBalances: null,
        postTokenBalances: null,
        innerInstructions: null,
        logs: null,
        loadedAddresses: { writable: [], readonly: [] },
        returnData: null,
        computeUnitsConsumed: null,
        costUnits: null,
      },
});

/** What was sent over a flow that a test writes, and a node whose calls are counted. */
async function world() {
  const { log } = await openMemoryLog(chain);
  const clock = new ManualClock(1_800_000_000_000);
  const node = { confirmed: null as bigint | null, calls: [] as string[], status: "null" };
  const settled: string[] = [];
  const failures: unknown[] = [];
  const answered = (result: string): UpstreamOutcome => ({ ok: true, latencyMs: 1, answer: answerOf(result) });
  const pool = {
    slotOf: () => node.confirmed,
    call: async ({ method, params }: UpstreamCall): Promise<UpstreamOutcome> => {
      node.calls.push(method);
      if (method === "getBlockHeight") return answered("100");
      if (method === "sendTransaction") return answered('"ok"');
      const { length } = JSON.parse(params ?? "")[0];
      return answered(`{"context":{"slot":1},"value":[${Array(length).fill(node.status).join(",")}]}`);
    },
  };
  const sent = new SentTransactions({
    clock,
    pool: () => pool,
    settled: (_network, state) => void settled.push(state),
    followFailed: (_network, error) => void failures.push(error),
  });
  sent.follow((network) => (network === "devnet" ? log : null));
  const headerAt = (slot: number, parent: number, fork: number, parentFork: number): BlockHeader => ({
    chain,
    slot: BigInt(slot) as Slot,
    blockhash: hashOf(slot, fork),
    parentSlot: BigInt(parent) as Slot,
    parentBlockhash: hashOf(parent, parentFork),
    blockTime: 1_800_000_000n,
    height: BigInt(slot),
    transactions: 1,
  });
  /** Followers are told in turns of the event loop. */
  const told = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const block = async (slot: number, landed: readonly Landed[] = [], { parent = slot - 1, fork = 0 } = {}) => {
    const header = headerAt(slot, parent, fork, 0);
    const { blockhash, parentSlot, parentBlockhash, blockTime, height } = header;
    const body = packBlock({
      slot: header.slot,
      parentSlot,
      blockhash,
      previousBlockhash: parentBlockhash,
      blockTime,
      blockHeight: height,
      rewards: [],
      transactions: landed.map(transactionOf),
    });
    await log.append({ kind: "block", header, stage: "confirmed", body });
    node.confirmed = header.slot;
    await told();
  };
  const finalize = async (slot: number): Promise<void> => {
    await log.append({ kind: "stage", header: headerAt(slot, slot - 1, 0, 0), stage: "finalized" });
    await told();
  };
  const send = (number: number, network: "devnet" | "testnet" = "devnet", config: object = {}): void =>
    sent.taken({ network, keyId: "key" }, JSON.stringify(["AAAA", config]), `{"result":"${signatureOf(number)}"}`);
  const states = () => Object.fromEntries(sent.of("key", 100).map((each) => [each.signature, each]));
  const stateOf = (number: number) => states()[signatureOf(number)];
  const pass = async (times = 1): Promise<void> => {
    for (let round = 0; round < times; round += 1) {
      clock.advance(2_000);
      await sent.check();
    }
  };
  const end = async (): Promise<void> => {
    sent[Symbol.dispose]();
    await log[Symbol.asyncDispose]();
  };
  return { log, node, settled, failures, block, finalize, send, stateOf, pass, told, [Symbol.asyncDispose]: end };
}

function answerOf(result: string): NodeAnswer {
  return {
    label: "a",
    body: { kind: "text", head: `{"jsonrpc":"2.0","result":${result},"id":`, tail: "}" },
    sizeBytes: 10,
    errorCode: null,
    isNull: false,
    contextSlot: null,
    number: null,
  };
}

test("blocks that this process has say what became of it, and no node is asked", async () => {
  await using followed = await world();
  const { block, finalize, send, stateOf, pass, node, settled } = followed;
  await block(100);
  send(1);
  send(2);
  send(3, "devnet", { maxRetries: 5 });
  await block(101, [{ number: 1 }, { number: 2, fails: true }]);
  expect([stateOf(1), stateOf(2), stateOf(3)]).toMatchObject([
    { state: "confirmed", slot: 101n },
    { state: "failed", slot: 101n },
    { state: "sent", slot: null },
  ]);
  await pass(2);
  await finalize(101);
  await block(102);
  await block(103);
  await pass();
  expect(stateOf(1)).toMatchObject({ state: "finalized" });
  expect(settled).toEqual(["failed", "finalized"]);
  // It goes out again as before.
  expect(node.calls).toEqual(["sendTransaction", "sendTransaction", "sendTransaction"]);
});

test("what a fork has left is sent again, and what lands again is confirmed there", async () => {
  await using followed = await world();
  const { block, send, stateOf, pass } = followed;
  await block(100);
  send(1, "devnet", { maxRetries: 9 });
  await block(101, [{ number: 1 }]);
  await pass();
  expect(stateOf(1)).toMatchObject({ state: "confirmed", resends: 0 });
  await block(102, [], { parent: 100, fork: 1 });
  expect(stateOf(1)).toMatchObject({ state: "sent", slot: null });
  await pass();
  expect(stateOf(1)).toMatchObject({ resends: 1 });
  await block(103, [{ number: 1 }], { parent: 100 });
  expect(stateOf(1)).toMatchObject({ state: "confirmed", slot: 103n });
});

test("a block that was told before its sender was answered is found", async () => {
  await using followed = await world();
  const { block, send, stateOf } = followed;
  await block(100);
  await block(101, [{ number: 1 }]);
  send(2);
  await followed.told();
  send(1);
  expect(stateOf(1)).toMatchObject({ state: "confirmed", slot: 101n });
});

test("one that is in none of the blocks is looked for once at nodes before it is given up", async () => {
  await using followed = await world();
  const { block, send, stateOf, pass, node } = followed;
  await block(100);
  send(1);
  send(2);
  await followed.told();
  await pass();
  for (let slot = 101; slot <= 251; slot += 1) await block(slot, slot === 120 ? [{ number: 2, isUnknown: true }] : []);
  expect([stateOf(1)?.state, node.calls]).toEqual(["sent", []]);
  node.status = '{"slot":7,"err":null,"confirmationStatus":"finalized"}';
  await pass();
  // Both had landed: one long before, the other in a block whose node has not kept what became of it.
  expect([stateOf(1), stateOf(2)]).toMatchObject([
    { state: "finalized", slot: 7n },
    { state: "finalized", slot: 7n },
  ]);
  expect(node.calls).toEqual(["getSignatureStatuses"]);
  node.status = "null";
  send(3);
  await block(252);
  await pass();
  for (let slot = 253; slot <= 403; slot += 1) await block(slot);
  await pass();
  expect(stateOf(3)).toMatchObject({ state: "expired", slot: null });
});

test("nodes are asked where no flow is, where it is behind, and where it has ended", async () => {
  await using followed = await world();
  const { block, send, stateOf, pass, node, log } = followed;
  await block(100);
  send(1, "testnet");
  await pass();
  expect(node.calls.splice(0)).toEqual(["getBlockHeight", "getSignatureStatuses"]);
  send(2);
  await block(101);
  await pass();
  expect(node.calls.splice(0)).toEqual(["getBlockHeight", "getSignatureStatuses"]);
  node.confirmed = 118n;
  await pass();
  expect(node.calls.splice(0)).toHaveLength(4);
  await block(119, [], { parent: 101 });
  await pass();
  expect(node.calls.splice(0)).toHaveLength(2);
  await log[Symbol.asyncDispose]();
  node.status = '{"slot":7,"err":null,"confirmationStatus":"finalized"}';
  await pass();
  expect(node.calls.splice(0)).toHaveLength(4);
  expect(stateOf(2)).toMatchObject({ state: "finalized" });
  expect(followed.failures).not.toEqual([]);
});

test("an undo that goes far back undoes every block that was told since", async () => {
  const body = packBlock({
    slot: 1n,
    blockhash: hashOf(1),
    parentSlot: 0n,
    previousBlockhash: hashOf(0),
    blockTime: null,
    blockHeight: null,
    transactions: [],
    rewards: [],
  });
  const header = (slot: number): BlockHeader => ({
    chain,
    slot: BigInt(slot) as Slot,
    blockhash: hashOf(slot),
    parentSlot: BigInt(slot - 1) as Slot,
    parentBlockhash: hashOf(slot - 1),
    blockTime: null,
    height: null,
    transactions: 0,
  });
  const block = (slot: number): LogEvent => {
    return { type: "block", header: header(slot), stage: "confirmed", body, skip: 0, cursor: "" };
  };
  const events = [...[5, 6, 7, 8].map(block), { type: "undo", undo: header(8), back: header(5), cursor: "" } as const];
  const follower = (async function* () {
    yield* events;
  })() as unknown as Follower;
  const undone: string[] = [];
  const ended = Promise.withResolvers<void>();
  using blocks = new SentBlocks({
    flow: () => ({ latest: () => null, follow: () => ({ ok: true, follower }) }),
    receiver: {
      block: () => undefined,
      finalized: () => undefined,
      failed: (error) => ended.reject(error),
      undone: (blockhash) => {
        undone.push(blockhash);
        if (undone.length === 3) ended.resolve();
      },
    },
  });
  blocks.start();
  await ended.promise;
  expect(undone).toEqual([8, 7, 6].map((slot) => hashOf(slot)));
});
