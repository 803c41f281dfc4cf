import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { headerOf, slotOf } from "../../log/testing/chain-model.ts";
import { blockOfHeader } from "../testing/blocks.ts";
import { HeldChainModel } from "../testing/held-chain.ts";
import { Lookups } from "./lookups.ts";

const headers = [headerOf(100, 99), headerOf(101), headerOf(104, headerOf(101)), headerOf(105)];

test("a slot is told as skipped where the next block stands on one before it, and else as not held", async () => {
  // The block of slot 101 was removed with age, as were those before slot 100.
  const model = new HeldChainModel(headers.filter(({ slot }) => slot !== 101n).map(blockOfHeader), slotOf(106));
  model.heldFrom = 90n;
  const lookups = new Lookups({ chain: model, clock: new ManualClock(), keptSince: () => null });
  const asker = { network: "devnet", tier: "business" } as const;
  const told = async (slot: bigint): Promise<string> =>
    await lookups.block(asker, slot, { transactions: "none" }).then(
      () => "a block",
      (error: { code: string; message: string }) => `${error.code} ${error.message}`,
    );
  expect(await told(100n)).toBe("a block");
  for (const slot of [102n, 103n]) expect(await told(slot)).toBe(`BLOCK_NOT_FOUND The chain skipped slot ${slot}`);
  for (const slot of [95n, 99n, 101n])
    expect(await told(slot)).toBe(`BLOCK_NOT_FOUND The ledger does not hold slot ${slot}`);
  expect(await told(106n)).toBe("BLOCK_NOT_FOUND The ledger holds no block beyond slot 105 yet");
});
