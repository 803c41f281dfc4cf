import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { AnswerCache, type Retention } from "./answer-cache.ts";
import { FifoCache } from "./fifo-caches.ts";

interface Value {
  readonly sizeBytes: number;
  readonly name: string;
}
const value = (name: string, sizeBytes = 100): Value => ({ name, sizeBytes });

function makeCache() {
  const clock = new ManualClock();
  const state = { isLive: true };
  const cache = new AnswerCache<Value, Value>({}, { clock, isLive: () => state.isLive });
  return { clock, state, cache, commitmentCache: cache.of("devnet", "confirmed") };
}

test("slot entries last until the next slot of their commitment, and 5 seconds at most", async () => {
  const { clock, cache, commitmentCache } = makeCache();
  await commitmentCache.load(
    "a",
    async () => value("a"),
    (kept) => ({ value: kept, until: "slot" }),
  );
  expect(commitmentCache.get("a", clock.monotonic())?.name).toBe("a");
  expect(cache.of("devnet", "finalized").get("a", clock.monotonic())).toBeUndefined();
  expect(cache.of("mainnet", "confirmed").get("a", clock.monotonic())).toBeUndefined();
  cache.slotMoved("devnet", "processed");
  expect(commitmentCache.get("a", clock.monotonic())?.name).toBe("a");
  cache.slotMoved("devnet", "confirmed");
  expect(commitmentCache.get("a", clock.monotonic())).toBeUndefined();
  await commitmentCache.load(
    "a",
    async () => value("b"),
    (kept) => ({ value: kept, until: "slot" }),
  );
  clock.advance(4_999);
  expect(commitmentCache.get("a", clock.monotonic())?.name).toBe("b");
  clock.advance(1);
  expect(commitmentCache.get("a", clock.monotonic())).toBeUndefined();
});

test("nothing is stored until a slot that no notice would announce", async () => {
  const { clock, state, commitmentCache } = makeCache();
  state.isLive = false;
  await commitmentCache.load(
    "a",
    async () => value("a"),
    (kept) => ({ value: kept, until: "slot" }),
  );
  expect(commitmentCache.get("a", clock.monotonic())).toBeUndefined();
});

test("an answer that was asked for before a notice is not kept after it", async () => {
  const { clock, cache, commitmentCache } = makeCache();
  const answer = Promise.withResolvers<Value>();
  const loading = commitmentCache.load(
    "a",
    () => answer.promise,
    (kept) => ({ value: kept, until: "slot" }),
  );
  cache.slotMoved("devnet", "confirmed");
  answer.resolve(value("a"));
  expect((await loading).name).toBe("a");
  expect(commitmentCache.get("a", clock.monotonic())).toBeUndefined();
});

test("history is shared by the commitments of its network and outlives slots, for 5 minutes", async () => {
  const { clock, cache, commitmentCache } = makeCache();
  await commitmentCache.load(
    "a",
    async () => value("a"),
    (kept) => ({ value: kept, until: "final" }),
  );
  cache.slotMoved("devnet", "confirmed");
  expect(cache.of("devnet", "finalized").get("a", clock.monotonic())?.name).toBe("a");
  expect(cache.of("mainnet", "finalized").get("a", clock.monotonic())).toBeUndefined();
  clock.advance(300_000);
  expect(commitmentCache.get("a", clock.monotonic())).toBeUndefined();
});

test("a call from before a notice is not joined after it, and its end takes nothing from the call that came after", async () => {
  const { cache, commitmentCache } = makeCache();
  const [before, after] = [Promise.withResolvers<Value>(), Promise.withResolvers<Value>()];
  const early = commitmentCache.load(
    "a",
    () => before.promise,
    () => null,
  );
  cache.slotMoved("devnet", "processed");
  expect(commitmentCache.inFlight("a")).toBe(early);
  cache.slotMoved("devnet", "confirmed");
  expect(commitmentCache.inFlight("a")).toBeUndefined();
  const late = commitmentCache.load(
    "a",
    () => after.promise,
    () => null,
  );
  before.resolve(value("before"));
  expect((await early).name).toBe("before");
  expect(commitmentCache.inFlight("a")).toBe(late);
  after.resolve(value("after"));
  expect((await late).name).toBe("after");
  expect(commitmentCache.inFlight("a")).toBeUndefined();
});

test("a call under way is shared, and gone when it has failed", async () => {
  const { commitmentCache } = makeCache();
  const answer = Promise.withResolvers<Value>();
  const loading = commitmentCache.load(
    "a",
    () => answer.promise,
    () => null,
  );
  expect(commitmentCache.inFlight("a")).toBe(loading);
  answer.reject(new Error("lost"));
  await expect(loading).rejects.toThrow("lost");
  expect(commitmentCache.inFlight("a")).toBeUndefined();
});

test("what was stored of a network is gone once its chain is another one, and so is what comes of calls under way", async () => {
  const { clock, cache, commitmentCache } = makeCache();
  const late = Promise.withResolvers<Value>();
  const keptAs =
    (until: "slot" | "final") =>
    (kept: Value): Retention<Value> => ({ value: kept, until });
  await commitmentCache.load("slot", async () => value("slot"), keptAs("slot"));
  await commitmentCache.load("final", async () => value("final"), keptAs("final"));
  const elsewhere = cache.of("mainnet", "confirmed");
  await elsewhere.load("final", async () => value("elsewhere"), keptAs("final"));
  const loading = commitmentCache.load("late", () => late.promise, keptAs("final"));
  cache.forget("devnet");
  for (const key of ["slot", "final"]) expect(commitmentCache.get(key, clock.monotonic())).toBeUndefined();
  expect(commitmentCache.inFlight("late")).toBeUndefined();
  late.resolve(value("late"));
  expect((await loading).name).toBe("late");
  expect(commitmentCache.get("late", clock.monotonic())).toBeUndefined();
  expect(elsewhere.get("final", clock.monotonic())?.name).toBe("elsewhere");
});

test("the bytes are those of all answers, and history is evicted at once when its bound is lowered", async () => {
  const { clock, cache } = makeCache();
  const bytesOf = async (network: "devnet" | "mainnet", until: "slot" | "final"): Promise<number> => {
    const before = cache.bytes;
    const retain = (kept: Value): Retention<Value> => ({ value: kept, until });
    await cache.of(network, "confirmed").load(until, async () => value(until, 5_000), retain);
    return cache.bytes - before;
  };
  expect(cache.bytes).toBe(0);
  const added = [await bytesOf("devnet", "slot"), await bytesOf("devnet", "final"), await bytesOf("mainnet", "final")];
  for (const bytes of added) expect(bytes).toBeGreaterThan(5_000);
  cache.resizeFinal(4_000);
  expect(cache.bytes).toBe(added[0] as number);
  expect(cache.of("devnet", "confirmed").get("slot", clock.monotonic())?.name).toBe("slot");
});

test("the bound in bytes holds, and the entries set first are evicted first", () => {
  const cache = new FifoCache<Value>({ bytesMax: 10_000 });
  for (let index = 0; index < 100; index += 1) {
    cache.set(`k${index}`, value(`v${index}`, 500), 1_000);
    cache.set("k0", value("v0", 500), 1_000);
    expect(cache.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(cache.get("k0", 0)?.name).toBe("v0");
  expect(cache.get("k1", 0)).toBeUndefined();
  expect(cache.get("k99", 0)?.name).toBe("v99");
  cache.set("large", value("large", 5_000), 1_000);
  expect(cache.get("large", 0)).toBeUndefined();
  cache.set("k99", value("again", 500), 1_000);
  expect(cache.get("k99", 0)?.name).toBe("again");
  cache.clear();
  expect([cache.bytes, cache.size]).toEqual([0, 0]);
});

test("a bound is used up to its last byte, and an eighth of it is the largest value", () => {
  const cache = new FifoCache<Value>({ bytesMax: 8 * 1_300 });
  // An entry of a key of one character has 282 bytes beside its value.
  for (const key of "abcdefgh") cache.set(key, value(key, 1_018), 1_000);
  expect([cache.size, cache.bytes]).toEqual([8, 8 * 1_300]);
  cache.set("i", value("i", 1_019), 1_000);
  expect([cache.size, cache.get("i", 0)]).toEqual([8, undefined]);
});
