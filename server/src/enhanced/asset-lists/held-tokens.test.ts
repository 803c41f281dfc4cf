import { expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { type HeldToken, heldByMint } from "./held-tokens.ts";

const token = (account: string, mint: string, amount: bigint): HeldToken => {
  return { account, mint, program: programs.token, amount, decimals: 6, isFrozen: false, delegate: null };
};

test("what several accounts hold of a mint is one sum, told as the account with the most of it", () => {
  const held = heldByMint([token("a", "x", 5n), token("b", "y", 1n), token("c", "x", 100n), token("d", "x", 0n)]);
  expect([...held.values()].map(({ account, mint, amount }) => [account, mint, amount])).toEqual([
    ["c", "x", 105n],
    ["b", "y", 1n],
  ]);
});
