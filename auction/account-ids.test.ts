import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { AccountIds } from "./account-ids.ts";
import type { BundleLocks } from "./interfaces.ts";

const address = (number: number) => addressOfBytes(new Uint8Array(32).fill(number));

test("an account has one number while something holds it, and its locks are distinguished once", () => {
  const ids = new AccountIds({ accountsMax: 10 });
  const first = ids.hold([address(1), address(2), address(1)], [address(2), address(3)]);
  const second = ids.hold([address(3)], [address(1)]);
  expect(first).toEqual({ writes: [0, 1], reads: [2] });
  expect(second).toEqual({ writes: [2], reads: [0] });
  expect(ids.addressOf(2)).toBe(address(3));
  expect(ids.idOf(address(9))).toBeUndefined();
});

test("a request beyond the bound is refused whole, and released numbers are used again", () => {
  const ids = new AccountIds({ accountsMax: 2 });
  const held = ids.hold([address(1)], []);
  expect(ids.hold([address(2)], [address(3)])).toBeNull();
  expect(ids.size).toBe(1);
  if (held !== null) ids.release(held);
  expect(ids.hold([address(2)], [address(3)])).toEqual({ writes: [0], reads: [1] });
  expect(ids.idOf(address(1))).toBeUndefined();
});

test("a second release is an error of the caller", () => {
  const ids = new AccountIds({ accountsMax: 2 });
  const held = ids.hold([address(1)], []);
  if (held === null) throw new Error("there is room");
  ids.release(held);
  expect(() => ids.release(held)).toThrow(RangeError);
});

test("over many bundles that come and go no two held accounts share a number, and numbers stay dense", () => {
  const random = seededRandom(3);
  const ids = new AccountIds({ accountsMax: 40 });
  const live: { locks: BundleLocks; numbers: number[] }[] = [];
  for (let step = 0; step < 3_000; step++) {
    if (random.next() < 0.5 && live.length > 0) {
      const [gone] = live.splice(Math.floor(random.next() * live.length), 1);
      if (gone !== undefined) ids.release(gone.locks);
    } else {
      const numbers = [...new Set(Array.from({ length: 4 }, () => Math.floor(random.next() * 60)))];
      const locks = ids.hold(numbers.map(address), []);
      if (locks !== null) live.push({ locks, numbers });
    }
    const held = new Set(live.flatMap(({ numbers }) => numbers));
    expect(ids.size).toBe(held.size);
    for (const { locks, numbers } of live) {
      expect(locks.writes.map((id) => ids.addressOf(id))).toEqual(numbers.map(address));
      expect(Math.max(...locks.writes)).toBeLessThan(40);
    }
  }
});
