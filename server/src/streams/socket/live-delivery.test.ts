import { expect, test } from "bun:test";
import type { LimitDecision } from "../../limits/index.ts";
import type { FrameBatch } from "../../net/index.ts";
import { LiveDelivery } from "./live-delivery.ts";
import { dataText, gapText } from "./server-messages.ts";

const dataOf = (id: string, slot: bigint): string => dataText({ channel: "slots", id, slot, cursor: "c", data: "{}" });

/** What groups publish in one turn, as a session is handed it. */
function batchOf(...texts: readonly (readonly [group: string | null, text: string])[]): FrameBatch {
  const frames = texts.map(([group, data], order) => ({ group, order, data, bytes: Buffer.from(data) }));
  return { frames } as unknown as FrameBatch;
}

const allowed = (remaining: number): LimitDecision => decision(true, remaining);
const decision = (isAllowed: boolean, remaining: number): LimitDecision => ({
  allowed: isAllowed,
  limit: 10,
  burst: 20,
  remaining,
  resetAt: 0,
  retryAfterSeconds: 0,
});

/** A delivery with so many tokens, which a test may make slow to come. */
function played(tokens: number) {
  const sent: string[] = [];
  const state = { tokens, unsent: 0, slow: 0, dropped: 0, messages: 0, store: null as Promise<void> | null };
  const take = (messages: number): LimitDecision => {
    if (messages > state.tokens) return decision(false, state.tokens);
    state.tokens -= messages;
    return allowed(state.tokens);
  };
  const delivery = new LiveDelivery({
    meter: (messages) => state.store?.then(() => take(messages)) ?? take(messages),
    send: (text) => sent.push(String(text)),
    unsentBytes: () => state.unsent,
    slow: () => {
      state.slow += 1;
    },
    passed: ({ messages }) => {
      state.messages += messages;
    },
    dropped: (messages) => {
      state.dropped += messages;
    },
  });
  return { delivery, sent, state };
}

const typesOf = (texts: readonly string[]): string[] => texts.map((text) => JSON.parse(text).type);

test("within the rate a batch goes out as it is, and what is no message about the chain takes no token", () => {
  const { delivery, sent, state } = played(2);
  const gap = gapText("a", { from: 1n as never, to: 2n as never, reason: "r" }, "c");
  expect(delivery.takes(batchOf(["a", dataOf("a", 1n)], ["a", gap], ["a", dataOf("a", 2n)]), 1)).toBe(true);
  expect(delivery.takes(batchOf(["a", gap]), 2)).toBe(true);
  expect([sent, state.messages, state.tokens, state.dropped]).toEqual([[], 2, 0, 0]);
});

test("beyond it each group gets one notice where its first message is missing, and the rest in order", () => {
  const { delivery, sent, state } = played(2);
  const gap = gapText("b", { from: 1n as never, to: 2n as never, reason: "r" }, "c");
  const batch = batchOf(
    ...[["a", dataOf("a", 7n)] as const, ["b", dataOf("b", 7n)] as const, ["a", dataOf("a", 8n)] as const],
    ...[["b", gap] as const, ["a", dataOf("a", 9n)] as const, ["b", dataOf("b", 9n)] as const],
    [null, '{"type":"pong"}'],
  );
  expect(delivery.takes(batch, 1)).toBe(false);
  expect(typesOf(sent)).toEqual(["slot", "slot", "lagged", "gap", "lagged", "pong"]);
  const notices = sent.map((text) => JSON.parse(text)).filter(({ type }) => type === "lagged");
  expect(notices.map((notice) => [notice.subscriptionId, notice.dropped, notice.from_slot])).toEqual([
    ["a", 2, 8],
    ["b", 1, 9],
  ]);
  expect([state.dropped, state.messages]).toEqual([3, 2]);
});

test("while a store is asked for tokens all waits in its order, also what is said to the client alone", async () => {
  const { delivery, sent, state } = played(10);
  const store = Promise.withResolvers<void>();
  state.store = store.promise;
  expect(delivery.takes(batchOf(["a", dataOf("a", 1n)]), 1)).toBe(false);
  state.store = null;
  delivery.say('{"type":"undo"}');
  expect(delivery.takes(batchOf(["a", dataOf("a", 2n)]), 2)).toBe(false);
  expect(sent).toEqual([]);
  store.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(typesOf(sent)).toEqual(["slot", "undo", "slot"]);
  expect([state.tokens, state.messages, state.dropped]).toEqual([8, 2, 0]);
  expect(delivery.takes(batchOf(["a", dataOf("a", 3n)]), 3)).toBe(true);
});

test("what waits goes out as the connection ends, and a store that fails drops it with a notice", async () => {
  const ending = played(0);
  ending.state.store = new Promise(() => undefined);
  ending.delivery.takes(batchOf(["a", dataOf("a", 1n)]), 1);
  ending.delivery.flush();
  expect(typesOf(ending.sent)).toEqual(["slot"]);
  const failing = played(0);
  failing.state.store = Promise.reject(new Error("the store is away"));
  failing.delivery.takes(batchOf(["a", dataOf("a", 1n)]), 1);
  failing.state.store = null;
  await new Promise((resolve) => setImmediate(resolve));
  expect(typesOf(failing.sent)).toEqual(["lagged"]);
});

test("a client is slow by what is unsent as the next block comes, not by the rest of the same one", () => {
  const { delivery, state } = played(10);
  expect(delivery.takes(batchOf(["a", dataOf("a", 1n)]), 1)).toBe(true);
  state.unsent = 2 * 1024 * 1024;
  expect(delivery.takes(batchOf(["a", dataOf("a", 1n)]), 1)).toBe(true);
  expect(state.slow).toBe(0);
  expect(delivery.takes(batchOf(["a", dataOf("a", 2n)]), 2)).toBe(false);
  expect(state.slow).toBe(1);
});
