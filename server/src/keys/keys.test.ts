import { expect, test } from "bun:test";
import { type Permission, permissions } from "@sluice/contract/tiers";
import { type Grant, grantOf } from "./grant.ts";
import { allowsMethod, compileMethods } from "./methods.ts";
import { account, bootKeys, codeOf, hashOf, newKey, record } from "./testing/booted-keys.ts";

test("a missing or malformed key is refused without a look-up and without waiting", () => {
  const { keys, store } = bootKeys();
  const valid = newKey();
  for (const presented of [
    null,
    "",
    "x",
    valid.slice(0, -1),
    `${valid.slice(0, -1)}!`,
    valid.replace("live", "dev"),
    "a".repeat(100_000),
  ]) {
    expect(keys.authenticate(presented)).toEqual({ ok: false, code: "INVALID_API_KEY" });
  }
  expect(store.lookups).toBe(0);
});

test("a known key is looked up once in five minutes and answered synchronously in between", async () => {
  const { keys, clock, store, put } = bootKeys();
  const presented = newKey();
  put(presented);
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  clock.advance(5 * 60_000 - 1);
  expect(codeOf(keys.authenticate(presented) as Grant)).toBe("granted");
  expect(store.lookups).toBe(1);
  clock.advance(1);
  expect(keys.authenticate(presented)).toBeInstanceOf(Promise);
  expect(store.lookups).toBe(2);
});

test("whose a key is that was used before is known without a look-up, until the key is invalidated", async () => {
  const { keys, clock, store, put } = bootKeys();
  const [presented, revoked] = [newKey(), newKey()];
  put(presented);
  put(revoked, { status: "revoked" });
  expect([keys.remembered(presented), store.lookups]).toEqual([null, 0]);
  await keys.authenticate(presented);
  await keys.authenticate(revoked);
  clock.advance(60 * 60_000);
  expect(keys.remembered(presented)).toMatchObject({ accountId: "acc_1" });
  expect(keys.remembered(revoked)).toBeNull();
  keys.invalidate(hashOf(presented));
  expect([keys.remembered(presented), store.lookups]).toEqual([null, 2]);
});

test("requests that arrive together with one unknown or cold key share one look-up", async () => {
  const { keys, store, put } = bootKeys();
  const presented = newKey();
  put(presented);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => keys.authenticate(presented)));
  expect(outcomes.map(codeOf)).toEqual(Array.from({ length: 50 }, () => "granted"));
  expect(store.lookups).toBe(1);
});

test("an unknown key is remembered for a while only, and not past its invalidation", async () => {
  const { keys, clock, store, put } = bootKeys();
  const presented = newKey();
  expect(codeOf(await keys.authenticate(presented))).toBe("INVALID_API_KEY");
  expect(keys.authenticate(presented)).toEqual({ ok: false, code: "INVALID_API_KEY" });
  expect(store.lookups).toBe(1);
  put(presented);
  keys.invalidate(hashOf(presented));
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  const second = newKey();
  await keys.authenticate(second);
  put(second);
  clock.advance(30_000);
  expect(codeOf(await keys.authenticate(second))).toBe("granted");
});

test("the keys of a disabled account are KEY_INACTIVE, and open it again when it is enabled", async () => {
  const { keys, stored } = bootKeys();
  const presented = newKey();
  for (const disabledAt of [null, 5, null]) {
    stored.set(hashOf(presented), { key: record(presented), account: account({ disabledAt }) });
    keys.invalidateAccount("acc_1");
    expect(codeOf(await keys.authenticate(presented))).toBe(disabledAt === null ? "granted" : "KEY_INACTIVE");
  }
});

test("disabled and revoked keys are KEY_INACTIVE, and an expired one is from its very millisecond on", async () => {
  const { keys, clock, put } = bootKeys();
  for (const status of ["disabled", "revoked"] as const) {
    const presented = newKey();
    put(presented, { status });
    expect(codeOf(await keys.authenticate(presented))).toBe("KEY_INACTIVE");
    expect(keys.authenticate(presented)).toEqual({ ok: false, code: "KEY_INACTIVE" });
  }
  const presented = newKey();
  put(presented, { expiresAt: clock.now() + 1_000 });
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  clock.advance(999);
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  clock.advance(1);
  expect(keys.authenticate(presented)).toEqual({ ok: false, code: "KEY_INACTIVE" });
});

test("a development key is refused without a look-up where it is not accepted", () => {
  const { keys, store, put } = bootKeys({ developmentKeys: "refuse" });
  const presented = newKey("dev");
  put(presented);
  expect(keys.authenticate(presented)).toEqual({ ok: false, code: "INVALID_API_KEY" });
  expect(store.lookups).toBe(0);
});

test("a revocation works at once, also while the key is being looked up", async () => {
  const { keys, store, put } = bootKeys();
  const presented = newKey();
  put(presented);
  await keys.authenticate(presented);
  put(presented, { status: "revoked" });
  keys.invalidate(hashOf(presented));
  expect(codeOf(await keys.authenticate(presented))).toBe("KEY_INACTIVE");

  const second = newKey();
  put(second);
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const outcome = keys.authenticate(second);
  put(second, { status: "revoked" });
  keys.invalidate(hashOf(second));
  gate.resolve();
  expect(codeOf(await outcome)).toBe("KEY_INACTIVE");
});

test("a key that changes again during each of its look-ups is not granted by what was before", async () => {
  const { keys, store, put } = bootKeys();
  const presented = newKey();
  put(presented);
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  store.gate = gates[0]?.promise ?? null;
  const early = keys.authenticate(presented);
  for (const [read, gate] of gates.entries()) {
    expect(store.lookups).toBe(read + 1);
    put(presented, { status: read === 4 ? "revoked" : "active" });
    keys.invalidate(hashOf(presented));
    store.gate = gates[read + 1]?.promise ?? null;
    if (read === 4) {
      const late = keys.authenticate(presented);
      gate.resolve();
      expect([codeOf(await early), codeOf(await late)]).toEqual(["OVERLOADED", "OVERLOADED"]);
    }
    gate.resolve();
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
  expect(codeOf(await keys.authenticate(presented))).toBe("KEY_INACTIVE");
});

test("a change of tier reaches all keys of the account and no others", async () => {
  const { keys, store, stored, put } = bootKeys();
  const [first, other] = [newKey(), newKey()];
  put(first);
  stored.set(hashOf(other), { key: record(other, { accountId: "acc_2" }), account: account({ id: "acc_2" }) });
  await keys.authenticate(first);
  await keys.authenticate(other);
  keys.invalidateAccount("acc_1");
  await keys.authenticate(first);
  await keys.authenticate(other);
  expect(store.lookups).toBe(3);
  keys.invalidateAll();
  await keys.authenticate(other);
  expect(store.lookups).toBe(4);
});

test("while the store fails a known key serves through a bounded grace, asking again once a second; then nothing is granted", async () => {
  const { keys, clock, store, put, warnings } = bootKeys();
  const presented = newKey();
  put(presented);
  await keys.authenticate(presented);
  store.isDown = true;
  clock.advance(5 * 60_000);
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  expect(store.lookups).toBe(2);
  expect(codeOf(keys.authenticate(presented) as Grant)).toBe("granted");
  clock.advance(1_000);
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  expect(store.lookups).toBe(3);
  clock.advance(15 * 60_000);
  expect(codeOf(await keys.authenticate(presented))).toBe("STORE_UNAVAILABLE");
  expect(warnings.length).toBeGreaterThan(0);
  store.isDown = false;
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
});

test("while the store fails a key that is not known, or was invalidated, is never granted", async () => {
  const { keys, store, put } = bootKeys();
  const [known, unknown] = [newKey(), newKey()];
  put(known);
  await keys.authenticate(known);
  store.isDown = true;
  keys.invalidate(hashOf(known));
  expect(codeOf(await keys.authenticate(known))).toBe("STORE_UNAVAILABLE");
  expect(codeOf(await keys.authenticate(unknown))).toBe("STORE_UNAVAILABLE");
});

test("a key that was found to be gone is not granted by what was known of it, when the store fails afterwards", async () => {
  const { keys, clock, stored, store, put } = bootKeys();
  const presented = newKey();
  put(presented);
  expect(codeOf(await keys.authenticate(presented))).toBe("granted");
  stored.clear();
  clock.advance(5 * 60_000);
  expect(codeOf(await keys.authenticate(presented))).toBe("INVALID_API_KEY");
  store.isDown = true;
  clock.advance(31_000);
  expect(codeOf(await keys.authenticate(presented))).toBe("STORE_UNAVAILABLE");
});

test("a store that does not answer is given up after its deadline", async () => {
  const { keys, clock, store } = bootKeys({ lookupTimeoutMs: 5 });
  store.gate = new Promise(() => undefined);
  const waiting = keys.authenticate(newKey());
  clock.advance(5);
  expect(codeOf(await waiting)).toBe("STORE_UNAVAILABLE");
});

test("a flood of made-up keys takes no place from keys that were seen before, also from those that have changed", async () => {
  const { keys, store, put } = bootKeys({ lookupsMax: 3, unknownLookupsMax: 2 });
  const presented = newKey();
  put(presented);
  await keys.authenticate(presented);
  expect(store.askers).toEqual([false]);
  keys.invalidate(hashOf(presented));
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const flood = [keys.authenticate(newKey()), keys.authenticate(newKey())];
  expect(keys.authenticate(newKey())).toEqual({ ok: false, code: "OVERLOADED" });
  const known = keys.authenticate(presented);
  expect(store.askers).toEqual([false, false, false, true]);
  gate.resolve();
  expect(codeOf(await known)).toBe("granted");
  expect((await Promise.all(flood)).map(codeOf)).toEqual(["INVALID_API_KEY", "INVALID_API_KEY"]);
});

test("look-ups at one time are bounded", async () => {
  const { keys, store } = bootKeys({ lookupsMax: 2 });
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const waiting = [keys.authenticate(newKey()), keys.authenticate(newKey())];
  expect(keys.authenticate(newKey())).toEqual({ ok: false, code: "OVERLOADED" });
  gate.resolve();
  expect((await Promise.all(waiting)).map(codeOf)).toEqual(["INVALID_API_KEY", "INVALID_API_KEY"]);
});

test("the cache is bounded, a flood of unknown keys displaces no known one, and used keys outlive unused ones", async () => {
  const { keys, store, put } = bootKeys({ knownMax: 3, unknownMax: 3 });
  const known = [newKey(), newKey(), newKey()];
  for (const presented of known) {
    put(presented);
    await keys.authenticate(presented);
  }
  for (let index = 0; index < 20; index += 1) await keys.authenticate(newKey());
  const before = store.lookups;
  for (const presented of known) expect(keys.authenticate(presented)).not.toBeInstanceOf(Promise);
  expect(store.lookups).toBe(before);
  // The first new key clears every flag and takes the oldest place; the used one then outlives the next eviction.
  const [, second = "", third = ""] = known;
  const newcomers = [newKey(), newKey()];
  for (const presented of newcomers) put(presented);
  await keys.authenticate(newcomers[0] ?? "");
  void keys.authenticate(second);
  await keys.authenticate(newcomers[1] ?? "");
  expect(keys.authenticate(second)).not.toBeInstanceOf(Promise);
  expect(keys.authenticate(third)).toBeInstanceOf(Promise);
});

test("a record that does not have the hash it was asked for grants nothing", async () => {
  const { keys, stored } = bootKeys();
  const [presented, other] = [newKey(), newKey()];
  stored.set(hashOf(presented), { key: record(other), account: account() });
  expect(codeOf(await keys.authenticate(presented))).toBe("INVALID_API_KEY");
});

test("last-used times are written in one batch, kept while the store fails, and written on disposal", async () => {
  const { keys, clock, store, touched, put } = bootKeys();
  const [first, second] = [newKey(), newKey()];
  put(first);
  put(second);
  await keys.authenticate(first);
  await keys.authenticate(second);
  clock.advance(1_000);
  await keys.authenticate(first);
  store.isDown = true;
  await expect(keys.flush()).rejects.toThrow("store down");
  store.isDown = false;
  await keys.flush();
  expect(touched).toEqual([
    new Map([
      [record(first).id, clock.now()],
      [record(second).id, clock.now() - 1_000],
    ]),
  ]);
  await keys.flush();
  expect(touched).toHaveLength(1);
  await keys.authenticate(second);
  await keys[Symbol.asyncDispose]();
  expect(touched[1]).toEqual(new Map([[record(second).id, clock.now()]]));
});

test("a key's own rate binds it below its account's and never above", () => {
  const presented = newKey();
  const plain = grantOf(record(presented), account());
  expect(plain.buckets.send).toEqual([{ bucket: "send:acc_1", requestsPerSecond: 20, burst: 40 }]);
  expect(plain.buckets.requests).toEqual([{ bucket: "requests:acc_1", requestsPerSecond: 50, burst: 100 }]);
  const own = grantOf(record(presented, { requestsPerSecond: 5 }), account());
  expect(own.buckets.requests).toEqual([
    { bucket: `requests:${own.keyId}`, requestsPerSecond: 5, burst: 10 },
    { bucket: "requests:acc_1", requestsPerSecond: 50, burst: 100 },
  ]);
  const wide = grantOf(record(presented, { requestsPerSecond: 5_000 }), account({ requestsPerSecond: 70 }));
  expect(wide.buckets.requests).toEqual([{ bucket: "requests:acc_1", requestsPerSecond: 70, burst: 140 }]);
  expect(plain.creditsMonthly).toBe(2_500_000n);
  expect(grantOf(record(presented), account({ creditsMonthly: 5n })).creditsMonthly).toBe(5n);
});

test("admin holds every permission, and no other permission holds another", () => {
  const granted = (...held: Permission[]) => grantOf(record("x", { permissions: held }), account()).permissions;
  expect([...granted("admin")]).toEqual([...permissions]);
  for (const permission of permissions.filter((name) => name !== "admin")) {
    expect([...granted(permission)]).toEqual([permission]);
  }
  expect([...granted()]).toEqual([]);
});

test("a list of methods allows what it names, beginnings with a final star, and the end of what it may subscribe to", () => {
  expect(compileMethods([])).toBeNull();
  const allows = (entries: readonly string[], method: string): boolean => {
    const methods = compileMethods(entries);
    return methods === null || allowsMethod(methods, method);
  };
  const cases: readonly [readonly string[], string, boolean][] = [
    [["getSlot"], "getSlot", true],
    [["getSlot"], "getSlotLeader", false],
    [["getSlot"], "getslot", false],
    [["getSlot"], "", false],
    [["getToken*"], "getTokenSupply", true],
    [["getToken*"], "getToken", true],
    [["getToken*"], "getTokeSupply", false],
    [["accountSubscribe"], "accountUnsubscribe", true],
    [["accountS*"], "accountUnsubscribe", true],
    [["accountUnsubscribe"], "accountSubscribe", false],
    [["getSlot"], "accountUnsubscribe", false],
    [["accountSubscribe"], "accountNotifications", false],
    [["getBalance", "send*"], "sendTransaction", true],
  ];
  for (const [entries, method, allowed] of cases) {
    expect([entries, method, allows(entries, method)]).toEqual([entries, method, allowed]);
  }
});
