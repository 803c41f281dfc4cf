import { shownState } from "@sluice/contract/engine";
import type { ConsoleBundle, ConsoleBundleStory, ConsoleBundles } from "@sluice/contract/schemas";
import { type BundleRecord, type Engine, isSubmitter } from "../engine/index.ts";
import type { ConsoleViewer } from "./console-session.ts";

/** The newest bundles that the page shows. */
const shownMax = 50;
const isoTime = (atMs: number): string => new Date(atMs).toISOString();
// Slots stay far below 2^53 within the life of a chain (contract: count).
const slotOf = (slot: bigint | null | undefined): number | null => (slot == null ? null : Number(slot));

/** The viewer's bundles and the market that they are in, in the console's form. */
export async function consoleBundles(
  engine: Engine,
  { accountId, operates }: ConsoleViewer,
  about: { readonly door: string; readonly nowMs: number },
): Promise<ConsoleBundles> {
  const { pool, service, switches } = engine;
  const [page, reputation] = await Promise.all([
    pool.list({ searcherId: accountId, limit: shownMax, cursor: null }),
    service.reputation(accountId),
  ]);
  const { floor, average24h, utilization, landed, landedBlocks, landedTips } = service.tipFloor();
  const leaders = [...service.connectedLeaders()];
  return {
    door: about.door,
    engine: {
      status: engine.status().status,
      slot: slotOf(service.currentSlot()),
      live: pool.liveOf(accountId).length,
      leaders: leaders.length,
      nextLeaderSlot: slotOf(service.nextLeader()?.slot),
    },
    tipFloor: {
      floor: String(floor),
      average24h: String(average24h),
      utilization,
      landedMedian: landedTips === 0 ? null : String(landed.p50),
      landedBlocks,
    },
    reputation: {
      score: reputation.score,
      tier: reputation.tier,
      landingRate: reputation.landingRate,
      simulationSuccess: reputation.simSuccess,
      submitted: String(reputation.submitted),
      landed: String(reputation.landed),
    },
    bundles: newestOf(page.items, pool.liveOf(accountId)).map(shownBundle),
    operator: operates
      ? {
          maintenance: switches.isInMaintenance,
          halted: switches.isHalted,
          bundlesLive: pool.liveCount,
          validators: leaders.map(([identity, slots]) => ({ identity, next_slots: slots.map(Number) })),
        }
      : null,
    observedAt: isoTime(about.nowMs),
  };
}

/** An account's own bundles, and those of others that it submitted, too, while they are in flight; newest first. */
export function newestOf(own: readonly BundleRecord[], live: readonly BundleRecord[]): readonly BundleRecord[] {
  const known = new Set(own.map(({ id }) => id));
  const all = [...own, ...live.filter(({ id }) => !known.has(id))];
  return all.toSorted((one, other) => other.receivedAt - one.receivedAt).slice(0, shownMax);
}

/** One bundle in the console's form; null where there is none that the viewer may see. */
export async function consoleBundleStory(
  { pool }: { readonly pool: Pick<Engine["pool"], "get"> },
  { accountId, operates }: ConsoleViewer,
  about: { readonly id: string; readonly nowMs: number },
): Promise<ConsoleBundleStory | null> {
  const record = await pool.get(about.id);
  if (record === null || (!isSubmitter(record, accountId) && !operates)) return null;
  const { forwarded, landed, tipSeen, lastValidBlockHeight } = record;
  return {
    ...shownBundle(record),
    signatures: [...record.signatures],
    tipSeen: tipSeen === null ? null : String(tipSeen),
    computeUnits: record.computeUnits,
    targetSlot: slotOf(record.targetSlot),
    acceptedSlot: Number(record.acceptedSlot),
    lastValidBlockHeight: slotOf(lastValidBlockHeight),
    expiresAt: isoTime(record.expiresAt),
    handedOver: forwarded === null ? null : { slot: Number(forwarded.slot), leader: forwarded.leader },
    blockhash: landed?.blockhash ?? null,
    observedAt: isoTime(about.nowMs),
  };
}

function shownBundle(record: BundleRecord): ConsoleBundle {
  const { state, landed, forwarded, signatures, sealed } = record;
  return {
    id: record.id,
    status: shownState(state),
    finalized: state === "finalized",
    reason: record.reason,
    detail: record.detail,
    door: record.ingress,
    mevType: record.mevType,
    tip: String(record.tip),
    sealed: sealed !== null,
    transactions: signatures.length,
    slot: slotOf(landed?.slot),
    forwarded: forwarded?.times ?? 0,
    receivedAt: isoTime(record.receivedAt),
    changedAt: isoTime(record.changedAt),
  };
}
