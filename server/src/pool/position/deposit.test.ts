import { expect, test } from "bun:test";
import { depositsOf, stakeAccounts } from "./deposit.ts";

const place = { slot: 1n, index: 0 };
const native = (lamports: bigint, destination = "tokens", pool = "pool", tag = 14) => {
  const data = new Uint8Array(9);
  data[0] = tag;
  new DataView(data.buffer).setBigUint64(1, lamports, true);
  return { ...place, accounts: [pool, "authority", "reserve", "payer", destination], data };
};
const stake = (account: string, destination = "tokens", tag = 9) => ({
  ...place,
  accounts: ["pool", "list", "deposit authority", "authority", account, "validator", "reserve", destination],
  data: Uint8Array.of(tag),
});
const change = (account: string, before: bigint, after: bigint) => ({ ...place, account, before, after });

test("a deposit of lamports states what it cost, with and without slippage, and other pools and calls are left out", () => {
  const update = { ...place, accounts: ["pool"], data: Uint8Array.of(7) };
  const calls = [native(5n), native(6n, "others", "other pool"), native(7n, "tokens", "pool", 25), update];
  expect(depositsOf("pool", calls, [])).toEqual([
    { destination: "tokens", lamports: 5n },
    { destination: "tokens", lamports: 7n },
  ]);
  expect(depositsOf("pool", [], [])).toEqual([]);
});

test("a deposit of stake cost all that its account held", () => {
  const calls = [stake("s1"), stake("s2", "others", 23)];
  const changes = [change("s1", 9n, 0n), change("s2", 8n, 0n), change("validator", 1n, 15n), change("reserve", 0n, 3n)];
  expect(depositsOf("pool", calls, changes)).toEqual([
    { destination: "tokens", lamports: 9n },
    { destination: "others", lamports: 8n },
  ]);
  expect(stakeAccounts(calls)).toEqual(["s1", "validator", "reserve", "s2", "validator", "reserve"]);
});

test("of stake that the transaction itself made, what the pool's accounts gained, where nothing else moved them", () => {
  const changes = [change("validator", 100n, 140n), change("reserve", 5n, 7n)];
  expect(depositsOf("pool", [stake("new")], changes)).toEqual([{ destination: "tokens", lamports: 42n }]);
  expect(depositsOf("pool", [stake("new")], changes.slice(0, 1))).toEqual([{ destination: "tokens", lamports: 40n }]);
  expect(depositsOf("pool", [stake("new"), native(3n)], changes)).toBeNull();
  expect(depositsOf("pool", [stake("new"), stake("newer")], changes)).toBeNull();
  expect(depositsOf("pool", [stake("new")], [])).toBeNull();
  expect(depositsOf("pool", [stake("new")], [change("validator", 9n, 9n)])).toBeNull();
});

test("cut calls, and stake of which some stays, are not told", () => {
  expect(depositsOf("pool", [{ ...native(5n), data: Uint8Array.of(14, 1) }], [])).toBeNull();
  expect(depositsOf("pool", [{ ...native(5n), accounts: ["pool"] }], [])).toBeNull();
  expect(depositsOf("pool", [stake("s1")], [change("s1", 9n, 2n)])).toBeNull();
  expect(depositsOf("pool", [{ ...stake("s1"), accounts: ["pool"] }], [])).toBeNull();
  expect(depositsOf("pool", [{ ...native(5n), data: new Uint8Array(0) }], [])).toEqual([]);
});
