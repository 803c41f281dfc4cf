import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { NodeAnswer, UpstreamCall, UpstreamOutcome } from "../upstreams/index.ts";
import { SentTransactions } from "./sent-transactions.ts";

const signature = "5".repeat(88);

/** A chain that says what a test instructs it to, and keeps what it was sent. */
function fakeChain() {
  const chain = {
    clock: new ManualClock(1_800_000_000_000),
    height: 1_000,
    status: "null",
    reachable: true,
    /** How the last question for statuses was put. */
    asked: "",
    sends: [] as string[],
    settled: [] as string[],
  };
  const answer = (result: string): UpstreamOutcome => ({ ok: true, latencyMs: 1, answer: nodeAnswer(result) });
  const pool = {
    call: async ({ method, params }: UpstreamCall): Promise<UpstreamOutcome> => {
      if (!chain.reachable) return { ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false };
      if (method === "getBlockHeight") return answer(`${chain.height}`);
      if (method === "getSignatureStatuses") {
        chain.asked = params ?? "";
        return answer(`{"context":{"slot":1},"value":[${chain.status}]}`);
      }
      chain.sends.push(params ?? "");
      return answer(`"${signature}"`);
    },
  };
  const sent = new SentTransactions({
    clock: chain.clock,
    pool: () => pool,
    settled: (_network, state) => void chain.settled.push(state),
  });
  return { chain, sent };
}

function nodeAnswer(result: string): NodeAnswer {
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

const status = (confirmation: string, err = "null") =>
  `{"slot":77,"confirmations":1,"err":${err},"status":{"Ok":null},"confirmationStatus":"${confirmation}"}`;

const by = { network: "devnet", keyId: "key" } as const;
const taken = `{"jsonrpc":"2.0","result":"${signature}","id":1}`;
const params = (config: object) => JSON.stringify(["AAAA", config]);

async function pass(world: ReturnType<typeof fakeChain>, times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    world.chain.clock.advance(2_000);
    await world.sent.check();
  }
}

test("with maxRetries it goes out again every two seconds, at most that often, without preflight", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({ maxRetries: 3, encoding: "base64" }), taken);
  await pass(world, 6);
  expect(world.chain.sends).toHaveLength(3);
  expect(JSON.parse(world.chain.sends[0] ?? "")).toEqual([
    "AAAA",
    { encoding: "base64", skipPreflight: true, maxRetries: 0 },
  ]);
  expect(sent.of("key", 10)).toMatchObject([{ signature, state: "sent", resends: 3 }]);
});

test.each([[{}], [{ maxRetries: 0 }], [{ maxRetries: -1 }], [{ maxRetries: "3" }]])(
  "without maxRetries above 0 it never goes out again: %j",
  async (config) => {
    const world = fakeChain();
    using sent = world.sent;
    sent.taken(by, params(config), taken);
    await pass(world, 5);
    expect(world.chain.sends).toEqual([]);
  },
);

test("once a block has it, it does not go out again, and its way to finality is followed", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({ maxRetries: 50 }), taken);
  await pass(world, 1);
  world.chain.status = status("processed");
  await pass(world, 2);
  world.chain.status = status("confirmed");
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "confirmed", slot: 77n }]);
  world.chain.status = status("finalized");
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "finalized", resends: 1 }]);
  expect(world.chain.sends).toHaveLength(1);
  expect(world.chain.settled).toEqual(["finalized"]);
});

test("once a fork has left its block behind, it goes out again", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({ maxRetries: 50 }), taken);
  world.chain.status = status("processed");
  await pass(world, 2);
  expect(sent.of("key", 1)).toMatchObject([{ state: "sent", slot: 77n, resends: 0 }]);
  world.chain.status = "null";
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "sent", slot: null, resends: 1 }]);
});

test("one that failed in its block is reported as failed", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({ maxRetries: 5 }), taken);
  world.chain.status = status("confirmed", '{"InstructionError":[0,"Custom"]}');
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "failed" }]);
  expect(world.chain.sends).toEqual([]);
});

test("it is expired when its blockhash is, and goes out no more", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({ maxRetries: 60 }), taken);
  await pass(world, 1);
  world.chain.height += 150;
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "sent" }]);
  world.chain.height += 1;
  await pass(world, 3);
  expect(sent.of("key", 1)).toMatchObject([{ state: "expired" }]);
  expect(world.chain.sends).toHaveLength(2);
  expect(world.chain.settled).toEqual(["expired"]);
});

test("a confirmed one that nodes do not know any more is looked for further back, and given up a blockhash's life later", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({}), taken);
  await pass(world, 1);
  world.chain.status = status("confirmed");
  world.chain.height += 150;
  await pass(world, 1);
  expect(JSON.parse(world.chain.asked)).toEqual([[signature]]);
  world.chain.status = "null";
  world.chain.height += 10;
  await pass(world, 2);
  expect(JSON.parse(world.chain.asked)).toEqual([[signature], { searchTransactionHistory: true }]);
  expect(sent.of("key", 1)).toMatchObject([{ state: "confirmed", slot: 77n }]);
  world.chain.height += 151;
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "expired", slot: null }]);
  expect(world.chain.settled).toEqual(["expired"]);
});

test("while no node answers nothing is concluded and nothing goes out", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({ maxRetries: 5 }), taken);
  world.chain.reachable = false;
  world.chain.height += 10_000;
  await pass(world, 3);
  expect(sent.of("key", 1)).toMatchObject([{ state: "sent", resends: 0 }]);
});

test("maxRetries of a later send hold for a transaction that is followed already, beyond what was sent again", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({}), taken);
  await pass(world, 2);
  expect(world.chain.sends).toEqual([]);
  sent.taken(by, params({ maxRetries: 3 }), taken);
  await pass(world, 5);
  expect(world.chain.sends).toHaveLength(3);
  sent.taken({ ...by, keyId: "other" }, params({ maxRetries: 2 }), taken);
  await pass(world, 5);
  expect(world.chain.sends).toHaveLength(5);
  sent.taken(by, params({ maxRetries: 100 }), taken);
  await pass(world, 100);
  expect(world.chain.sends).toHaveLength(60);
});

test("one that was given up and is sent again is followed again", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({}), taken);
  await pass(world, 1);
  world.chain.height += 151;
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "expired" }]);
  sent.taken(by, params({}), taken);
  world.chain.status = status("finalized");
  await pass(world, 1);
  expect(sent.of("key", 1)).toMatchObject([{ state: "finalized" }]);
});

test("each key sees what it sent itself, on each network, whoever sent the same before", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({}), taken);
  world.chain.clock.advance(5);
  sent.taken({ ...by, keyId: "other" }, params({}), taken);
  sent.taken({ ...by, network: "testnet" }, params({}), taken);
  world.chain.status = status("finalized");
  await pass(world, 1);
  expect(sent.of("key", 10)).toMatchObject([
    { network: "testnet", state: "finalized" },
    { network: "devnet", state: "finalized" },
  ]);
  const [mine] = sent.of("key", 10, { sentAtMs: 1_800_000_000_001, signature });
  expect(mine).toMatchObject({ network: "devnet", sentAtMs: 1_800_000_000_000 });
  expect(sent.of("other", 10)).toMatchObject([{ sentAtMs: 1_800_000_000_005, state: "finalized" }]);
});

test("an error of the node, or an answer that is no signature, is not followed; a key sees its own alone", async () => {
  const { sent } = fakeChain();
  sent.taken(by, params({}), '{"jsonrpc":"2.0","error":{"code":-32002,"message":"no"},"id":1}');
  sent.taken(by, params({}), '{"jsonrpc":"2.0","result":"not a signature","id":1}');
  expect(sent.of("key", 10)).toEqual([]);
  sent.taken(by, params({}), taken);
  expect(sent.of("key", 10)).toHaveLength(1);
  expect(sent.of("other", 10)).toEqual([]);
  sent[Symbol.dispose]();
});
