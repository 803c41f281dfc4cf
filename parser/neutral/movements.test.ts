import { expect, test } from "bun:test";
import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import { built, key, tokens, u64 } from "../testing/built.ts";
import { breaches } from "../testing/conservation.ts";
import { TransactionView } from "../transaction-view.ts";
import { movementsOf } from "./movements.ts";

const rent = 2_039_280n;
const payer = key(1);
const of2022 = { programId: programs.token2022 };
const read = (parts: Parameters<typeof built>[0]) => {
  const view = new TransactionView(built(parts));
  const movements = movementsOf(view);
  expect(breaches(view, movements)).toEqual([]);
  return movements;
};

test("what Token-2022 withholds of a checked transfer is its fee, told by the balance that arrives", () => {
  const { tokens: moved } = read({
    keys: [payer, key(2), key(3), key(50), programs.token2022],
    calls: [{ program: 4, accounts: [1, 3, 2, 0], data: [12, ...u64(1000n), 6] }],
    meta: {
      preBalances: [10_000n, rent, rent, 1n, 1n],
      postBalances: [5000n, rent, rent, 1n, 1n],
      preTokenBalances: [tokens(1, 5000n, of2022), tokens(2, 7n, of2022)],
      postTokenBalances: [tokens(1, 4000n, of2022), tokens(2, 997n, of2022)],
    },
  });
  expect(moved).toEqual([
    {
      kind: "transfer",
      mint: key(50),
      decimals: 6,
      fromAccount: key(2),
      toAccount: key(3),
      fromOwner: key(61),
      toOwner: key(62),
      amount: 1000n,
      fee: 10n,
      call: 0,
    },
  ]);
});

test("fees of several transfers to one account are shared by their amounts", () => {
  const { tokens: moved } = read({
    keys: [payer, key(2), key(3), key(50), programs.token2022],
    calls: [
      { program: 4, accounts: [1, 3, 2, 0], data: [12, ...u64(1000n), 6] },
      { program: 4, accounts: [1, 3, 2, 0], data: [12, ...u64(3000n), 6] },
    ],
    meta: {
      preBalances: [10_000n, rent, rent, 1n, 1n],
      postBalances: [5000n, rent, rent, 1n, 1n],
      preTokenBalances: [tokens(1, 5000n, of2022), tokens(2, 0n, of2022)],
      postTokenBalances: [tokens(1, 1000n, of2022), tokens(2, 3960n, of2022)],
    },
  });
  expect(moved.map(({ amount, fee }) => [amount, fee])).toEqual([
    [1000n, 10n],
    [3000n, 30n],
  ]);
});

test("a fee that the call states is taken from what arrives", () => {
  const { tokens: moved } = read({
    keys: [payer, key(2), key(3), key(50), programs.token2022],
    calls: [{ program: 4, accounts: [1, 3, 2, 0], data: [26, 1, ...u64(1000n), 6, ...u64(25n)] }],
    meta: {
      preBalances: [10_000n, rent, rent, 1n, 1n],
      postBalances: [5000n, rent, rent, 1n, 1n],
      preTokenBalances: [tokens(1, 1000n, of2022), tokens(2, 0n, of2022)],
      postTokenBalances: [tokens(1, 0n, of2022), tokens(2, 975n, of2022)],
    },
  });
  expect(moved.map(({ amount, fee }) => [amount, fee])).toEqual([[1000n, 25n]]);
});

test("withheld fees that are paid out arrive from nobody", () => {
  const { tokens: moved } = read({
    keys: [payer, key(2), key(50), programs.token2022],
    calls: [{ program: 3, accounts: [2, 1, 0], data: [26, 2] }],
    meta: {
      preBalances: [10_000n, rent, 1n, 1n],
      postBalances: [5000n, rent, 1n, 1n],
      preTokenBalances: [tokens(1, 1n, of2022)],
      postTokenBalances: [tokens(1, 41n, of2022)],
    },
  });
  expect(moved.map(({ kind, fromAccount, toAccount, amount }) => [kind, fromAccount, toAccount, amount])).toEqual([
    ["withheld", null, key(2), 40n],
  ]);
});

test("native tokens that are wrapped, paid and unwrapped within a transaction are told as what they are", () => {
  const mint = wellKnownAddresses.wrappedNativeMint;
  const { native, tokens: moved } = read({
    keys: [payer, key(2), key(3), mint, programs.system, programs.token],
    calls: [
      { program: 4, accounts: [0, 1], data: [0, 0, 0, 0, ...u64(rent + 900n), ...u64(165n), ...new Uint8Array(32)] },
      { program: 5, accounts: [1, 3, 0, 4], data: [1] },
      { program: 5, accounts: [1, 2, 0], data: [3, ...u64(600n)] },
      { program: 5, accounts: [1, 0, 0], data: [9] },
    ],
    meta: {
      preBalances: [10_000_000n, 0n, rent + 5n, 1n, 1n, 1n],
      postBalances: [10_000_000n - 5000n - 600n, 0n, rent + 605n, 1n, 1n, 1n],
      preTokenBalances: [tokens(2, 5n, { mint, decimals: 9 })],
      postTokenBalances: [tokens(2, 605n, { mint, decimals: 9 })],
    },
  });
  expect(
    moved.map(({ kind, fromOwner, toOwner, amount, decimals }) => [kind, fromOwner, toOwner, amount, decimals]),
  ).toEqual([
    ["wrap", null, payer, 900n, 9],
    ["transfer", payer, key(62), 600n, 9],
    ["unwrap", payer, null, 300n, 9],
  ]);
  expect(native.map(({ kind, from, to, lamports }) => [kind, from, to, lamports])).toEqual([
    ["create", payer, key(2), rent + 900n],
    ["wrapped", key(2), key(3), 600n],
    ["close", key(2), payer, rent + 300n],
  ]);
});

test("each instruction of a batch counts, and a batch that is cut counts up to there", () => {
  const transfer = [3, ...u64(5n)];
  const { tokens: moved } = read({
    keys: [payer, key(2), key(3), programs.token],
    calls: [{ program: 3, accounts: [1, 2, 0, 1, 2, 0], data: [255, 3, 9, ...transfer, 3, 9, ...transfer, 3, 9, 3] }],
    meta: {
      preBalances: [10_000n, rent, rent, 1n],
      postBalances: [5000n, rent, rent, 1n],
      preTokenBalances: [tokens(1, 10n), tokens(2, 0n)],
      postTokenBalances: [tokens(1, 0n), tokens(2, 10n)],
    },
  });
  expect(moved.map(({ kind, amount, mint }) => [kind, amount, mint])).toEqual([
    ["transfer", 5n, key(50)],
    ["transfer", 5n, key(50)],
  ]);
});

test("an owner that changes is the owner from then on", () => {
  const owner = Array.from({ length: 32 }, () => 77);
  const { tokens: moved } = read({
    keys: [payer, key(2), key(3), programs.token],
    calls: [
      { program: 3, accounts: [1, 2, 0], data: [3, ...u64(1n)] },
      { program: 3, accounts: [1, 0], data: [6, 2, 1, ...owner] },
      { program: 3, accounts: [1, 2, 0], data: [3, ...u64(1n)] },
    ],
    meta: {
      preBalances: [10_000n, rent, rent, 1n],
      postBalances: [5000n, rent, rent, 1n],
      preTokenBalances: [tokens(1, 2n), tokens(2, 0n)],
      postTokenBalances: [tokens(1, 0n, { owner: key(77) }), tokens(2, 2n)],
    },
  });
  expect(moved.map(({ fromOwner }) => fromOwner)).toEqual([key(61), key(77)]);
});

test("lamports that a program moves have a partner only where there is no other", () => {
  const between = (post: bigint[]) =>
    read({
      keys: [payer, key(2), key(3), key(4), key(5)],
      calls: [{ program: 4, accounts: [1, 2, 3], data: [1] }],
      meta: { preBalances: [10_000n, 100n, 100n, 100n, 1n], postBalances: [5000n, ...post, 1n] },
    }).native.map(({ kind, from, to, lamports }) => [kind, from, to, lamports]);
  expect(between([40n, 130n, 130n])).toEqual([
    ["program", key(2), key(3), 30n],
    ["program", key(2), key(4), 30n],
  ]);
  expect(between([40n, 60n, 200n])).toEqual([
    ["program", key(2), key(4), 60n],
    ["program", key(3), key(4), 40n],
  ]);
});

test("where several accounts lost and several gained, no partner is invented", () => {
  const { native } = read({
    keys: [payer, key(2), key(3), key(4), key(5), key(6)],
    calls: [{ program: 5, accounts: [1, 2, 3, 4], data: [1] }],
    meta: { preBalances: [10_000n, 100n, 100n, 100n, 100n, 1n], postBalances: [5000n, 50n, 50n, 150n, 150n, 1n] },
  });
  expect(native.map(({ from, to }) => [from, to])).toEqual([
    [null, key(4)],
    [null, key(5)],
    [key(2), null],
    [key(3), null],
  ]);
});

test("a transaction that failed moved nothing, nor does one whose outcome is not known", () => {
  const call = { program: 2, accounts: [0, 1], data: [2, 0, 0, 0, ...u64(5n)] };
  const parts = { keys: [payer, key(2), programs.system], calls: [call] };
  const meta = { preBalances: [10_000n, 0n, 1n], postBalances: [5000n, 0n, 1n], error: "AccountNotFound" };
  expect(read({ ...parts, meta })).toEqual({ native: [], tokens: [] });
  const unknown = new TransactionView({ ...built({ ...parts, meta }), meta: null });
  expect(movementsOf(unknown)).toEqual({ native: [], tokens: [] });
});

test("a closed account gives all that it held by then", () => {
  const { native } = read({
    keys: [payer, key(2), key(3), programs.system, programs.token],
    calls: [
      { program: 3, accounts: [0, 1], data: [2, 0, 0, 0, ...u64(11n)] },
      { program: 4, accounts: [1, 2, 0], data: [9] },
    ],
    meta: {
      preBalances: [10_000n, rent, 0n, 1n, 1n],
      postBalances: [4989n, 0n, rent + 11n, 1n, 1n],
      preTokenBalances: [tokens(1, 0n)],
      postTokenBalances: [],
    },
  });
  expect(native.map(({ kind, to, lamports }) => [kind, to, lamports])).toEqual([
    ["transfer", key(2), 11n],
    ["close", key(3), rent + 11n],
  ]);
});
