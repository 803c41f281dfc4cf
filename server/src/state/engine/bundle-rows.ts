import { bundleReasons, bundleStates, mevTypes } from "@sluice/contract/engine";
import { corrupt, numberOf, numberOrNull, oneOf } from "../rows.ts";
import { checkAmount, checkCount, checkIdentifier, checkSha256Hex, checkText, checkWhole } from "../values.ts";
import type {
  StoredBundle,
  StoredBundleContent,
  StoredBundleStanding,
  StoredBundleStep,
  StoredBundleTerms,
} from "./bundle-records.ts";
import { packed, plain, unpacked } from "./packed.ts";
import type { BundleContentRow, BundleRow } from "./tables.ts";

const transactionsMax = 8;
const transactionBytesMax = 65_535;
const sealedBytesMax = 64 * 1024;
const detailLengthMax = 4_096;
const wordLengthMax = 100;

export type StandingRow = Pick<
  BundleRow,
  | "state"
  | "reason"
  | "detail"
  | "landed_slot"
  | "landed_blockhash"
  | "forwarded_times"
  | "forwarded_slot"
  | "forwarded_leader"
  | "tip_seen"
  | "compute_units"
  | "changed_at"
  | "ended_at"
>;

const amountOrNull = (path: string, value: bigint | null): bigint | null =>
  value === null ? null : checkAmount(path, value);

const acceptedStanding: Omit<StandingRow, "changed_at"> = {
  state: "accepted",
  reason: null,
  detail: null,
  landed_slot: null,
  landed_blockhash: null,
  forwarded_times: 0n,
  forwarded_slot: null,
  forwarded_leader: null,
  tip_seen: null,
  compute_units: null,
  ended_at: null,
};

/** The row of a bundle that is accepted now. INVALID_INPUT where it has values that no column takes. */
export function toBundleRow(terms: StoredBundleTerms): BundleRow {
  return {
    id: checkSha256Hex("id", terms.id),
    searcher_id: checkIdentifier("searcherId", terms.searcherId),
    door: checkText("door", terms.ingress, wordLengthMax),
    signatures: signaturesText(terms.signatures),
    tip: checkAmount("tip", terms.tip),
    mev_type: terms.mevType,
    target_slot: amountOrNull("targetSlot", terms.targetSlot),
    received_at: checkWhole("receivedAt", terms.receivedAt),
    accepted_slot: checkAmount("acceptedSlot", terms.acceptedSlot),
    last_valid_block_height: amountOrNull("lastValidBlockHeight", terms.lastValidBlockHeight),
    expires_at: checkWhole("expiresAt", terms.expiresAt),
    ...acceptedStanding,
    changed_at: checkWhole("receivedAt", terms.receivedAt),
  };
}

export function toContentRow(id: string, content: StoredBundleContent): BundleContentRow {
  const { transactions, sealed } = content;
  checkCount("transactions", transactions.length, transactionsMax);
  for (const transaction of transactions) checkCount("transactions", transaction.length, transactionBytesMax);
  if (sealed !== null) checkCount("sealed", sealed.length, sealedBytesMax);
  return { bundle_id: id, transactions: packed(transactions), sealed };
}

export function signaturesText(signatures: readonly string[]): string {
  checkCount("signatures", signatures.length, transactionsMax);
  for (const signature of signatures) checkText("signatures", signature, wordLengthMax);
  if (signatures.some((signature) => signature.includes(","))) checkText("signatures", "", wordLengthMax);
  return signatures.join(",");
}

/** A detail is for people: it is cut to what the column takes rather than refused. */
function detailText(detail: string): string {
  return detail.slice(0, detailLengthMax).toWellFormed().replaceAll("\0", "");
}

export function toStandingRow({ to, isEnd }: Pick<StoredBundleStep, "to" | "isEnd">): StandingRow {
  const changedAt = checkWhole("changedAt", to.changedAt);
  return {
    state: to.state,
    reason: to.reason,
    detail: to.detail === null ? null : detailText(to.detail),
    landed_slot: amountOrNull("landed.slot", to.landed?.slot ?? null),
    landed_blockhash: to.landed === null ? null : checkText("landed.blockhash", to.landed.blockhash, wordLengthMax),
    ...toForwardedRow(to.forwarded),
    tip_seen: amountOrNull("tipSeen", to.tipSeen),
    compute_units: to.computeUnits === null ? null : checkWhole("computeUnits", to.computeUnits),
    changed_at: changedAt,
    ended_at: isEnd ? changedAt : null,
  };
}

export function toForwardedRow(
  forwarded: StoredBundleStanding["forwarded"],
): Pick<StandingRow, "forwarded_times" | "forwarded_slot" | "forwarded_leader"> {
  if (forwarded === null) return { forwarded_times: 0n, forwarded_slot: null, forwarded_leader: null };
  return {
    forwarded_times: checkWhole("forwarded.times", forwarded.times),
    forwarded_slot: checkAmount("forwarded.slot", forwarded.slot),
    forwarded_leader: checkText("forwarded.leader", forwarded.leader, wordLengthMax),
  };
}

/** A bundle with its content, which is gone when it has ended. */
export type JoinedBundleRow = BundleRow & {
  readonly transactions: Uint8Array | null;
  readonly sealed: Uint8Array | null;
};

export function toBundle(row: JoinedBundleRow): StoredBundle {
  return {
    id: row.id,
    searcherId: row.searcher_id,
    ingress: row.door,
    signatures: row.signatures === "" ? [] : row.signatures.split(","),
    tip: row.tip,
    mevType: oneOf("bundles.mev_type", row.mev_type, mevTypes),
    targetSlot: row.target_slot,
    receivedAt: numberOf(row.received_at),
    acceptedSlot: row.accepted_slot,
    lastValidBlockHeight: row.last_valid_block_height,
    expiresAt: numberOf(row.expires_at),
    transactions: row.transactions === null ? [] : unpacked("bundle_contents.transactions", row.transactions),
    sealed: row.sealed === null ? null : plain(row.sealed),
    ...toStanding(row),
  };
}

function toStanding(row: BundleRow): StoredBundleStanding {
  return {
    state: oneOf("bundles.state", row.state, bundleStates),
    reason: row.reason === null ? null : oneOf("bundles.reason", row.reason, bundleReasons),
    detail: row.detail,
    landed: pairOf("bundles.landed", row.landed_slot, row.landed_blockhash, (slot, blockhash) => ({ slot, blockhash })),
    forwarded: pairOf("bundles.forwarded", row.forwarded_slot, row.forwarded_leader, (slot, leader) => ({
      times: numberOf(row.forwarded_times),
      slot,
      leader,
    })),
    tipSeen: row.tip_seen,
    computeUnits: numberOrNull(row.compute_units),
    changedAt: numberOf(row.changed_at),
  };
}

/** Two columns that are null together. */
function pairOf<T>(what: string, slot: bigint | null, text: string | null, make: (slot: bigint, text: string) => T) {
  if (slot === null && text === null) return null;
  if (slot === null || text === null) throw corrupt(what);
  return make(slot, text);
}
