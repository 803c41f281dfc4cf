import { expect, test } from "bun:test";
import { headerOf } from "../log/testing/chain-model.ts";
import { admit } from "./admit.ts";

test("a block whose time no date can tell is not taken", () => {
  const of = (blockTime: bigint | null): boolean =>
    admit({ header: { ...headerOf(12, 11), blockTime }, body: new Uint8Array(1), signatureHash: new Uint8Array(32) });
  const edge = 8_640_000_000_000n;
  expect([null, 0n, 1_790_000_000n, edge, -edge].map(of)).toEqual([true, true, true, true, true]);
  expect([edge + 1n, -edge - 1n, 2n ** 62n].map(of)).toEqual([false, false, false]);
});
