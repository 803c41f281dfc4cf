import { systemClock } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import { Traffic } from "../../devnet/chain/traffic/traffic.ts";
import { processLog } from "../../devnet/log.ts";
import { startSimulatedChain, tipAccounts } from "../../server/src/engine/simulation/testing/chain-harness.ts";
import { LoadedMachine } from "./machine.ts";

const perSecond = 500;
const wanted = 64;
const slotsMax = 40;

/** A machine with swaps of the development chain's traffic, each its own bundle and all made on the same state. */
export async function machineOfSwaps(): Promise<LoadedMachine> {
  await using world = await startSimulatedChain();
  const swaps: Transaction[] = [];
  using _traffic = new Traffic(
    { transactionsPerSecond: perSecond, seed: "swaps", slotMs: 0 },
    {
      chain: world.manual.chain,
      clock: systemClock,
      log: processLog("bench"),
      submitted: (kind, transaction) => {
        if (kind === "swap") swaps.push(transaction);
      },
    },
  );
  for (let slots = 0; slots < slotsMax && swaps.length < wanted * 2; slots += 1) await world.closeSlots(1);
  const bundles: (readonly Uint8Array[])[] = [];
  for (const { bytes } of swaps.toReversed()) {
    const outcome = await world.simulator.simulate({ id: "swap", transactions: [bytes] });
    if (outcome.ok) bundles.push([bytes]);
    if (bundles.length === wanted) break;
  }
  if (bundles.length < wanted) throw new Error(`only ${bundles.length} of ${swaps.length} swaps can be made`);
  return await LoadedMachine.of({ source: world.source, tips: tipAccounts.map(addressBytes), bundles });
}
