import { expect, test } from "bun:test";
import type { TokenMovement } from "@sluice/parser";
import { transfersOf } from "./transfers.ts";

const sent: TokenMovement = {
  kind: "transfer",
  mint: "mint",
  decimals: 6,
  fromAccount: "source",
  toAccount: "destination",
  fromOwner: "sender",
  toOwner: "receiver",
  amount: 1_000n,
  fee: 10n,
  call: 0,
};

test("of a transfer with a withheld fee, the receiver is told what arrives and the sender what leaves", () => {
  const of = (wallet: string) =>
    transfersOf({ native: [], tokens: [sent] }, wallet).map(({ direction, amount, fee }) => [direction, amount, fee]);
  expect(of("receiver")).toEqual([["in", 990n, 10n]]);
  expect(of("sender")).toEqual([["out", 1_000n, 10n]]);
});
