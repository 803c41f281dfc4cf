import type { Network } from "@sluice/contract/tiers";
import { type ChainHeld, type ChainReads, isHeldWhole } from "../../ledger/index.ts";
import { blockOf } from "./block-record.ts";

/**
 * Whether the chain skipped a slot of which the ledger has no block: the next block that it has stands on one from
 * before the slot. Without that proof the block may have been there, and have been removed with age (record 0054).
 * Throws LedgerUnavailableError, LedgerQueryError.
 */
export async function isSkipped(
  chain: Pick<ChainReads, "blocks">,
  { network, held, slot }: { readonly network: Network; readonly held: ChainHeld; readonly slot: bigint },
): Promise<boolean> {
  if (held.blocks === null || !isHeldWhole(held, { from: slot, to: slot })) return false;
  const window = { from: slot, to: held.blocks.to };
  const [next] = await chain.blocks.blocks({ network, ...window, order: "asc", limit: 1 });
  return next !== undefined && next.slot > slot && blockOf(next).parentSlot < slot;
}
