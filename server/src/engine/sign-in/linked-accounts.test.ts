import { beforeEach, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { LinkedAccounts, linkedKeysMax, linkedKnownMs } from "./linked-accounts.ts";

const [one, other] = ["one" as Address, "other" as Address];
let clock: ManualClock;
let links: Map<Address, string>;
let reads: Address[];
let gate: Promise<void>;
let linked: LinkedAccounts;

beforeEach(() => {
  clock = new ManualClock();
  links = new Map([[one, "account"]]);
  reads = [];
  gate = Promise.resolve();
  linked = new LinkedAccounts({
    clock,
    find: async (pubkey) => {
      reads.push(pubkey);
      const found = links.get(pubkey) ?? null;
      await gate;
      return found;
    },
  });
});

test("a key is read once for all who ask, linked or not, and again when its time is over", async () => {
  const asked = [one, one, other].map((pubkey) => linked.accountOfPubkey(pubkey));
  expect(await Promise.all(asked)).toEqual(["account", "account", null]);
  clock.advance(linkedKnownMs - 1);
  expect([linked.accountOfPubkey(one), linked.accountOfPubkey(other), reads]).toEqual(["account", null, [one, other]]);
  clock.advance(1);
  links.delete(one);
  expect(await linked.accountOfPubkey(one)).toBeNull();
});

test("a change holds at once, also for what was being read when it came", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const before = linked.accountOfPubkey(one);
  links.delete(one);
  linked.forget();
  const after = linked.accountOfPubkey(one);
  resolve();
  expect([await before, await after]).toEqual(["account", null]);
  expect(linked.accountOfPubkey(one)).toBeNull();
  links.set(one, "another");
  linked.forget();
  expect(await linked.accountOfPubkey(one)).toBe("another");
});

test("a store that fails is reported to the caller, and is asked again", async () => {
  gate = Promise.reject(new Error("the store is away"));
  await expect(linked.accountOfPubkey(one)).rejects.toThrow("the store is away");
  gate = Promise.resolve();
  expect(await linked.accountOfPubkey(one)).toBe("account");
});

test("no more keys are remembered than may be, and the oldest go first", async () => {
  await linked.accountOfPubkey(one);
  for (let number = 0; number < linkedKeysMax; number += 1) await linked.accountOfPubkey(`key ${number}` as Address);
  const before = reads.length;
  await linked.accountOfPubkey("key 1" as Address);
  expect(reads.length).toBe(before);
  await linked.accountOfPubkey(one);
  expect(reads.length).toBe(before + 1);
});
