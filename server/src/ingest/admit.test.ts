import { expect, test } from "bun:test";
import { headerOf, slotOf } from "../log/testing/chain-model.ts";
import { admit, admitDigest } from "./admit.ts";

test("a block whose time no date can tell is not taken", () => {
  const of = (blockTime: bigint | null): boolean =>
    admit({ header: { ...headerOf(12, 11), blockTime }, body: new Uint8Array(1), signatureHash: new Uint8Array(32) });
  const edge = 8_640_000_000_000n;
  expect([null, 0n, 1_790_000_000n, edge, -edge].map(of)).toEqual([true, true, true, true, true]);
  expect([edge + 1n, -edge - 1n, 2n ** 62n].map(of)).toEqual([false, false, false]);
});

test("a word on a block is one whose numbers, hashes and list of signatures can be those of a block", () => {
  const digest = { ...headerOf(12, 11), signatureHash: new Uint8Array(32) };
  const of = (changes: Partial<typeof digest>): boolean => admitDigest(12n, { ...digest, ...changes });
  expect([{}, { transactions: 0 }, { transactions: 1_000_000 }, { parentSlot: slotOf(0) }].every(of)).toBe(true);
  const wrong = [
    ...[-1, 1_000_001, 1.5, Number.NaN].map((transactions) => ({ transactions })),
    ...[-1, 12, 13].map((slot) => ({ parentSlot: slotOf(slot) })),
    ...[31, 33].map((bytes) => ({ signatureHash: new Uint8Array(bytes) })),
    ...["", "0OIl", "1".repeat(31)].flatMap((hash) => [{ blockhash: hash }, { parentBlockhash: hash }]),
  ];
  expect(wrong.filter(of)).toEqual([]);
});
