import { describe, expect, test } from "bun:test";
import { accountClosedData, accountCreatedData, accountUpdatedData } from "@sluice/contract/schemas";
import type { ConfirmedTransaction } from "@sluice/encode";
import { TransactionView } from "@sluice/parser";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import fc from "fast-check";
import { arbitraryBlock } from "../../../../encode/body/testing/arbitrary-block.ts";
import { built, key, tokens, u64 } from "../../../../parser/testing/built.ts";
import { BlockReader, closureText, creationText, updateText } from "../index.ts";

const [payer, other, third] = [key(1), key(2), key(3)];
const slot = 2n ** 63n + 5n;

const accountsOf = (...transactions: ConfirmedTransaction[]) =>
  new BlockReader().events({
    slot,
    parentSlot: 1n,
    blockhash: key(8),
    previousBlockhash: key(7),
    blockTime: null,
    blockHeight: null,
    transactions,
    rewards: [],
  }).accounts;

const createAccount = (lamports: bigint, space: bigint, owner: string) => [
  ...[0, 0, 0, 0],
  ...u64(lamports),
  ...u64(space),
  ...addressBytes(owner),
];

/** A transaction without calls between the payer and two others. */
const moved = (before: readonly bigint[], after: readonly bigint[]): ConfirmedTransaction =>
  built({ keys: [payer, other, third], calls: [], meta: { preBalances: before, postBalances: after } });

describe("an account is told to be updated", () => {
  test("once a block, by what all transactions together changed, in the order of its first change", () => {
    const { updates } = accountsOf(
      moved([100_000n, 10n, 5n], [90_000n, 5_010n, 5n]),
      moved([90_000n, 5_010n, 5n], [80_000n, 5_010n, 5_005n]),
      moved([80_000n, 5_010n, 5_005n], [79_000n, 1_010n, 5_005n]),
    );
    expect(updates).toEqual([
      { account: payer, before: 100_000n, after: 79_000n, owner: programs.system },
      { account: other, before: 10n, after: 1_010n, owner: null },
      { account: third, before: 5n, after: 5_005n, owner: null },
    ]);
  });

  test("not when a block takes away what it gave", () => {
    const { updates } = accountsOf(
      moved([100_000n, 10n, 5n], [90_000n, 5_010n, 5n]),
      moved([90_000n, 5_010n, 5n], [90_000n, 10n, 5n]),
    );
    expect(updates.map(({ account }) => account)).toEqual([payer]);
  });

  test("by the fee alone where the transaction failed, and its calls tell no owner", () => {
    const failed = built({
      keys: [payer, other, programs.system],
      calls: [{ program: 2, accounts: [0, 1], data: createAccount(1n, 1n, third) }],
      meta: { preBalances: [9_000n, 0n, 1n], postBalances: [4_000n, 0n, 1n], error: "AccountInUse" },
    });
    expect(accountsOf(failed)).toEqual({
      updates: [{ account: payer, before: 9_000n, after: 4_000n, owner: programs.system }],
      creations: [],
      closures: [],
    });
  });
});

describe("an account is told to be created", () => {
  test("by the transaction that gave it its first lamports, with what its call states", () => {
    const creation = built({
      keys: [payer, other, programs.system],
      calls: [{ program: 2, accounts: [0, 1], data: createAccount(2_000n, 165n, programs.token) }],
      meta: { preBalances: [9_000n, 0n, 1n], postBalances: [2_000n, 2_000n, 1n] },
    });
    const { creations } = accountsOf(moved([10_000n, 1n, 1n], [9_000n, 1n, 1n]), creation);
    const { signature } = creation;
    expect(creations).toEqual([
      { account: other, index: 1, signature, owner: programs.token, lamports: 2_000n, dataSize: 165n, creator: payer },
    ]);
  });

  test("again after it was closed in the same block", () => {
    const { creations, closures, updates } = accountsOf(
      moved([9_000n, 0n, 1n], [2_000n, 2_000n, 1n]),
      moved([2_000n, 2_000n, 1n], [2_000n, 0n, 1n]),
      moved([2_000n, 0n, 1n], [1_000n, 500n, 1n]),
    );
    expect(creations.map(({ index, lamports }) => [index, lamports])).toEqual([
      [0, 2_000n],
      [2, 500n],
    ]);
    expect(closures.map(({ index, finalLamports }) => [index, finalLamports])).toEqual([[1, 2_000n]]);
    expect(updates.find(({ account }) => account === other)).toMatchObject({ before: 0n, after: 500n });
  });
});

describe("an account is told to be closed", () => {
  test("with the owner that its tokens tell, and who gained most, the fee aside", () => {
    const closing = built({
      keys: [payer, other, third],
      calls: [],
      meta: {
        preBalances: [9_000n, 2_000n, 1n],
        postBalances: [5_900n, 0n, 101n],
        preTokenBalances: [tokens(1, 0n, { programId: programs.token2022 })],
      },
    });
    const { closures } = accountsOf(closing);
    const { signature } = closing;
    const owner = programs.token2022;
    expect(closures).toEqual([
      { account: other, index: 0, signature, owner, finalLamports: 2_000n, reclaimedBy: payer },
    ]);
  });

  test("without anybody who gained where its lamports were burnt", () => {
    const { closures } = accountsOf(moved([9_000n, 2_000n, 1n], [4_000n, 0n, 1n]));
    expect(closures.map(({ reclaimedBy }) => reclaimedBy)).toEqual([null]);
  });
});

test("the texts of account events have the forms of the contract, with every digit", () => {
  const after = 2n ** 64n - 1n;
  const update = { account: other, before: 1n, after, owner: null };
  const updated = updateText(slot, update);
  expect(updated).toContain('"lamports":18446744073709551615,"owner":null,"executable":null');
  expect(updated).toContain('"changes":{"lamports":{"old":1,"new":18446744073709551615,"delta":18446744073709551614}}');
  expect(updateText(slot, { ...update, before: after, after: 1n })).toContain('"delta":-18446744073709551614');
  expect(accountUpdatedData.strict().parse(JSON.parse(updated))).toMatchObject({ account: other, data: null });
  const turn = { account: other, index: 3, signature: "s", owner: programs.token };
  const created = creationText(slot, { ...turn, lamports: after, dataSize: 165n, creator: payer });
  expect(accountCreatedData.strict().parse(JSON.parse(created))).toMatchObject({ creator: payer, data_size: 165 });
  const closed = closureText(slot, { ...turn, finalLamports: after, reclaimedBy: null });
  expect(closed).toContain('"final_lamports":18446744073709551615');
  expect(accountClosedData.strict().parse(JSON.parse(closed))).toMatchObject({ reclaimed_by: null });
});

test("updates of drawn blocks are the difference of the last and the first balance of each account", () => {
  for (const block of fc.sample(arbitraryBlock, { numRuns: 60, seed: 20_261_127 })) {
    const first = new Map<string, bigint>();
    const last = new Map<string, bigint>();
    for (const transaction of block.transactions) {
      const { keys, meta } = new TransactionView(transaction);
      if (meta === null) continue;
      for (const [place, account] of keys.entries()) {
        const [before, after] = [meta.preBalances[place], meta.postBalances[place]];
        if (before === undefined || after === undefined || before === after) continue;
        if (!first.has(account)) first.set(account, before);
        last.set(account, after);
      }
    }
    const expected = [...first].flatMap(([account, before]) => {
      const after = last.get(account) ?? before;
      return before === after ? [] : [[account, before, after]];
    });
    const { updates } = new BlockReader().events(block).accounts;
    expect(updates.map(({ account, before, after }) => [account, before, after])).toEqual(expected as never);
  }
});
