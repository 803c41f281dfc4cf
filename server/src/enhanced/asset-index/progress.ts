import type { Network } from "@sluice/contract/tiers";
import type { HeldIdentity, LedgerAssetStore, SlotSpan } from "../../ledger/index.ts";

/** Which chain's assets are indexed, and of which network it is. */
export interface IndexedChain {
  readonly network: Network;
  readonly chain: HeldIdentity;
}

/** The blocks whose assets are indexed, as they are kept: spans of slots as pairs of texts. */
type WrittenSpans = readonly (readonly [string, string])[];

/** The name under which the spans are kept. */
const name = "blocks";

/** Spans of slots whose blocks are in the index, apart and in their order. */
export async function readSpans(
  store: Pick<LedgerAssetStore, "progress">,
  network: Network,
  chain: HeldIdentity,
): Promise<{ readonly spans: readonly SlotSpan[]; readonly version: bigint }> {
  const progress = await store.progress(network, name, chain);
  if (progress === null) return { spans: [], version: 0n };
  const written: WrittenSpans = JSON.parse(progress.state);
  const spans = written.map(([first, until]) => ({ first: BigInt(first), until: BigInt(until) }));
  return { spans, version: progress.version };
}

export async function saveSpans(
  store: Pick<LedgerAssetStore, "saveProgress">,
  { network, chain }: IndexedChain,
  { spans, version }: { readonly spans: readonly SlotSpan[]; readonly version: bigint },
): Promise<void> {
  const state = JSON.stringify(spans.map(({ first, until }) => [first.toString(), until.toString()]));
  await store.saveProgress(network, chain, { name, state, version });
}
