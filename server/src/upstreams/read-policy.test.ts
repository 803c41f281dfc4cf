import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { comingAnswer, type NodeAnswer } from "./answer.ts";
import { LargeAnswer, readBeginning } from "./large-answer.ts";
import { MethodLatencies } from "./method-latencies.ts";
import { MirroredReads } from "./mirrored-reads.ts";
import { UpstreamNode } from "./node.ts";
import { HedgeBudget, ReadPolicy } from "./read-policy.ts";
import { read } from "./testing/cluster.ts";
import type { UpstreamOutcome } from "./upstream-call.ts";

interface Coming {
  readonly outcome: UpstreamOutcome;
  readonly isCancelled: () => boolean;
}

/** A large answer of that slot as a node begins it. */
function coming(label: string, slot: number): Coming {
  const bytes = Buffer.from(`{"jsonrpc":"2.0","result":{"context":{"slot":${slot}},"value":[1`);
  const beginning = readBeginning(bytes, "1");
  if (beginning === null) throw new Error("that is no beginning");
  let isCancelled = false;
  const rest = {
    next: async () => null,
    cancel: () => {
      isCancelled = true;
    },
  };
  const large = new LargeAnswer(
    { id: "1", bytesMax: 1_000 },
    { bytes, read: beginning },
    { rest, onCut: () => undefined },
  );
  const answer = comingAnswer(large, { bytes, valueStart: beginning.valueStart }, label);
  expect(answer.contextSlot).toBe(BigInt(slot));
  return { outcome: { ok: true, answer, latencyMs: 1 }, isCancelled: () => isCancelled };
}

function nodeOf(label: string, clock: ManualClock): UpstreamNode {
  const place = { label, url: "http://127.0.0.1:1/", ws: "ws://127.0.0.1:1/", headers: {}, groups: ["read"] as const };
  const limits = { deadlineMs: 1_000, answerBytesMax: 1_000, largeBytesMax: 1_000, inFlightMax: 1, waitingMax: 1 };
  const random = seededRandom(1);
  const upstream = { ...place, weight: 1, requestsPerSecond: null };
  return new UpstreamNode(
    { network: "devnet", upstream, limits },
    { clock, random, tracing: null, onSlot: () => {}, onOutcome: () => {}, onFault: () => {}, onRest: () => {} },
  );
}

const errorAnswer: NodeAnswer = {
  label: "a",
  body: { kind: "text", head: '{"id":', tail: "}" },
  sizeBytes: 7,
  errorCode: -32004,
  isNull: false,
  contextSlot: null,
  number: null,
};

const unexpected = (error: unknown): void => {
  throw error;
};

/** Reads over nodes a and b whose answers the test gives. */
function boot() {
  const clock = new ManualClock();
  const nodes = ["a", "b"].map((label) => nodeOf(label, clock));
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error("there are no nodes");
  const attempts: PromiseWithResolvers<UpstreamOutcome>[] = [];
  for (const node of nodes) {
    node.call = () => {
      const attempt = Promise.withResolvers<UpstreamOutcome>();
      attempts.push(attempt);
      return attempt.promise;
    };
  }
  /** For each node that was chosen: whether one that is out was allowed. */
  const outside: boolean[] = [];
  const reads = new ReadPolicy(
    { deadlineMs: 30_000 },
    {
      clock,
      latencies: new MethodLatencies(),
      budget: new HedgeBudget(),
      selector: {
        chooseFor: (_call, asked, mayBeOut) => {
          outside.push(mayBeOut);
          return nodes.find((node) => !asked.includes(node)) ?? null;
        },
      },
      slots: { isPlausible: (_commitment, slot) => slot < 1_000n },
      onExtraCall: () => {},
      onError: unexpected,
    },
  );
  return { clock, reads, attempts, outside, first };
}

test("a large answer that comes after another node's has won is cancelled, the winner's is not", async () => {
  const { clock, reads, attempts, first } = boot();
  const outcome = reads.run(read(), first);
  clock.advance(2_000);
  expect(attempts.length).toBe(2);
  const [slow, quick] = [coming("a", 100), coming("b", 100)];
  attempts[1]?.resolve(quick.outcome);
  expect(await outcome).toBe(quick.outcome);
  attempts[0]?.resolve(slow.outcome);
  await attempts[0]?.promise;
  expect([slow.isCancelled(), quick.isCancelled()]).toEqual([true, false]);
});

test.each([
  ["a read that is slow", null, false],
  ["an error", { ok: true, answer: errorAnswer, latencyMs: 1 } as const, false],
  ["no answer", { ok: false, refused: "NETWORK_UNAVAILABLE", label: "a", repeatable: true } as const, true],
])("after %s, whether a node that is out may be asked", async (_name, came, expected) => {
  const { clock, reads, attempts, outside, first } = boot();
  const outcome = reads.run(read(), first);
  if (came === null) clock.advance(2_000);
  else attempts[0]?.resolve(came);
  while (attempts.length < 2) await Promise.resolve();
  expect(outside).toEqual([expected]);
  const good = coming("b", 100).outcome;
  attempts[1]?.resolve(good);
  expect(await outcome).toBe(good);
});

test.each([
  ["of two that are behind, the older", 50, 40, false, true],
  ["the one that is behind, when the other is not", 50, 120, true, false],
])("of large answers the useless one is cancelled: %s", async (_name, slotA, slotB, isACancelled, isBCancelled) => {
  const { reads, attempts, first } = boot();
  const outcome = reads.run(read("getProgramAccounts", 100n), first);
  const [a, b] = [coming("a", slotA), coming("b", slotB)];
  attempts[0]?.resolve(a.outcome);
  while (attempts.length < 2) await Promise.resolve();
  attempts[1]?.resolve(b.outcome);
  expect(await outcome).toBe(isACancelled ? b.outcome : a.outcome);
  expect([a.isCancelled(), b.isCancelled()]).toEqual([isACancelled, isBCancelled]);
});

test("the large answer of a trial is evaluated by its beginning and cancelled", async () => {
  const clock = new ManualClock();
  const node = nodeOf("a", clock);
  node.isOnTrial = true;
  const mirrored = coming("a", 100);
  const { promise, resolve } = Promise.withResolvers<void>();
  node.call = async () => mirrored.outcome;
  const reads = new MirroredReads({
    clock,
    slots: { newest: () => 105n },
    health: { slotLagMax: 10n, mayBeTried: () => true, evaluate: resolve },
    onTrial: () => {},
    onError: unexpected,
  });
  reads.mirror([node], read(), Promise.resolve(mirrored.outcome));
  await promise;
  expect([node.trialsPassed, mirrored.isCancelled()]).toEqual([1, true]);
});

test.each([
  ["when no other node answers, the answer is passed on", null],
  ["an answer of a slot that is believed is taken in its place", 100],
])("an answer of a slot that is not believed is followed by another node's: %s", async (_name, slot) => {
  const { reads, attempts, first } = boot();
  const outcome = reads.run(read(), first);
  const [future, present] = [coming("a", 5_000), coming("b", slot ?? 0)];
  attempts[0]?.resolve(future.outcome);
  while (attempts.length < 2) await Promise.resolve();
  attempts[1]?.resolve(
    slot === null ? { ok: false, refused: "NETWORK_UNAVAILABLE", label: "b", repeatable: true } : present.outcome,
  );
  expect(await outcome).toBe(slot === null ? future.outcome : present.outcome);
  expect(future.isCancelled()).toBe(slot !== null);
});
