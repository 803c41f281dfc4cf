import { beforeEach, expect, test } from "bun:test";
import { programs } from "@sluice/wire";
import type { AccountSource, RawAccount } from "../simulation.ts";
import { AccountCache } from "./account-cache.ts";
import type { AccountEntry } from "./account-entry.ts";
import { AccountSupply, supplyBounds } from "./account-supply.ts";
import { keyOf } from "./key-name.ts";

const loader = keyOf(programs.bpfLoaderUpgradeable);
let slot: bigint;
let chain: Map<string, RawAccount>;
let reads: { readonly count: number; readonly dataBytes: number | null; readonly minimumSlot: bigint }[];
let gate: Promise<void>;
let underWay: number;
let mostUnderWay: number;
let fails: boolean;
let cache: AccountCache;
let supply: AccountSupply;

const source: AccountSource = {
  async accounts(addresses, { dataBytes, minimumSlot }) {
    reads.push({ count: addresses.length, dataBytes, minimumSlot });
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await gate;
    underWay -= 1;
    if (fails) throw new Error("no node answers");
    const accounts = addresses.map((address) => {
      const account = chain.get(address);
      return account === undefined ? null : { ...account, data: account.data.slice(0, dataBytes ?? account.space) };
    });
    return { slot, accounts };
  },
};

beforeEach(() => {
  slot = 10n;
  chain = new Map();
  reads = [];
  gate = Promise.resolve();
  [underWay, mostUnderWay, fails] = [0, 0, false];
  cache = new AccountCache({ bytesMax: 1 << 30, onForgotten: () => undefined });
  supply = new AccountSupply({ cache, source, newestSlot: () => slot, nowMs: () => performance.now() });
});

function entryOf(number: number): AccountEntry {
  const key = new Uint8Array(32);
  new DataView(key.buffer).setUint32(0, number + 1);
  return cache.of(key);
}

function put(entry: AccountEntry, data: Uint8Array, owner: Uint8Array = new Uint8Array(32)): void {
  chain.set(entry.address, { lamports: 1n, owner, executable: false, data, space: data.length });
}

test("what is wanted at one moment is read together, a hundred at most, a few reads at a time, each entry once", async () => {
  const entries = Array.from({ length: 1_950 }, (_, index) => entryOf(index));
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const reading = [supply.read(entries), supply.read(entries.slice(0, 500))];
  await null;
  expect(reads.length).toBe(supplyBounds.reads);
  resolve();
  expect(await Promise.all(reading)).toEqual([true, true]);
  expect(mostUnderWay).toBe(supplyBounds.reads);
  expect(reads.map(({ count }) => count)).toEqual([...Array.from({ length: 19 }, () => supplyBounds.addresses), 50]);
  expect(entries.every((entry) => supply.isFresh(entry, 10n) && !supply.isFresh(entry, 11n))).toBe(true);
});

test("a large account is looked at, told by its size, and read whole when it is asked for again", async () => {
  const entry = entryOf(1);
  put(entry, new Uint8Array(supplyBounds.smallBytes + 1).fill(7));
  await supply.read([entry]);
  expect([entry.space, supply.isFresh(entry, slot)]).toEqual([supplyBounds.smallBytes + 1, false]);
  await supply.read([entry]);
  expect([entry.account?.data.length, supply.isFresh(entry, slot)]).toEqual([supplyBounds.smallBytes + 1, true]);
  expect(reads.map(({ dataBytes }) => dataBytes)).toEqual([supplyBounds.smallBytes, null]);
});

test("a program's code is read again only when its head says that it was deployed anew", async () => {
  const entry = entryOf(1);
  const code = new Uint8Array(supplyBounds.smallBytes * 2);
  code.set([3, 0, 0, 0, 5]);
  put(entry, code, loader);
  await supply.read([entry]);
  await supply.read([entry]);
  const { version } = entry;
  slot = 11n;
  await supply.read([entry]);
  expect([entry.version, supply.isFresh(entry, 11n)]).toEqual([version, true]);
  const anew = code.slice();
  anew.set([3, 0, 0, 0, 11]);
  put(entry, anew, loader);
  slot = 12n;
  await supply.read([entry]);
  expect(supply.isFresh(entry, 12n)).toBe(false);
  await supply.read([entry]);
  expect([entry.account?.data[4], supply.isFresh(entry, 12n)]).toEqual([11, true]);
  expect(reads.map(({ dataBytes }) => dataBytes)).toEqual([supplyBounds.smallBytes, null, 45, 45, null]);
});

test("programs of loaders that change nothing are read once", async () => {
  const [fixed, builtIn] = [entryOf(1), entryOf(2)];
  const executable = { lamports: 1n, executable: true, data: new Uint8Array(9), space: 9 };
  chain.set(fixed.address, { ...executable, owner: keyOf(programs.bpfLoader) });
  chain.set(builtIn.address, { ...executable, owner: keyOf(programs.nativeLoader) });
  await supply.read([fixed, builtIn]);
  expect([fixed, builtIn].map((entry) => supply.isFresh(entry, 1_000n))).toEqual([true, true]);
  expect([fixed.isBuiltIn, builtIn.isBuiltIn]).toEqual([false, true]);
});

test("a read that fails says so, and the next one is made anew, from the newest slot on", async () => {
  const entry = entryOf(1);
  fails = true;
  expect(await supply.read([entry])).toBe(false);
  [fails, slot] = [false, 12n];
  expect(await supply.read([entry])).toBe(true);
  expect(reads.map(({ minimumSlot }) => minimumSlot)).toEqual([10n, 12n]);
  expect([entry.account, entry.version > 0]).toEqual([null, true]);
});
