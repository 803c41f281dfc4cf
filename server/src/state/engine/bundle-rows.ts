import { bundleReasons, bundleStates, mevTypes } from "@sluice/contract/engine";
import type { Network } from "@sluice/contract/tiers";
import { parseAddress, parseSignature, parseSlot, type Slot } from "@sluice/wire/identifiers";
import {
  type BundleRecord,
  type BundleStatus,
  type BundleStep,
  bundleIngresses,
  followersMax,
  type NewBundle,
} from "../bundle-records.ts";
import type { BundleContentRow, BundleRow } from "../engine-tables.ts";
import { corrupt, numberOf, numberOrNull, oneOf } from "../rows.ts";
import { checkAmount, checkCount, checkIdentifier, checkSha256Hex, checkText, checkWhole } from "../values.ts";

const transactionsMax = 8;
const transactionBytesMax = 65_535;
const sealedBytesMax = 64 * 1024;
const detailLengthMax = 4_096;
const wordLengthMax = 100;

export type BundleStateRow = Pick<
  BundleRow,
  | "state"
  | "reason"
  | "detail"
  | "landed_slot"
  | "landed_blockhash"
  | "landed_index"
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

const acceptedState: Omit<BundleStateRow, "changed_at"> = {
  state: "accepted",
  reason: null,
  detail: null,
  landed_slot: null,
  landed_blockhash: null,
  landed_index: null,
  forwarded_times: 0n,
  forwarded_slot: null,
  forwarded_leader: null,
  tip_seen: null,
  compute_units: null,
  ended_at: null,
};

/** The row of a bundle that is accepted now. INVALID_INPUT where it has values that no column takes. */
export function toBundleRow(
  { network, chain }: { readonly network: Network; readonly chain: string | null },
  bundle: NewBundle,
): BundleRow {
  return {
    id: checkSha256Hex("id", bundle.id),
    searcher_id: checkIdentifier("searcherId", bundle.searcherId),
    door: checkText("door", bundle.ingress, wordLengthMax),
    signatures: signaturesText(bundle.signatures),
    tip: checkAmount("tip", bundle.tip),
    mev_type: bundle.mevType,
    target_slot: amountOrNull("targetSlot", bundle.targetSlot),
    received_at: checkWhole("receivedAt", bundle.receivedAt),
    accepted_slot: checkAmount("acceptedSlot", bundle.acceptedSlot),
    last_valid_block_height: amountOrNull("lastValidBlockHeight", bundle.lastValidBlockHeight),
    expires_at: checkWhole("expiresAt", bundle.expiresAt),
    ...acceptedState,
    changed_at: checkWhole("receivedAt", bundle.receivedAt),
    followers: null,
    network,
    chain: chain === null ? null : checkText("chain", chain, wordLengthMax),
  };
}

export function followersText(followers: readonly string[]): string | null {
  checkCount("followers", followers.length, followersMax);
  for (const follower of followers) checkIdentifier("followers", follower);
  return followers.length === 0 ? null : followers.join(",");
}

export function toContentRow(
  network: Network,
  content: Pick<NewBundle, "id" | "transactions" | "sealed">,
): BundleContentRow {
  const { transactions, sealed } = content;
  checkCount("transactions", transactions.length, transactionsMax);
  for (const transaction of transactions) checkCount("transactions", transaction.length, transactionBytesMax);
  if (sealed !== null) checkCount("sealed", sealed.length, sealedBytesMax);
  return { bundle_id: content.id, transactions: packed(transactions), sealed, network };
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

export function toBundleStateRow({ to, isEnd }: Pick<BundleStep, "to" | "isEnd">): BundleStateRow {
  const changedAt = checkWhole("changedAt", to.changedAt);
  return {
    state: to.state,
    reason: to.reason,
    detail: to.detail === null ? null : detailText(to.detail),
    landed_slot: amountOrNull("landed.slot", to.landed?.slot ?? null),
    landed_blockhash: to.landed === null ? null : checkText("landed.blockhash", to.landed.blockhash, wordLengthMax),
    landed_index: to.landed === null ? null : checkWhole("landed.index", to.landed.index),
    ...toForwardedRow(to.forwarded),
    tip_seen: amountOrNull("tipSeen", to.tipSeen),
    compute_units: to.computeUnits === null ? null : checkWhole("computeUnits", to.computeUnits),
    changed_at: changedAt,
    ended_at: isEnd ? changedAt : null,
  };
}

export function toForwardedRow(
  forwarded: BundleStatus["forwarded"],
): Pick<BundleStateRow, "forwarded_times" | "forwarded_slot" | "forwarded_leader"> {
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

export function toBundle(row: JoinedBundleRow): BundleRecord {
  return {
    id: row.id,
    searcherId: row.searcher_id,
    ingress: oneOf("bundles.door", row.door, bundleIngresses),
    signatures:
      row.signatures === "" ? [] : row.signatures.split(",").map((text) => sound("signatures", parseSignature(text))),
    tip: row.tip,
    mevType: oneOf("bundles.mev_type", row.mev_type, mevTypes),
    targetSlot: row.target_slot === null ? null : sound("target_slot", parseSlot(row.target_slot)),
    receivedAt: numberOf(row.received_at),
    acceptedSlot: sound("accepted_slot", parseSlot(row.accepted_slot)),
    lastValidBlockHeight: row.last_valid_block_height,
    expiresAt: numberOf(row.expires_at),
    transactions: row.transactions === null ? [] : unpacked("bundle_contents.transactions", row.transactions),
    sealed: row.sealed === null ? null : plain(row.sealed),
    ...toBundleState(row),
    followers: row.followers === null ? [] : row.followers.split(","),
    chain: row.chain,
  };
}

function toBundleState(row: BundleRow): BundleStatus {
  return {
    state: oneOf("bundles.state", row.state, bundleStates),
    reason: row.reason === null ? null : oneOf("bundles.reason", row.reason, bundleReasons),
    detail: row.detail,
    landed: pairOf("landed", row.landed_slot, row.landed_blockhash, (slot, blockhash) => ({
      slot,
      blockhash,
      index: numberOf(row.landed_index ?? 0n),
    })),
    forwarded: pairOf("forwarded", row.forwarded_slot, row.forwarded_leader, (slot, leader) => ({
      times: numberOf(row.forwarded_times),
      slot,
      leader: sound("forwarded_leader", parseAddress(leader)),
    })),
    tipSeen: row.tip_seen,
    computeUnits: numberOrNull(row.compute_units),
    changedAt: numberOf(row.changed_at),
  };
}

/** Two columns that are null together: a slot and a text. */
function pairOf<T>(what: string, slot: bigint | null, text: string | null, build: (slot: Slot, text: string) => T) {
  if (slot === null && text === null) return null;
  if (slot === null || text === null) throw corrupt(`bundles.${what}`);
  return build(sound(`${what}_slot`, parseSlot(slot)), text);
}

/** A parsed value of a column of `bundles`; CORRUPT when it is null, for what nothing here has written. */
function sound<T>(column: string, value: T | null): T {
  if (value === null) throw corrupt(`bundles.${column}`);
  return value;
}

/** Several byte strings as one: each behind its length in two bytes, the larger one first. */
export function packed(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((total, part) => total + 2 + part.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint16(at, part.length);
    bytes.set(part, at + 2);
    at += 2 + part.length;
  }
  return bytes;
}

/** The parts again, as copies; CORRUPT when the bytes are no such thing. */
export function unpacked(what: string, bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 2 > bytes.length) throw corrupt(what);
    const end = at + 2 + view.getUint16(at);
    if (end > bytes.length) throw corrupt(what);
    parts.push(plain(bytes.subarray(at + 2, end)));
    at = end;
  }
  return parts;
}

/** A copy that is a plain Uint8Array, whatever class the driver gives. */
export function plain(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}
