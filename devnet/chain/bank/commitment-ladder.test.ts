import { expect, test } from "bun:test";
import type { BankSlot } from "../model/records.ts";
import { CommitmentLadder } from "./commitment-ladder.ts";

function bank(slot: bigint): BankSlot {
  const parent = slot === 0n ? 0n : slot - 1n;
  return {
    slot,
    parent,
    blockhash: "",
    blockHeight: slot,
    time: 0n,
    transactionCount: 0n,
    voteCount: 0n,
    capitalization: 0n,
  };
}

test("a fresh ladder stands at genesis for every commitment", () => {
  const ladder = new CommitmentLadder({ confirmedAfter: 1, finalizedAfter: 32 }, bank(0n));
  for (const commitment of ["processed", "confirmed", "finalized"] as const)
    expect(ladder.at(commitment).slot).toBe(0n);
});

test("each slot is confirmed and finalized once, in order, the configured number of slots later", () => {
  const ladder = new CommitmentLadder({ confirmedAfter: 1, finalizedAfter: 3 }, bank(0n));
  const confirmed: bigint[] = [];
  const finalized: bigint[] = [];
  for (let slot = 1n; slot <= 10n; slot += 1n) {
    const moved = ladder.push(bank(slot));
    confirmed.push(...moved.confirmed.map((moving) => moving.slot));
    finalized.push(...moved.finalized.map((moving) => moving.slot));
    expect(ladder.at("processed").slot).toBe(slot);
  }
  expect(confirmed).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]);
  expect(finalized).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n]);
});
