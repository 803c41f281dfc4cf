/** How long what was looked up serves, and what is written of its use. */
import { expect, test } from "bun:test";
import type { Grant } from "./grant.ts";
import { bootKeys, codeOf, hashOf, newKey } from "./testing/booted-keys.ts";

test("a development key is as good as any where it is accepted, and a live one everywhere", async () => {
  for (const [developmentKeys, environment] of [
    ["accept", "dev"],
    ["accept", "live"],
    ["refuse", "live"],
  ] as const) {
    const { keys, put } = bootKeys({ developmentKeys });
    const presented = newKey(environment);
    put(presented);
    expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  }
});

test("the grace ends twenty minutes after the key was last read, to the millisecond", async () => {
  const { keys, clock, store, put } = bootKeys();
  const presented = newKey();
  put(presented);
  await keys.authenticate(presented);
  store.isDown = true;
  clock.advance(20 * 60_000 - 500);
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  clock.advance(499);
  expect(codeOf(keys.authenticate(presented) as Grant)).toBe("granted");
  clock.advance(1);
  expect(codeOf(await keys.authenticate(presented))).toBe("STORE_UNAVAILABLE");
});

test("a key that is invalidated while it is read again, in vain, is not granted by what was known of it", async () => {
  const { keys, clock, store, put, warnings } = bootKeys();
  const presented = newKey();
  put(presented);
  await keys.authenticate(presented);
  clock.advance(5 * 60_000);
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  store.isDown = true;
  const reading = keys.authenticate(presented);
  keys.invalidate(hashOf(presented));
  gate.resolve();
  expect(codeOf(await reading)).toBe("STORE_UNAVAILABLE");
  expect(warnings).toEqual(["keys cannot be looked up"]);
});

test("a key that is not active is read again after half a minute", async () => {
  const { keys, clock, store, put } = bootKeys();
  const presented = newKey();
  put(presented, { status: "disabled" });
  await keys.authenticate(presented);
  put(presented);
  clock.advance(29_999);
  expect(codeOf(await keys.authenticate(presented))).toBe("KEY_INACTIVE");
  expect(store.lookups).toBe(1);
  clock.advance(1);
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
});

test("each way of finding a key is counted", async () => {
  const { keys, outcomes, put } = bootKeys();
  const [known, unknown] = [newKey(), newKey()];
  put(known);
  for (const presented of [null, "x", known, known, unknown, unknown]) await keys.authenticate(presented);
  expect(outcomes).toEqual(["malformed", "miss", "hit", "miss", "negative"]);
});

test("by themselves last-used times are written every half minute, until the end, which waits for the last", async () => {
  const { keys, clock, store, touched, warnings, put } = bootKeys({}, "by themselves");
  const presented = newKey();
  put(presented);
  await keys.authenticate(presented);
  clock.advance(29_999);
  await Bun.sleep(0);
  expect(touched).toHaveLength(0);
  clock.advance(1);
  await Bun.sleep(0);
  expect(touched).toHaveLength(1);
  store.isDown = true;
  await keys.authenticate(presented);
  clock.advance(30_000);
  await Bun.sleep(0);
  expect(warnings).toEqual(["last-used times were not written"]);
  store.isDown = false;
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const ended = keys[Symbol.asyncDispose]();
  expect(await Promise.race([ended, Bun.sleep(0).then(() => "waits")])).toBe("waits");
  gate.resolve();
  await ended;
  expect([touched.length, clock.pendingTimers]).toEqual([2, 0]);
});

test("times that cannot be written at the end are told in the log, and the end is none the worse", async () => {
  const { keys, store, warnings, put } = bootKeys();
  const presented = newKey();
  put(presented);
  await keys.authenticate(presented);
  store.isDown = true;
  await keys[Symbol.asyncDispose]();
  expect(warnings).toEqual(["last-used times were not written"]);
});
