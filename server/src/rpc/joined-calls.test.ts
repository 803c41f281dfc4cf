import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { AnswerCache } from "../cache/index.ts";
import type { NodeAnswer, UpstreamCall, UpstreamOutcome, UpstreamPool } from "../upstreams/index.ts";
import { Rpc } from "./rpc.ts";

const answerAt = (slot: bigint): UpstreamOutcome => {
  const answer: NodeAnswer = {
    label: "a",
    body: { kind: "text", head: '{"jsonrpc":"2.0","result":{},"id":', tail: "}" },
    sizeBytes: 40,
    errorCode: null,
    isNull: false,
    contextSlot: slot,
    number: null,
  };
  return { ok: true, answer, latencyMs: 1 };
};

test("a key that joined a call with too old an answer, and sent its own, does not go back behind that one", async () => {
  const clock = new ManualClock();
  const calls: { readonly call: UpstreamCall; readonly answer: (outcome: UpstreamOutcome) => void }[] = [];
  const pool = {
    call: (call: UpstreamCall) => new Promise<UpstreamOutcome>((answer) => void calls.push({ call, answer })),
    confirmedRoot: () => null,
    isPlausible: () => true,
  };
  const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>({}, { clock, isLive: () => true });
  const rpc = new Rpc(
    { allowUnknownMethods: false },
    { clock, cache, pool: () => pool as unknown as UpstreamPool, sent: null },
  );
  const ask = (keyId: string): Promise<unknown> => {
    const entry = rpc.method("getBalance");
    const planned = entry?.plan('["9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g"]').plan;
    if (entry === null || planned?.ok !== true) throw new Error("the call is not planned");
    return rpc.ask("devnet", entry, planned, keyId);
  };
  const answerNext = async (slot: bigint): Promise<void> => {
    while (calls.length === 0) await Promise.resolve();
    calls.shift()?.answer(answerAt(slot));
  };
  const first = ask("one");
  await answerNext(98n);
  await first;
  for (const commitment of ["processed", "confirmed", "finalized"] as const) cache.slotMoved("devnet", commitment);
  const [other, joined] = [ask("two"), ask("one")];
  await answerNext(97n);
  await other;
  await answerNext(99n);
  await joined;
  for (const commitment of ["processed", "confirmed", "finalized"] as const) cache.slotMoved("devnet", commitment);
  void ask("one");
  while (calls.length === 0) await Promise.resolve();
  expect(calls[0]?.call.minimumSlot).toBe(99n);
});
