import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ChainAccount } from "../model.ts";
import { AccountStore } from "./accounts.ts";

const OWNERS = ["11111111111111111111111111111111", "Vote111111111111111111111111111111111111111"] as const;

function account(lamports: bigint, owner: string = OWNERS[0]): ChainAccount {
  return { lamports, data: new Uint8Array(), owner, executable: false, rentEpoch: 0n };
}

test("every slot from the root on shows the account as it was then", () => {
  const store = new AccountStore();
  store.write(1n, "a", account(1n));
  store.write(3n, "a", account(3n));
  store.write(3n, "a", account(33n));
  store.write(5n, "a", null);
  const seen = [0n, 1n, 2n, 3n, 4n, 5n, 6n].map((slot) => store.get("a", slot)?.lamports ?? null);
  expect(seen).toEqual([null, 1n, 1n, 33n, 33n, null, null]);
  expect(store.changedAfter("a", 4n)).toBe(true);
  expect(store.changedAfter("a", 5n)).toBe(false);
});

test("rooting drops what no commitment can ask for, and a deleted account leaves nothing behind", () => {
  const store = new AccountStore();
  store.write(1n, "a", account(1n));
  store.write(2n, "a", null);
  store.root(1n);
  expect(store.get("a", 1n)?.lamports).toBe(1n);
  expect([...store.ofProgram(OWNERS[0], 1n)].map(([address]) => address)).toEqual(["a"]);
  store.root(2n);
  expect(store.get("a", 1n)).toBeNull();
  expect(store.size).toBe(0);
  expect([...store.ofProgram(OWNERS[0], 2n)]).toEqual([]);
  expect(store.lamports).toBe(0n);
});

test("against a plain copy of every slot: reads, program listings and lamports agree at each slot not below the root", () => {
  const write = fc.record({
    address: fc.constantFrom("a", "b", "c"),
    lamports: fc.bigInt(0n, 5n),
    owner: fc.constantFrom(...OWNERS),
  });
  fc.assert(
    fc.property(fc.array(fc.array(write, { maxLength: 4 }), { maxLength: 12 }), fc.nat(4), (slots, rootBehind) => {
      const store = new AccountStore();
      const copies: Map<string, ChainAccount>[] = [new Map()];
      slots.forEach((writes, index) => {
        const slot = BigInt(index + 1);
        const copy = new Map(copies[index]);
        for (const { address, lamports, owner } of writes) {
          const written = lamports === 0n ? null : account(lamports, owner);
          store.write(slot, address, written);
          if (written === null) copy.delete(address);
          else copy.set(address, written);
        }
        copies.push(copy);
        const root = Math.max(0, index + 1 - rootBehind);
        store.root(BigInt(root));
        for (let at = root; at <= index + 1; at += 1) {
          const expected = copies[at] ?? new Map<string, ChainAccount>();
          for (const address of ["a", "b", "c"]) {
            expect(store.get(address, BigInt(at))).toEqual(expected.get(address) ?? null);
          }
          for (const owner of OWNERS) {
            const listed = [...store.ofProgram(owner, BigInt(at))].map(([address]) => address).sort();
            const wanted = [...expected]
              .filter(([, held]) => held.owner === owner)
              .map(([address]) => address)
              .sort();
            expect(listed).toEqual(wanted);
          }
        }
        const sum = [...copy.values()].reduce((total, held) => total + held.lamports, 0n);
        expect(store.lamports).toBe(sum);
      });
    }),
    { numRuns: 200, seed: 5 },
  );
});
