import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import { createLimits, createSharedLimits, type LimitDecision, type RateLimiter } from "../../limits/index.ts";
import { SimulatedStore } from "../../limits/testing/simulated-store.ts";
import { MessagePacer, type PacedConnection } from "./message-pacer.ts";
import { Outbox } from "./outbox.ts";

const mebibyte = 1024 * 1024;

/** Connections whose messages are numbers, and what was sent in which order. */
function boot(limitsOf?: (clock: ManualClock) => RateLimiter, clock = new ManualClock(1_800_000_000_000)) {
  const limits = limitsOf?.(clock) ?? createLimits({}, { clock });
  const pacer = new MessagePacer({ clock, access: accessOfTests({ limits }) });
  const sent: string[] = [];
  const connect = (name: string, accountId = "acc_1") => {
    const waiting: number[] = [];
    let said = 0;
    const connection: PacedConnection = {
      grant: {
        accountId,
        buckets: {
          ...grantOfTests.buckets,
          messages: [{ bucket: `messages:${accountId}`, requestsPerSecond: 100, burst: 200 }],
        },
      },
      sendNext: () => {
        sent.push(`${name}${waiting.shift()}`);
        return waiting.length > 0;
      },
    };
    const say = (count: number) => {
      for (let index = 0; index < count; index += 1) {
        said += 1;
        waiting.push(said);
        pacer.offer(connection);
      }
    };
    return { say, waiting, leave: () => pacer.leave(connection) };
  };
  return { clock, sent, connect };
}

test("all connections of an account together get its burst at once and its messages a second after that", () => {
  const { clock, sent, connect } = boot();
  const [first, second, other] = [connect("a"), connect("b"), connect("c", "acc_2")];
  first.say(500);
  second.say(500);
  expect(sent.length).toBe(200);
  other.say(150);
  expect(sent.length).toBe(350);
  for (let step = 0; step < 250; step += 1) clock.advance(20);
  expect(sent.length).toBe(350 + 5 * 100);
  for (let step = 0; step < 150; step += 1) clock.advance(20);
  expect([sent.length, first.waiting.length, second.waiting.length]).toEqual([1_150, 0, 0]);
});

test("connections that wait are served in turn, and each gets its messages in their order", () => {
  const { clock, sent, connect } = boot();
  const [first, second] = [connect("a"), connect("b")];
  first.say(300);
  sent.length = 0;
  second.say(3);
  clock.advance(60);
  expect(sent).toEqual(["a201", "b1", "a202", "b2", "a203", "b3"]);
  clock.advance(20);
  expect(sent.slice(6)).toEqual(["a204", "a205"]);
});

test("a connection that leaves gets nothing more and takes no tokens", () => {
  const { clock, sent, connect } = boot();
  const [first, second] = [connect("a"), connect("b")];
  first.say(300);
  second.say(5);
  first.leave();
  sent.length = 0;
  clock.advance(1_000);
  expect(sent).toEqual(["b1", "b2", "b3", "b4", "b5"]);
});

test("while a token is asked for elsewhere the order is kept, and one token sends one message", async () => {
  const asked: ((decision: boolean) => void)[] = [];
  const { clock, sent, connect } = boot(() => ({
    take: () => new Promise<LimitDecision>((resolve) => asked.push((allowed) => resolve({ allowed } as LimitDecision))),
  }));
  const [first, second] = [connect("a"), connect("b")];
  first.say(2);
  second.say(1);
  expect([asked.length, sent.length]).toEqual([1, 0]);
  const answer = async (allowed: boolean) => {
    asked.shift()?.(allowed);
    await Promise.resolve();
    await Promise.resolve();
  };
  await answer(true);
  expect([sent, asked.length]).toEqual([["a1"], 1]);
  await answer(false);
  expect([sent, asked.length]).toEqual([["a1"], 0]);
  clock.advance(20);
  await answer(true);
  second.leave();
  expect(sent).toEqual(["a1", "b1"]);
  await answer(true);
  expect(sent).toEqual(["a1", "b1", "a2"]);
  expect(asked.length).toBe(0);
});

test("a token that comes for a connection that has left sends nothing of it", async () => {
  const asked: (() => void)[] = [];
  const { sent, connect } = boot(() => ({
    take: () => new Promise<LimitDecision>((resolve) => asked.push(() => resolve({ allowed: true } as LimitDecision))),
  }));
  const gone = connect("a");
  gone.say(1);
  gone.leave();
  asked.shift()?.();
  await Promise.resolve();
  await Promise.resolve();
  expect([sent, asked.length]).toEqual([[], 0]);
});

test("an account whose token is on its way is not asked for again when another account's wait is over", async () => {
  const asked: string[] = [];
  const { clock, connect } = boot(() => ({
    take: (bucket) => {
      asked.push(bucket);
      return bucket.endsWith("acc_1") ? new Promise<LimitDecision>(() => {}) : ({ allowed: false } as LimitDecision);
    },
  }));
  connect("a").say(1);
  connect("b", "acc_2").say(1);
  clock.advance(60);
  expect(asked.filter((bucket) => bucket.endsWith("acc_1")).length).toBe(1);
  expect(asked.filter((bucket) => bucket.endsWith("acc_2")).length).toBe(4);
});

test("two processes that share limits send together at the rate of one account", async () => {
  const clock = new ManualClock(1_800_000_000_000);
  const store = new SimulatedStore(clock);
  const events = { sharingLost: () => {}, sharingRestored: () => {}, replicasCounted: () => {} };
  const processes = ["first", "second"].map((holder) =>
    boot(() => createSharedLimits({ holder, waitMs: 60_000, tickIntervalMs: null }, { clock, store, events }), clock),
  );
  for (const { connect } of processes) connect("a").say(2_000);
  const run = async (seconds: number): Promise<number> => {
    for (let step = 0; step < seconds * 50; step += 1) {
      await Bun.sleep(0);
      clock.advance(20);
    }
    return processes.reduce((sum, { sent }) => sum + sent.length, 0);
  };
  const first = await run(1);
  expect(first).toBeLessThanOrEqual(200 + 100);
  const more = (await run(4)) - first;
  // What a lease holds back in the one process is not there for the other: a few messages of a second's hundred.
  expect(more).toBeLessThanOrEqual(4 * 100);
  expect(more).toBeGreaterThanOrEqual(4 * 100 * 0.9);
});

test("what waits is bounded by 8 MiB with what the socket holds, beside one message that is larger", () => {
  const message = (bytes: number) => ({ data: "", bytes });
  const outbox = new Outbox();
  for (let index = 0; index < 4; index += 1) expect(outbox.add(message(mebibyte), 4 * mebibyte)).toBe(true);
  expect(outbox.add(message(1), 4 * mebibyte)).toBe(false);
  expect(outbox.add(message(1), 4 * mebibyte - 1)).toBe(true);
  for (let index = 0; index < 5; index += 1) outbox.take();
  expect([outbox.isEmpty, outbox.take()]).toEqual([true, undefined]);
  expect(outbox.add(message(20 * mebibyte), 0)).toBe(true);
  outbox.take();
  // The large one is being sent: what comes meanwhile waits, but not a second large one.
  expect(outbox.add(message(8 * mebibyte), 20 * mebibyte)).toBe(true);
  expect(outbox.add(message(9 * mebibyte), 20 * mebibyte)).toBe(false);
  expect(outbox.add(message(1), 20 * mebibyte)).toBe(false);
  outbox.take();
  expect(outbox.add(message(17 * mebibyte), 10 * mebibyte)).toBe(true);
  outbox.take();
  expect(outbox.add(message(30 * mebibyte), 20 * mebibyte)).toBe(false);
  expect(outbox.add(message(9 * mebibyte), 0)).toBe(true);
  outbox.take();
  // Once it has gone out its size is no room for others.
  expect(outbox.add(message(1), 0)).toBe(true);
  expect(outbox.add(message(1), 8 * mebibyte)).toBe(false);
});

test("many small messages are bounded in number", () => {
  const outbox = new Outbox();
  let added = 0;
  while (added < 100_000 && outbox.add({ data: "", bytes: 1 }, 0)) added += 1;
  expect(added).toBe(65_536);
});
