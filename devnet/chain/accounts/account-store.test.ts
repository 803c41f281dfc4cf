import { expect, test } from "bun:test";
import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { TextRandom } from "../../random.ts";
import type { ChainAccount } from "../model/records.ts";
import { AccountStore } from "./account-store.ts";
import { AccountsModel } from "./testing/accounts-model.ts";

const addressA = encodeBase58(new Uint8Array(32).fill(1));

function account(lamports: bigint, data = new Uint8Array(), owner: string = programs.system): ChainAccount {
  return { lamports, data, owner, executable: false, rentEpoch: 0n };
}

test("every slot from the root on shows the account as it was then", () => {
  const store = new AccountStore();
  store.write(1n, addressA, account(1n));
  store.write(3n, addressA, account(3n));
  store.write(3n, addressA, account(33n));
  store.write(5n, addressA, null);
  const seen = [0n, 1n, 2n, 3n, 4n, 5n, 6n].map((slot) => store.get(addressA, slot)?.lamports ?? null);
  expect(seen).toEqual([null, 1n, 1n, 33n, 33n, null, null]);
  expect(store.changedAfter(addressA, 4n)).toBe(true);
  expect(store.changedAfter(addressA, 5n)).toBe(false);
});

test("rooting drops what no commitment can ask for, and a deleted account leaves nothing behind", () => {
  const store = new AccountStore();
  store.write(1n, addressA, account(1n));
  store.write(2n, addressA, null);
  store.root(1n);
  expect(store.get(addressA, 1n)?.lamports).toBe(1n);
  expect([...store.ofProgram(programs.system, 1n)].map(([address]) => address)).toEqual([addressA]);
  store.root(2n);
  expect(store.get(addressA, 1n)).toBeNull();
  expect(store.size).toBe(0);
  expect([...store.ofProgram(programs.system, 2n)]).toEqual([]);
  expect(store.lamports).toBe(0n);
});

test("an invalid address cannot be written and is not found; a slot below a written one is refused", () => {
  const store = new AccountStore();
  store.write(2n, addressA, account(1n));
  expect(() => store.write(2n, "unknown", account(1n))).toThrow(TypeError);
  expect(() => store.write(1n, addressA, account(1n))).toThrow(RangeError);
  expect(store.get("unknown", 2n)).toBeNull();
});

test("data of every length come back byte for byte, and what was handed in may change afterwards once it is rooted", () => {
  const store = new AccountStore();
  const addresses = Array.from({ length: 1_100 }, (_, length) =>
    encodeBase58(
      new Uint8Array(32)
        .fill(7)
        .fill(length >> 8, 1, 2)
        .fill(length & 255, 2, 3),
    ),
  );
  addresses.forEach((address, length) => {
    store.write(1n, address, account(1n, new Uint8Array(length).fill(length & 255)));
  });
  // Enough others that none of them is remembered as an object.
  for (let other = 0; other < 20_000; other += 1) {
    const bytes = new Uint8Array(32);
    new DataView(bytes.buffer).setUint32(0, other);
    store.write(2n, encodeBase58(bytes), account(1n));
  }
  addresses.forEach((address, length) => {
    expect(store.get(address, 1n)?.data).toEqual(new Uint8Array(length).fill(length & 255));
  });
});

test("of thousands of accounts any half may go, in any order: the others are found by address and by owner", () => {
  const store = new AccountStore();
  const random = new TextRandom("half of them");
  const keys = Array.from({ length: 3_000 }, () => Uint8Array.from({ length: 32 }, () => random.below(256)));
  const held = (key: Uint8Array) => {
    const data = new Uint8Array(165);
    data.set(key, 32);
    return account(1n, data, programs.token);
  };
  const find = (key: Uint8Array) => [
    ...store.find(programs.token, [{ kind: "memcmp", offset: 32n, bytes: key }], 9n).map(([address]) => address),
  ];
  for (const key of keys) store.write(1n, encodeBase58(key), held(key));
  const order = keys.toSorted(() => random.next() - 0.5);
  for (const key of order.slice(1_500)) store.write(2n, encodeBase58(key), null);
  store.root(2n);
  expect(store.size).toBe(1_500);
  order.forEach((key, place) => {
    const address = encodeBase58(key);
    expect(store.get(address, 9n) === null).toBe(place >= 1_500);
    expect(find(key)).toEqual(place >= 1_500 ? [] : [address]);
  });
});

test("against a plain copy of every slot: all that can be asked agrees, whatever was written, rooted and forked", () => {
  for (let seed = 0; seed < 4; seed += 1) {
    const model = new AccountsModel(`accounts ${seed}`);
    for (let step = 0; step < 150; step += 1) model.step();
  }
}, 60_000);
