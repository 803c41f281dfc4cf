import { expect, test } from "bun:test";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeTransaction, parseTransaction } from "@sluice/wire/transaction";
import { transactionMemo } from "./memo.ts";

/** The memo of a transaction whose instructions call these programs with these data. */
function memoOf(...instructions: (readonly [program: string, data: Uint8Array])[]): string | null {
  const payer = new Uint8Array(32).fill(7);
  const called = [...new Set(instructions.map(([program]) => program))];
  const bytes = encodeTransaction({
    signatures: [new Uint8Array(64)],
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: called.length,
      staticKeys: [payer, ...called.map(addressBytes)],
      blockhash: new Uint8Array(32),
      instructions: instructions.map(([program, data]) => {
        return { programIndex: called.indexOf(program) + 1, accountIndexes: new Uint8Array(0), data };
      }),
      lookups: [],
    },
  });
  const parsed = parseTransaction(bytes);
  if (!parsed.ok) throw new Error(parsed.fault);
  return transactionMemo(parsed.transaction.message);
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

test("memos of both programs are joined, each with its length in bytes, and other programs have none", () => {
  expect(
    memoOf([programs.memo, text("\ufeffgrüße")], [programs.system, text("no")], [programs.memoV1, text("a; b")]),
  ).toBe("[10] \ufeffgrüße; [4] a; b");
  expect(memoOf([programs.memo, new Uint8Array(0)])).toBe("[0] ");
  expect(memoOf([programs.system, text("no")])).toBeNull();
});

test("a memo that is not UTF-8 is told as one that cannot be read", () => {
  expect(memoOf([programs.memo, Uint8Array.of(0xff, 0xfe)])).toBe("[2] (unparseable)");
});
