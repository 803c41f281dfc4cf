import type { AssetFillRecord } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { HeldIdentity, LedgerAssetStore } from "../../ledger/index.ts";
import type { IndexedChain } from "./progress.ts";

/** A fill of the index as it is kept: one for each network, the last that was ordered. */
export interface FillState {
  readonly record: AssetFillRecord;
  /** The last asset that was read; empty before the first. */
  readonly cursor: string;
  readonly version: bigint;
  /** The oldest slot of the lists of nodes that the order is filled from; null before there is one. */
  readonly listedSlot: bigint | null;
}

/** As it is kept; fills of earlier releases do not say their slot. */
type WrittenFill = Pick<FillState, "record" | "cursor"> & { readonly listedSlot?: string | null };

const name = "fill";

export async function readFill(
  store: Pick<LedgerAssetStore, "progress">,
  network: Network,
  chain: HeldIdentity,
): Promise<FillState | null> {
  const progress = await store.progress(network, name, chain);
  if (progress === null) return null;
  const { record, cursor, listedSlot = null }: WrittenFill = JSON.parse(progress.state);
  const slot = listedSlot === null ? null : BigInt(listedSlot);
  return { record, cursor, version: progress.version, listedSlot: slot };
}

export async function saveFill(
  store: Pick<LedgerAssetStore, "saveProgress">,
  { network, chain }: IndexedChain,
  { record, cursor, version, listedSlot }: FillState,
): Promise<void> {
  const written: WrittenFill = { record, cursor, listedSlot: listedSlot?.toString() ?? null };
  await store.saveProgress(network, chain, { name, version, state: JSON.stringify(written) });
}
