import { expect, test } from "bun:test";
import type { BankSlot, Block, Commitment } from "../model/index.ts";
import { YellowstoneHub } from "./hub.ts";
import { defaultLimits } from "./limits.ts";

const hash = "11111111111111111111111111111112";
const bankAt = (slot: bigint): BankSlot => ({
  slot,
  parent: slot - 1n,
  blockhash: hash,
  blockHeight: slot,
  time: 0n,
  transactionCount: 0n,
  voteCount: 0n,
  capitalization: 0n,
});

/** A hub whose chain is at no slot: only its events count. */
function hubOf(replaySlots: number): { hub: YellowstoneHub; reach: (slot: bigint, commitment: Commitment) => void } {
  const node = {
    chain: { accounts: { written: () => new Set<string>(), get: () => null } },
    now: () => 0,
    log: { error: () => {} },
  };
  const gate = { isShut: false, pass: async () => {} };
  const dependencies = { node, gate } as unknown as ConstructorParameters<typeof YellowstoneHub>[1];
  const hub = new YellowstoneHub({ ...defaultLimits, replaySlots }, dependencies);
  return {
    hub,
    reach(slot, commitment) {
      const bank = bankAt(slot);
      const parts = { parentSlot: bank.parent, previousBlockhash: hash, blockTime: 0n, transactions: [], rewards: [] };
      const block: Block = { slot, blockhash: hash, blockHeight: slot, ...parts };
      hub.publish({ kind: "reached", commitment, bank, block });
    },
  };
}

test("slots are kept as long as replay may ask for them, and those that are not final longer", () => {
  const { hub, reach } = hubOf(150);
  for (let slot = 1n; slot <= 200n; slot += 1n) reach(slot, "processed");
  expect(hub.firstAvailable).toBe(51n);
  // None was final, so that none was forgotten: each is told when it becomes final.
  const told: number[] = [];
  const sink = { write: (update: Uint8Array) => told.push(update.length) > 0, end: () => {} };
  const stream = hub.open("one", sink);
  const filters = { accounts: {}, transactions: {}, transactions_status: {}, blocks: {}, entry: {} };
  stream?.request({ ...filters, slots: { s: {} }, blocks_meta: {}, accounts_data_slice: [] });
  const before = told.length;
  for (let slot = 1n; slot <= 200n; slot += 1n) reach(slot, "finalized");
  expect(told.length - before).toBe(200);
  expect(hub.firstAvailable).toBe(51n);
});

test("a subscriber has as many streams as it may, and one that leaves makes room", () => {
  const { hub } = hubOf(0);
  const sink = { write: () => true, end: () => {} };
  const streams = Array.from({ length: defaultLimits.streamsMax }, () => hub.open("one", sink));
  expect(hub.open("one", sink)).toBeNull();
  expect(hub.open("two", sink)).not.toBeNull();
  const [first] = streams;
  if (first !== undefined && first !== null) hub.left("one", first);
  expect(hub.open("one", sink)).not.toBeNull();
  expect(hub.firstAvailable).toBeNull();
});
