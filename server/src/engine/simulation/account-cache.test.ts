import { expect, test } from "bun:test";
import { AccountCache } from "./account-cache.ts";
import type { RawAccount } from "./simulation.ts";

const keyOfNumber = (number: number): Uint8Array => new Uint8Array(32).fill(number + 1);
const account = (bytes: number, lamports = 1n): RawAccount => ({
  ...{ lamports, owner: new Uint8Array(32), executable: false, data: new Uint8Array(bytes), space: bytes },
});

const at = (slot: bigint) => ({ slot, readSlot: slot });

test("beyond its bound the cache forgets entries not used recently, never held ones, and reuses their handles", () => {
  const forgotten: string[] = [];
  const cache = new AccountCache({ bytesMax: 50_000, onForgotten: ({ address }) => forgotten.push(address) });
  const held = cache.of(keyOfNumber(0));
  held.pins += 1;
  let used = cache.of(keyOfNumber(1));
  cache.record(held, account(10_000), at(1n));
  for (let number = 1; number < 60; number += 1) {
    cache.record(cache.of(keyOfNumber(number)), account(10_000), at(1n));
    cache.sweep();
    used = cache.of(keyOfNumber(1));
  }
  expect(cache.bytes).toBeLessThanOrEqual(62_500);
  expect(cache.of(keyOfNumber(0))).toBe(held);
  expect(forgotten).not.toContain(held.address);
  expect(forgotten).not.toContain(used.address);
  expect(forgotten.length).toBe(60 - cache.size);
  const handles = Array.from({ length: 60 }, (_, number) => cache.of(keyOfNumber(number)).handle);
  expect(new Set(handles).size).toBe(60);
  expect(Math.max(...handles)).toBeLessThan(60);
});

test("a version changes with the account alone, and a read of an older slot changes nothing", () => {
  const cache = new AccountCache({ bytesMax: 50_000, onForgotten: () => undefined });
  const entry = cache.of(keyOfNumber(3));
  cache.record(entry, account(100), at(5n));
  const { version } = entry;
  cache.record(entry, account(100), at(6n));
  expect([entry.version, entry.slot]).toEqual([version, 6n]);
  cache.record(entry, account(100, 2n), { slot: 9n, readSlot: 4n });
  expect([entry.version, entry.account?.lamports]).toEqual([version, 1n]);
  cache.record(entry, null, at(7n));
  expect(entry.version).toBeGreaterThan(version);
  expect(cache.bytes).toBeLessThan(1_000);
});
