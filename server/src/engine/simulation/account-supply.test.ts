import { beforeEach, expect, test } from "bun:test";
import { monotonicMs, systemClock } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import fc from "fast-check";
import type { AccountEntry } from "./account-cache.ts";
import { AccountCache } from "./account-cache.ts";
import { AccountSupply, supplyBounds } from "./account-supply.ts";
import type { AccountSource, RawAccount } from "./simulation.ts";

const loader = addressBytes(programs.bpfLoaderUpgradeable);
let slot: bigint;
let chain: Map<string, RawAccount>;
let reads: { readonly count: number; readonly dataBytes: number | null; readonly minimumSlot: bigint }[];
let gate: Promise<void>;
let underWay: number;
let mostUnderWay: number;
let fails: boolean;
/** The slot that the node which answers is at, where it is not the newest. */
let nodeSlot: bigint | null;
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
    return { slot: nodeSlot ?? slot, accounts };
  },
};

beforeEach(() => {
  slot = 10n;
  chain = new Map();
  reads = [];
  gate = Promise.resolve();
  [underWay, mostUnderWay, fails, nodeSlot] = [0, 0, false, null];
  cache = new AccountCache({ bytesMax: 1 << 30, onForgotten: () => undefined });
  supply = new AccountSupply({ cache, source, newestSlot: () => slot, clock: systemClock });
});

function entryOf(number: number): AccountEntry {
  const key = new Uint8Array(32);
  new DataView(key.buffer).setUint32(0, number + 1);
  return cache.of(key);
}

function put(entry: AccountEntry, data: Uint8Array, owner: Uint8Array = new Uint8Array(32)): void {
  chain.set(entry.address, { lamports: 1n, owner, executable: false, data, space: data.length });
}

test("entries requested at one moment are read together, at most a hundred in a read, a few reads at a time, each once", async () => {
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

test("a large account is first read in part, which shows its size, and read whole when it is requested again", async () => {
  const entry = entryOf(1);
  put(entry, new Uint8Array(supplyBounds.smallBytes + 1).fill(7));
  await supply.read([entry]);
  expect([entry.space, supply.isFresh(entry, slot)]).toEqual([supplyBounds.smallBytes + 1, false]);
  await supply.read([entry]);
  expect([entry.account?.data.length, supply.isFresh(entry, slot)]).toEqual([supplyBounds.smallBytes + 1, true]);
  expect(reads.map(({ dataBytes }) => dataBytes)).toEqual([supplyBounds.smallBytes, null]);
});

test("a program's code is read again only when its head shows a new deployment", async () => {
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

test("programs of loaders that never change them are read once", async () => {
  const [fixed, builtIn] = [entryOf(1), entryOf(2)];
  const executable = { lamports: 1n, executable: true, data: new Uint8Array(9), space: 9 };
  chain.set(fixed.address, { ...executable, owner: addressBytes(programs.bpfLoader) });
  chain.set(builtIn.address, { ...executable, owner: addressBytes(programs.nativeLoader) });
  await supply.read([fixed, builtIn]);
  expect([fixed, builtIn].map((entry) => supply.isFresh(entry, 1_000n))).toEqual([true, true]);
  expect([fixed.isBuiltIn, builtIn.isBuiltIn]).toEqual([false, true]);
});

test("a read that fails returns false, and the next one reads again, from the newest slot on", async () => {
  const entry = entryOf(1);
  fails = true;
  expect(await supply.read([entry])).toBe(false);
  [fails, slot] = [false, 12n];
  expect(await supply.read([entry])).toBe(true);
  expect(reads.map(({ minimumSlot }) => minimumSlot)).toEqual([10n, 12n]);
  expect([entry.account, entry.version > 0]).toEqual([null, true]);
});

test("the answer of a node that is behind does not replace a newer one, nor does its head of a program's code", async () => {
  const [plain, program] = [entryOf(1), entryOf(2)];
  const code = new Uint8Array(supplyBounds.smallBytes * 2);
  code.set([3, 0, 0, 0, 11]);
  put(plain, Uint8Array.of(2));
  put(program, code, loader);
  await supply.read([plain, program]);
  await supply.read([program]);
  put(plain, Uint8Array.of(1));
  const before = code.slice();
  before.set([3, 0, 0, 0, 5]);
  put(program, before, loader);
  [slot, nodeSlot] = [11n, 8n];
  expect(await supply.read([plain, program])).toBe(true);
  expect([plain.account?.data[0], program.account?.data[4], plain.readSlot]).toEqual([2, 11, 10n]);
  expect([plain, program].every((entry) => supply.isFresh(entry, 11n))).toBe(true);
});

test("the answer of a node far behind another, or far behind the newest slot, is rejected", async () => {
  const [known, other, third] = [entryOf(1), entryOf(2), entryOf(3)];
  slot = 100n;
  await supply.read([known]);
  nodeSlot = 100n - supplyBounds.behindOthersSlots;
  expect(await supply.read([other])).toBe(true);
  nodeSlot -= 1n;
  expect(await supply.read([third])).toBe(false);
  expect([third.slot, third.version]).toEqual([-1n, 0]);
  [slot, nodeSlot] = [200n, 200n - supplyBounds.behindSlots - 1n];
  expect(await supply.read([third])).toBe(false);
});

test("a node that claims slots which were not reported does not cause other answers to be rejected", async () => {
  const entry = entryOf(1);
  put(entry, Uint8Array.of(66));
  [slot, nodeSlot] = [100n, 10n ** 15n];
  await supply.read([entry]);
  expect(supply.isFresh(entry, 100n + supplyBounds.behindOthersSlots + 1n)).toBe(false);
  put(entry, Uint8Array.of(7));
  nodeSlot = null;
  slot = 100n + supplyBounds.behindOthersSlots;
  expect(await supply.read([entry])).toBe(true);
  expect(entry.account?.data[0]).toBe(7);
});

/** Of the number of an account and a slot, what it holds then: it changes now and then, each in its own rhythm. */
const heldAt = (number: number, at: bigint): number => Number(at) - (Number(at) % (number + 2));

test("with nodes at different slots no account ever goes back, and each is as it was at its slot", async () => {
  const step = fc.record({
    advance: fc.integer({ min: 0, max: 6 }),
    lag: fc.integer({ min: 0, max: 40 }),
    requested: fc.uniqueArray(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 5 }),
    /** How many steps later the answer comes. */
    late: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
      let newest = 1_000n;
      const numbers = new Map<string, number>();
      const due: (() => void)[][] = steps.map(() => []);
      let [at, lag, late] = [0, 0, 0];
      // So late each time that no read waits for others.
      let nowMs = 0;
      const nodes: AccountSource = {
        async accounts(addresses) {
          // A node answers with what it has at the request, however late the answer arrives.
          const nodeAt = newest - BigInt(lag);
          const accounts = addresses.map((address) => {
            const data = new Uint8Array(4);
            new DataView(data.buffer).setUint32(0, heldAt(numbers.get(address) ?? 0, nodeAt));
            return { lamports: 1n, owner: new Uint8Array(32), executable: false, data, space: 4 };
          });
          const gateOfAnswer = due[Math.min(at + late, steps.length - 1)];
          await new Promise<void>((resolve) => gateOfAnswer?.push(resolve));
          return { slot: nodeAt, accounts };
        },
      };
      const own = new AccountCache({ bytesMax: 1 << 30, onForgotten: () => undefined });
      const supplied = new AccountSupply({
        cache: own,
        source: nodes,
        newestSlot: () => newest,
        clock: {
          ...systemClock,
          monotonic: () => {
            nowMs += 1_000;
            return monotonicMs(nowMs);
          },
        },
      });
      const entries = Array.from({ length: 8 }, (_, number) => {
        const entry = own.of(new Uint8Array(32).fill(number + 1));
        numbers.set(entry.address, number);
        return entry;
      });
      const before = entries.map(() => -1n);
      const reading: Promise<boolean>[] = [];
      for (const [index, each] of steps.entries()) {
        newest += BigInt(each.advance);
        [at, lag, late] = [index, each.lag, each.late];
        reading.push(supplied.read(each.requested.flatMap((number) => entries[number] ?? [])));
        await settled();
        for (const answer of due[index] ?? []) answer();
        await settled();
        for (const [number, entry] of entries.entries()) {
          const { account, readSlot } = entry;
          expect(readSlot).toBeGreaterThanOrEqual(before[number] ?? -1n);
          before[number] = readSlot;
          if (account === null) continue;
          expect(Buffer.from(account.data).readUInt32BE(0)).toBe(heldAt(number, readSlot));
          // Whatever counts as right now was read no further back than nodes are believed.
          if (supplied.isFresh(entry, newest)) expect(newest - readSlot).toBeLessThanOrEqual(supplyBounds.behindSlots);
        }
      }
      for (const answers of due) for (const answer of answers) answer();
      await Promise.all(reading);
    }),
    { numRuns: 200 },
  );
}, 30_000);

/** Lets everything run that waits for nothing but its turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
