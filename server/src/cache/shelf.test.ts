import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { AnswerCache } from "./answer-cache.ts";
import { ByteLru } from "./byte-lru.ts";

interface Value {
  readonly sizeBytes: number;
  readonly name: string;
}
const value = (name: string, sizeBytes = 100): Value => ({ name, sizeBytes });

function makeCache() {
  const clock = new ManualClock();
  const state = { isLive: true };
  const cache = new AnswerCache<Value, Value>({}, { clock, isLive: () => state.isLive });
  return { clock, state, cache, shelf: cache.shelf("devnet", "confirmed") };
}

test("slot entries last until the next slot of their commitment, and 5 seconds at most", async () => {
  const { clock, cache, shelf } = makeCache();
  await shelf.load(
    "a",
    async () => value("a"),
    (kept) => ({ value: kept, until: "slot" }),
  );
  expect(shelf.get("a", clock.monotonic())?.name).toBe("a");
  expect(cache.shelf("devnet", "finalized").get("a", clock.monotonic())).toBeUndefined();
  expect(cache.shelf("mainnet", "confirmed").get("a", clock.monotonic())).toBeUndefined();
  cache.slotMoved("devnet", "processed");
  expect(shelf.get("a", clock.monotonic())?.name).toBe("a");
  cache.slotMoved("devnet", "confirmed");
  expect(shelf.get("a", clock.monotonic())).toBeUndefined();
  await shelf.load(
    "a",
    async () => value("b"),
    (kept) => ({ value: kept, until: "slot" }),
  );
  clock.advance(4_999);
  expect(shelf.get("a", clock.monotonic())?.name).toBe("b");
  clock.advance(1);
  expect(shelf.get("a", clock.monotonic())).toBeUndefined();
});

test("nothing is kept until a slot that nobody would announce", async () => {
  const { clock, state, shelf } = makeCache();
  state.isLive = false;
  await shelf.load(
    "a",
    async () => value("a"),
    (kept) => ({ value: kept, until: "slot" }),
  );
  expect(shelf.get("a", clock.monotonic())).toBeUndefined();
});

test("an answer that was asked for before a notice is not kept after it", async () => {
  const { clock, cache, shelf } = makeCache();
  const answer = Promise.withResolvers<Value>();
  const loading = shelf.load(
    "a",
    () => answer.promise,
    (kept) => ({ value: kept, until: "slot" }),
  );
  cache.slotMoved("devnet", "confirmed");
  answer.resolve(value("a"));
  expect((await loading).name).toBe("a");
  expect(shelf.get("a", clock.monotonic())).toBeUndefined();
});

test("history is shared by the commitments of its network and outlives slots, for 5 minutes", async () => {
  const { clock, cache, shelf } = makeCache();
  await shelf.load(
    "a",
    async () => value("a"),
    (kept) => ({ value: kept, until: "final" }),
  );
  cache.slotMoved("devnet", "confirmed");
  expect(cache.shelf("devnet", "finalized").get("a", clock.monotonic())?.name).toBe("a");
  expect(cache.shelf("mainnet", "finalized").get("a", clock.monotonic())).toBeUndefined();
  clock.advance(300_000);
  expect(shelf.get("a", clock.monotonic())).toBeUndefined();
});

test("a call from before a notice is not joined after it, and its end takes nothing from the call that came after", async () => {
  const { cache, shelf } = makeCache();
  const [before, after] = [Promise.withResolvers<Value>(), Promise.withResolvers<Value>()];
  const early = shelf.load(
    "a",
    () => before.promise,
    () => null,
  );
  cache.slotMoved("devnet", "processed");
  expect(shelf.underWay("a")).toBe(early);
  cache.slotMoved("devnet", "confirmed");
  expect(shelf.underWay("a")).toBeUndefined();
  const late = shelf.load(
    "a",
    () => after.promise,
    () => null,
  );
  before.resolve(value("before"));
  expect((await early).name).toBe("before");
  expect(shelf.underWay("a")).toBe(late);
  after.resolve(value("after"));
  expect((await late).name).toBe("after");
  expect(shelf.underWay("a")).toBeUndefined();
});

test("a call under way is shared, and gone when it has failed", async () => {
  const { shelf } = makeCache();
  const answer = Promise.withResolvers<Value>();
  const loading = shelf.load(
    "a",
    () => answer.promise,
    () => null,
  );
  expect(shelf.underWay("a")).toBe(loading);
  answer.reject(new Error("lost"));
  await expect(loading).rejects.toThrow("lost");
  expect(shelf.underWay("a")).toBeUndefined();
});

test("the bound in bytes holds, and the least recently used go first", () => {
  const lru = new ByteLru<Value>({ bytesMax: 10_000 });
  for (let index = 0; index < 100; index += 1) {
    lru.set(`k${index}`, value(`v${index}`, 500), 1_000);
    lru.touch("k0");
    expect(lru.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(lru.get("k0", 0)?.name).toBe("v0");
  expect(lru.get("k1", 0)).toBeUndefined();
  expect(lru.get("k99", 0)?.name).toBe("v99");
  lru.set("large", value("large", 5_000), 1_000);
  expect(lru.get("large", 0)).toBeUndefined();
  lru.set("k99", value("again", 500), 1_000);
  expect(lru.get("k99", 0)?.name).toBe("again");
  lru.clear();
  expect([lru.bytes, lru.size]).toEqual([0, 0]);
});
