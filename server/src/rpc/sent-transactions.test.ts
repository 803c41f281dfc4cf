import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { NodeAnswer, UpstreamCall, UpstreamOutcome } from "../upstreams/index.ts";
import { inOrder, SentTransactions } from "./sent-transactions.ts";

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
    /** How often statuses were asked for. */
    questions: 0,
    sends: [] as string[],
    /** While set, sends wait for it. */
    gate: null as Promise<void> | null,
    settled: [] as string[],
  };
  const answer = (result: string): UpstreamOutcome => ({ ok: true, latencyMs: 1, answer: nodeAnswer(result) });
  const pool = {
    slotOf: () => null,
    call: async ({ method, params }: UpstreamCall): Promise<UpstreamOutcome> => {
      if (!chain.reachable) return { ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false };
      if (method === "getBlockHeight") return answer(`${chain.height}`);
      if (method === "getSignatureStatuses") {
        chain.asked = params ?? "";
        chain.questions += 1;
        const { length } = JSON.parse(chain.asked)[0];
        return answer(`{"context":{"slot":1},"value":[${Array(length).fill(chain.status).join(",")}]}`);
      }
      chain.sends.push(params ?? "");
      await chain.gate;
      return answer(`"${signature}"`);
    },
  };
  const sent = new SentTransactions({
    clock: chain.clock,
    pool: () => pool,
    followFailed: () => undefined,
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

test("with maxRetries of 1 it goes out again once", async () => {
  const world = fakeChain();
  using sent = world.sent;
  sent.taken(by, params({ maxRetries: 1 }), taken);
  await pass(world, 4);
  expect(world.chain.sends).toHaveLength(1);
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

/** Lets what was begun go on until it waits for a timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

/** The answer of a node that took the transaction of that number. */
const takenOf = (number: number): string => {
  const own = String(number).padStart(6, "0").replaceAll("0", "A");
  return taken.replace(signature, own.padStart(88, "5"));
};

test("it is followed by itself while anything is open, and nothing runs once all is known", async () => {
  const { chain, sent } = fakeChain();
  sent.taken(by, params({ maxRetries: 1 }), taken);
  chain.clock.advance(2_000);
  await settle();
  expect([chain.sends.length, chain.clock.pendingTimers]).toEqual([1, 1]);
  chain.status = status("finalized");
  chain.clock.advance(2_000);
  await settle();
  expect(sent.of("key", 1)).toMatchObject([{ state: "finalized", resends: 1 }]);
  chain.clock.advance(2_000);
  await settle();
  expect(chain.clock.pendingTimers).toBe(0);
  sent.taken(by, params({}), takenOf(1));
  expect(chain.clock.pendingTimers).toBe(1);
  sent[Symbol.dispose]();
  expect(chain.clock.pendingTimers).toBe(0);
});

test("between two sends there are two seconds, however often it is checked", async () => {
  const { chain, sent } = fakeChain();
  using _ = sent;
  chain.clock.advance(60_000);
  sent.taken(by, params({ maxRetries: 5 }), taken);
  await sent.check();
  chain.clock.advance(1_999);
  await sent.check();
  expect(chain.sends).toHaveLength(0);
  chain.clock.advance(1);
  await sent.check();
  await sent.check();
  expect(chain.sends).toHaveLength(1);
});

test("a check ends when what it sends again is answered, and one that is asked for meanwhile is the same", async () => {
  const { chain, sent } = fakeChain();
  using _ = sent;
  const gate = Promise.withResolvers<void>();
  chain.gate = gate.promise;
  sent.taken(by, params({ maxRetries: 5 }), taken);
  chain.clock.advance(2_000);
  await settle();
  let ended = 0;
  const checks = [sent.check(), sent.check()].map((check) => check.then(() => (ended += 1)));
  await settle();
  expect([chain.sends.length, ended]).toEqual([1, 0]);
  gate.resolve();
  await Promise.all(checks);
  expect(chain.questions).toBe(1);
});

test("256 transactions are asked for in one call, and one more in a second", async () => {
  const { chain, sent } = fakeChain();
  using _ = sent;
  for (let number = 0; number < 256; number += 1) sent.taken(by, params({}), takenOf(number));
  await sent.check();
  expect(chain.questions).toBe(1);
  sent.taken(by, params({}), takenOf(256));
  await sent.check();
  expect(chain.questions).toBe(3);
});

test("20,000 transactions are remembered, each counted for every key that sent it; beyond them the oldest go", () => {
  const { chain, sent } = fakeChain();
  using _ = sent;
  const counts = () => ["key", "other"].map((keyId) => sent.of(keyId, 30_000).length);
  for (let number = 0; number < 19_999; number += 1) sent.taken(by, null, takenOf(number));
  sent.taken({ ...by, keyId: "other" }, null, takenOf(0));
  expect(counts()).toEqual([19_999, 1]);
  chain.clock.advance(1);
  sent.taken(by, null, takenOf(19_999));
  expect(counts()).toEqual([19_999, 0]);
  expect(sent.of("key", 1)).toMatchObject([{ signature: JSON.parse(takenOf(19_999)).result }]);
  sent.taken(by, null, takenOf(20_000));
  expect(counts()).toEqual([20_000, 0]);
  sent.taken(by, null, takenOf(20_001));
  expect(counts()).toEqual([20_000, 0]);
});

test("parameters that say nothing of sending again are followed, and nothing goes out for them", async () => {
  const world = fakeChain();
  using sent = world.sent;
  for (const [number, text] of [
    null,
    "[1",
    "5",
    "{}",
    "[]",
    '["AAAA"]',
    '["AAAA",null]',
    '["AAAA",5]',
    '[5,{"maxRetries":3}]',
  ].entries())
    sent.taken(by, text, takenOf(number));
  await pass(world, 3);
  expect([sent.of("key", 20).length, world.chain.sends]).toEqual([9, []]);
});

test("a page begins after the place of the one before it; of one moment those of smaller signatures come first", () => {
  const { sent } = fakeChain();
  using _ = sent;
  for (const number of [2, 1, 3]) sent.taken(by, null, takenOf(number));
  const all = sent.of("key", 10);
  expect(all.map(({ signature: each }) => each)).toEqual([1, 2, 3].map((number) => JSON.parse(takenOf(number)).result));
  const [first, second] = all;
  if (first === undefined || second === undefined) throw new Error("three were sent");
  expect(sent.of("key", 10, first)).toEqual(all.slice(1));
  expect([inOrder(first, first), inOrder(first, second), inOrder(second, first)]).toEqual([0, -1, 1]);
});
