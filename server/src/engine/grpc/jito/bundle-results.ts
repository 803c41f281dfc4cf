import type { BundleReason, BundleState } from "@sluice/contract/engine";
import type { BundleResultMessage, RejectedMessage } from "@sluice/contract/proto";
import { invariant } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import { GrpcStatusError, type ResponseStream } from "../../../net/index.ts";
import type { BundleRecord, Searcher } from "../../model/bundle.ts";
import { jitoText } from "../../model/jito-texts.ts";
import type { BlockEngineService, LostBid, UpcomingLeader } from "../../model/service.ts";

/**
 * A bundle in the words of Jito's results. What a block decided is `dropped` (its blockhash is too old, it lost its
 * fork, a part of it landed elsewhere), what the engine decided is `rejected`.
 */
export function resultOf(
  record: BundleRecord,
  {
    next,
    lost,
    leaderOf,
  }: {
    readonly next: UpcomingLeader | null;
    readonly lost: LostBid | null;
    readonly leaderOf: (slot: Slot) => Address | null;
  },
): BundleResultMessage {
  const bundle_id = record.id;
  switch (record.state) {
    case "accepted": {
      const slot = next?.slot ?? record.acceptedSlot;
      return { bundle_id, accepted: { slot: String(slot), validator_identity: next?.identity ?? "" } };
    }
    case "included":
      return { bundle_id, processed: processedAt(record.landed, leaderOf) };
    case "finalized":
      return { bundle_id, finalized: {} };
    case "dropped":
    case "expired":
      // Whom its time ran out for without ever having won was outbid to the end.
      return lost !== null && record.state === "expired" && record.forwarded === null
        ? lostResult(lost, endedText)
        : endedResult(record);
  }
}

type Processed = Extract<BundleResultMessage, { readonly processed: unknown }>["processed"];

function processedAt(landed: BundleRecord["landed"], leaderOf: (slot: Slot) => Address | null): Processed {
  invariant(landed !== null, "a bundle that is included is in a slot");
  const { slot, index } = landed;
  return { slot: String(slot), validator_identity: leaderOf(slot) ?? "", bundle_index: String(index) };
}

const endedText = "outbid until the bundle's time was over";
export const competingText = "outbid in this slot; the bundle competes again until it expires";

/** A bid that lost a slot, in the words of the auctions that Jito's engine holds. */
export function lostResult({ id, lost, auctionId, bid }: LostBid, msg: string): BundleResultMessage {
  const rejected = { auction_id: auctionId, simulated_bid_lamports: String(bid), msg };
  return {
    bundle_id: id,
    rejected:
      lost === "state_auction" ? { state_auction_bid_rejected: rejected } : { winning_batch_bid_rejected: rejected },
  };
}

const dropped = {
  blockhash_expired: "BlockhashExpired",
  already_processed: "PartiallyProcessed",
  fork: "NotFinalized",
} as const satisfies Partial<Record<BundleReason, string>>;

function endedResult({ id, reason, detail, signatures, state }: BundleRecord): BundleResultMessage {
  const why = reason ?? (state === "expired" ? "blockhash_expired" : "not_landed");
  if (why === "blockhash_expired" || why === "already_processed" || why === "fork") {
    return { bundle_id: id, dropped: { reason: dropped[why] } };
  }
  return { bundle_id: id, rejected: rejectedFor(why, detail, signatures) };
}

function rejectedFor(reason: BundleReason, detail: string | null, signatures: readonly string[]): RejectedMessage {
  const msg = jitoText(reason, detail);
  if (reason !== "simulation_failed") return { dropped_bundle: { msg } };
  const index = Number(/^transaction (\d+)/.exec(detail ?? "")?.[1] ?? 0);
  return { simulation_failure: { tx_signature: signatures[index] ?? "", msg } };
}

interface EventLog {
  readonly state: BundleState;
  readonly slot: Slot | null;
}

/**
 * Reports to a searcher each step of each of its bundles from now on, and first how those in flight stand. Clients wait
 * for `processed` before `finalized`, so a step that was not reported is reported with the next. One that another
 * branch holds is `processed` again, in the slot that it is in now. The first slot that a bundle loses is reported,
 * too: it competes again, but who waits for a result wants to know that the bid was too low.
 */
export function sendResults(
  engine: BlockEngineService,
  searcher: Searcher,
  responses: ResponseStream<BundleResultMessage>,
): void {
  const reported = new Map<string, EventLog>();
  const result = (record: BundleRecord): BundleResultMessage =>
    resultOf(record, {
      next: engine.nextLeader(),
      lost: engine.losses.of(record.id),
      leaderOf: (slot) => engine.leaderOf(slot),
    });
  const write = (message: BundleResultMessage): void => {
    if (responses.send(message)) return;
    responses.end(
      new GrpcStatusError("RESOURCE_EXHAUSTED", "The results are not read fast enough", { retryAfterSeconds: 1 }),
    );
  };
  const send = (record: BundleRecord): void => write(result(record));
  const losing = engine.losses.follow(searcher.id, (bid) => {
    if (responses.isOpen) write(lostResult(bid, competingText));
  });
  const following = engine.follow(searcher.id, (record) => {
    if (!responses.isOpen) {
      following[Symbol.dispose]();
      return;
    }
    const before = reported.get(record.id);
    const { state } = record;
    const slot = record.landed?.slot ?? null;
    if (before?.state === state && before.slot === slot) return;
    const isProcessed = before?.state === "included" && before.slot === slot;
    if (state === "finalized" && !isProcessed) send({ ...record, state: "included" });
    send(record);
    if (state === "accepted" || state === "included") reported.set(record.id, { state, slot });
    else reported.delete(record.id);
  });
  responses.onClose(() => {
    following[Symbol.dispose]();
    losing[Symbol.dispose]();
  });
  const inFlight = engine.inFlight(searcher.id);
  for (const { id, state, landed } of inFlight) reported.set(id, { state, slot: landed?.slot ?? null });
  responses.begin(inFlight.values().map(result));
}
