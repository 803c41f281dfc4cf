import { expect, test } from "bun:test";
import type { UpstreamOutcome } from "../upstreams/index.ts";
import { answerOf, RpcStand, resultOf } from "./testing/rpc-stand.ts";

const balance = '["9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g"]';

/** A stand whose nodes answer when they are told to, the earliest call first. */
function makeSlowStand() {
  const stand = new RpcStand();
  const waiting: ((outcome: UpstreamOutcome) => void)[] = [];
  stand.respond = () => new Promise<UpstreamOutcome>((answer) => void waiting.push(answer));
  const answerNext = async (outcome: UpstreamOutcome): Promise<void> => {
    while (waiting.length === 0) await Promise.resolve();
    waiting.shift()?.(outcome);
  };
  return { stand, answerNext };
}

test("identical calls under way are one call, whoever makes them", async () => {
  const { stand, answerNext } = makeSlowStand();
  const asked = ["one", "two", "three"].map((keyId) => stand.ask("getBalance", balance, { keyId }));
  await answerNext(answerOf("5"));
  const outcomes = await Promise.all(asked);
  expect(outcomes.map(resultOf)).toEqual([5, 5, 5]);
  expect(outcomes.map(({ shared }) => shared)).toEqual([false, true, true]);
  expect([stand.calls.length, stand.outcomes.toSorted()]).toEqual([
    1,
    ["devnet slot coalesced", "devnet slot coalesced", "devnet slot miss"],
  ]);
});

test("an answer that is still arriving goes to the caller that asked for it; one that joined sends its own call", async () => {
  const { stand, answerNext } = makeSlowStand();
  const [first, second] = [stand.ask("getBalance", balance), stand.ask("getBalance", balance, { keyId: "two" })];
  await answerNext(answerOf("5", { body: { kind: "large", large: {} as never } }));
  await first;
  await answerNext(answerOf("6"));
  expect(await second).toMatchObject({ shared: false });
  expect([resultOf(await second), stand.calls.length]).toEqual([6, 2]);
});

test("a key that joined a call with too old an answer, and sent its own, does not go back behind that one", async () => {
  const { stand, answerNext } = makeSlowStand();
  const at = (contextSlot: bigint) => answerOf("{}", { contextSlot });
  const first = stand.ask("getBalance", balance, { keyId: "one" });
  await answerNext(at(98n));
  await first;
  stand.slotsMoved();
  const [other, joined] = [
    stand.ask("getBalance", balance, { keyId: "two" }),
    stand.ask("getBalance", balance, { keyId: "one" }),
  ];
  await answerNext(at(97n));
  await other;
  await answerNext(at(99n));
  expect(await joined).toMatchObject({ shared: false, outcome: { answer: { contextSlot: 99n } } });
  stand.slotsMoved();
  void stand.ask("getBalance", balance, { keyId: "one" });
  expect(stand.calls.at(-1)?.minimumSlot).toBe(99n);
});
