import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { advanceUntil } from "@sluice/lib/testing";
import { SharedAnswers } from "./shared-answers.ts";

const bytes = new Uint8Array([1, 2, 3]);

function boot(options: { bytesMax?: number; waitMs?: number } = {}) {
  const clock = new ManualClock();
  const kept = new Map<string, Uint8Array>();
  const reported: string[] = [];
  const state = { asked: 0, hangs: false, fails: false };
  const store = {
    get: async (key: string): Promise<Uint8Array | null> => {
      state.asked += 1;
      if (state.fails) throw new Error("away");
      if (state.hangs) await new Promise(() => {});
      return kept.get(key) ?? null;
    },
    set: async (key: string, value: Uint8Array): Promise<void> => void kept.set(key, value),
  };
  const events = { sharedAnswer: (outcome: string) => void reported.push(outcome) };
  return { clock, kept, reported, state, store, answers: new SharedAnswers(options, { clock, store, events }) };
}

test("what one process keeps another one finds, to the byte", async () => {
  const { answers, reported } = boot({ waitMs: 60_000 });
  expect(await answers.find("a")).toBeNull();
  answers.keep("a", bytes);
  expect(await answers.find("a")).toEqual(bytes);
  expect(reported).toEqual(["miss", "kept", "hit"]);
});

test("a store that hangs is waited for three times, then not at all, and is found well by a try beside the calls", async () => {
  const { answers, clock, kept, state } = boot({ waitMs: 1 });
  kept.set("a", bytes);
  state.hangs = true;
  for (let look = 0; look < 10; look += 1) expect(await advanceUntil(clock, answers.find("a"), 1)).toBeNull();
  expect(state.asked).toBe(3);
  state.hangs = false;
  expect(await answers.find("a")).toBeNull();
  expect(state.asked).toBe(3);
  clock.advance(1_000);
  expect(await answers.find("a")).toBeNull();
  expect(state.asked).toBe(4);
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect(await answers.find("a")).toEqual(bytes);
});

test("pauses grow while a store fails, and nothing rejects", async () => {
  const { answers, clock, state } = boot({ waitMs: 60_000 });
  state.fails = true;
  for (let look = 0; look < 5; look += 1) expect(await answers.find("a")).toBeNull();
  for (let second = 0; second < 8; second += 1) {
    clock.advance(1_000);
    await answers.find("a");
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
  expect(state.asked).toBe(3 + 3);
});

test("writes keep within the bytes that one lifetime may hold, and what is too large is not written", async () => {
  const { answers, clock, kept } = boot({ bytesMax: 3_000 });
  for (let write = 0; write < 10; write += 1) answers.keep(`key ${write}`, new Uint8Array(1_000));
  expect(kept.size).toBe(3);
  clock.advance(100_000);
  for (let write = 0; write < 10; write += 1) answers.keep(`later ${write}`, new Uint8Array(1_000));
  expect(kept.size).toBe(4);
});

test("a mebibyte is the largest answer that is written", () => {
  const { answers, kept } = boot();
  answers.keep("large", new Uint8Array(1_048_576));
  answers.keep("larger", new Uint8Array(1_048_577));
  expect([...kept.keys()]).toEqual(["large"]);
});

test("64 writes are under way at most, and each that ends, well or not, makes room for another", async () => {
  const { answers, reported, store } = boot();
  const writes: PromiseWithResolvers<void>[] = [];
  store.set = () => {
    const write = Promise.withResolvers<void>();
    writes.push(write);
    return write.promise;
  };
  for (let write = 0; write < 66; write += 1) answers.keep(`key ${write}`, bytes);
  expect([writes.length, reported]).toEqual([64, ["over-budget", "over-budget"]]);
  writes[0]?.resolve();
  writes[1]?.reject(new Error("away"));
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  for (let write = 0; write < 3; write += 1) answers.keep(`later ${write}`, bytes);
  expect([writes.length, reported.slice(2)]).toEqual([66, ["kept", "over-budget"]]);
});

test("three failures in a row begin a pause: an answer between them, or the store's recovery, begins the count anew", async () => {
  const { answers, clock, state } = boot({ waitMs: 60_000 });
  const look = async (fails: boolean): Promise<void> => {
    state.fails = fails;
    await answers.find("a");
  };
  for (const fails of [true, true, false, true, true, false]) await look(fails);
  expect(state.asked).toBe(6);
  for (let failure = 0; failure < 3; failure += 1) await look(true);
  await look(false);
  expect(state.asked).toBe(9);
  clock.advance(1_000);
  await look(false);
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect(state.asked).toBe(10);
  for (const fails of [true, true, false]) await look(fails);
  expect(state.asked).toBe(13);
});

test("nothing is written during a pause", async () => {
  const { answers, kept, state } = boot({ waitMs: 60_000 });
  state.fails = true;
  for (let look = 0; look < 2; look += 1) await answers.find("a");
  answers.keep("before", bytes);
  await answers.find("a");
  answers.keep("paused", bytes);
  expect([...kept.keys()]).toEqual(["before"]);
});

test("many look-ups that fail at one time begin the same pause as three", async () => {
  const { answers, clock, state } = boot({ waitMs: 60_000 });
  state.fails = true;
  await Promise.all(Array.from({ length: 20 }, () => answers.find("a")));
  expect(state.asked).toBe(20);
  clock.advance(1_000);
  await answers.find("a");
  expect(state.asked).toBe(21);
});
