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
}

const name = "fill";

export async function readFill(
  store: Pick<LedgerAssetStore, "progress">,
  network: Network,
  chain: HeldIdentity,
): Promise<FillState | null> {
  const progress = await store.progress(network, name, chain);
  if (progress === null) return null;
  const { record, cursor }: Omit<FillState, "version"> = JSON.parse(progress.state);
  return { record, cursor, version: progress.version };
}

export async function saveFill(
  store: Pick<LedgerAssetStore, "saveProgress">,
  { network, chain }: IndexedChain,
  { record, cursor, version }: FillState,
): Promise<void> {
  await store.saveProgress(network, chain, { name, version, state: JSON.stringify({ record, cursor }) });
}
