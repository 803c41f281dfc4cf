import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Conversation, NoAnswerError, type Topic } from "./conversation.ts";

/** Two sides whose messages go through JSON, as between processes. */
function openPair(answer: (topic: Topic) => Promise<unknown>) {
  const clock = new ManualClock(0);
  const told: Topic[] = [];
  const sides: { asking?: Conversation; answering?: Conversation } = {};
  const pass = (to: () => Conversation | undefined) => (message: unknown) => {
    queueMicrotask(() => to()?.received(JSON.parse(JSON.stringify(message))));
    return true;
  };
  const silent = { answer: async () => null, told: () => undefined };
  const asking = new Conversation({ ...silent, send: pass(() => sides.answering) }, { clock });
  sides.asking = asking;
  sides.answering = new Conversation(
    { answer, told: (topic) => void told.push(topic), send: pass(() => sides.asking) },
    { clock },
  );
  return { clock, told, asking };
}

test("each question gets its own answer, whatever the order of the answers", async () => {
  const held: (() => void)[] = [];
  const { asking } = openPair(async ({ number }) => {
    await new Promise<void>((resolve) => void held.push(resolve));
    return number;
  });
  const answers = [1, 2, 3].map((number) => asking.ask({ what: "number", number }, 1_000));
  while (held.length < 3) await Promise.resolve();
  for (const letGo of held.toReversed()) letGo();
  expect(await Promise.all(answers)).toEqual([1, 2, 3]);
});

test("a question without an answer in time is an error, and a late answer goes where it was asked to", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { asking, clock } = openPair(() => promise);
  const late: unknown[] = [];
  const answer = asking.ask({ what: "slow" }, 1_000, (value) => void late.push(value)).catch((error: unknown) => error);
  clock.advance(1_001);
  expect(await answer).toBeInstanceOf(NoAnswerError);
  resolve("at last");
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect(late).toEqual(["at last"]);
});

test("a side that answers with an error leaves the question open, and text that is no message is passed over", async () => {
  const { asking, clock, told } = openPair(async () => {
    throw new Error("a fault");
  });
  for (const message of [null, 7, "text", {}, { tell: 3 }, { ask: 1 }, { answer: "x" }, { answer: 99, value: 1 }]) {
    asking.received(message);
  }
  asking.tell({ what: "note", text: "hello" });
  const answer = asking.ask({ what: "fault" }, 500).catch((error: unknown) => error);
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  clock.advance(501);
  expect(await answer).toBeInstanceOf(NoAnswerError);
  expect(told).toEqual([{ what: "note", text: "hello" }]);
});

test("what cannot be sent is an error at once", async () => {
  const terms = { send: () => false, answer: async () => null, told: () => undefined };
  const side = new Conversation(terms, { clock: new ManualClock(0) });
  expect(await side.ask({ what: "anything" }, 1_000).catch((error: unknown) => error)).toBeInstanceOf(NoAnswerError);
});
