import type { Random } from "@sluice/lib";
import type { Signature } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../../model/bundle.ts";
import { acceptedBundle } from "../../testing/accepted-bundle.ts";
import { heldThrough } from "../bundle-watch.ts";
import { signatureNamed } from "./names.ts";
import { blockAt, type SimulatedBlock, type SimulatedTransaction } from "./simulated-chain.ts";

/** A bundle with what is to become of it, as far as the dice have it. */
export interface BundlePlan {
  readonly record: BundleRecord;
  /** Nothing of it lands before this slot. */
  readonly from: bigint;
  /** The chance that something of it lands in a block that may hold it. */
  readonly chance: number;
  /** The moment at which its acceptance is on disk. */
  readonly acceptedAt: number;
}

export interface PlanTime {
  readonly slot: bigint;
  readonly height: bigint;
  readonly nowMs: number;
  readonly tick: number;
}

/** A new bundle; `shared` is a transaction that another bundle holds too. */
export function newPlan(name: string, random: Random, time: PlanTime, shared: Signature | null): BundlePlan {
  const below = (bound: number): number => Math.floor(random.next() * bound);
  const signatures = Array.from({ length: 1 + below(4) }, (_, index) => signatureNamed(`${name}/${index}`));
  if (shared !== null) signatures.splice(below(signatures.length + 1), 0, shared);
  const hasTarget = random.next() < 0.3;
  const record = acceptedBundle({
    id: name,
    signatures,
    targetSlot: hasTarget ? ((time.slot + BigInt(1 + below(6))) as NonNullable<BundleRecord["targetSlot"]>) : null,
    lastValidBlockHeight: random.next() < 0.15 ? null : time.height + BigInt(10 + below(30)),
    expiresAt: time.nowMs + 400 * (20 + below(60)),
  });
  const isLate = random.next() < 0.1;
  return {
    record,
    from: time.slot + 1n,
    chance: random.next() < 0.3 ? 0 : 0.05 + 0.5 * random.next(),
    acceptedAt: time.tick + (isLate ? below(3) : 0),
  };
}

/** Whether a block of this slot and height, on this parent, may hold something of a bundle. */
export function mayHold({ record, from }: BundlePlan, parent: SimulatedBlock, time: PlanTime): boolean {
  const { targetSlot, lastValidBlockHeight, expiresAt, signatures } = record;
  if (time.slot < from || time.nowMs >= expiresAt) return false;
  if (lastValidBlockHeight !== null && time.height > lastValidBlockHeight + 1n) return false;
  // What a leader was handed late it may place in a later slot of its own, after its target.
  if (targetSlot !== null && (time.slot < targetSlot || time.slot > heldThrough(targetSlot))) return false;
  for (let at: SimulatedBlock | null = parent; at !== null && at.slot >= from - 64n; at = at.parent) {
    if (at.transactions.some(({ signature }) => signatures.includes(signature))) return false;
  }
  return true;
}

/** What of a bundle comes into a block: mostly all of it, else a part, in another order, or with a failure. */
export function landing({ record }: BundlePlan, random: Random): SimulatedTransaction[] {
  const whole = record.signatures.map((signature) => ({ signature, failed: false }));
  const draw = random.next();
  if (draw < 0.65 || whole.length < 2) return draw < 0.9 ? whole : whole.map((each) => ({ ...each, failed: true }));
  if (draw < 0.8) return whole.filter((_, index) => index !== Math.floor(random.next() * whole.length));
  if (draw < 0.9) return whole.toReversed();
  const failing = Math.floor(random.next() * whole.length);
  return whole.map((each, index) => ({ ...each, failed: index === failing }));
}

/** What became of a bundle, and in which block it was decided. */
export type Truth =
  | { readonly is: "absent" }
  | { readonly is: "whole" | "spoilt"; readonly block: SimulatedBlock }
  | { readonly is: "taken"; readonly block: SimulatedBlock; readonly by: BundleRecord };

/** Whether a bundle is in a block as a whole, in its order and with success. */
export function isWholeIn({ signatures }: BundleRecord, block: SimulatedBlock): boolean {
  let place = -1;
  for (const signature of signatures) {
    const next = block.transactions.findIndex((each) => each.signature === signature);
    if (next <= place || block.transactions[next]?.failed !== false) return false;
    place = next;
  }
  return true;
}

/** What became of a bundle in the chain below a head, by a plain walk. `others` are all bundles. */
export function truthOf(record: BundleRecord, head: SimulatedBlock, others: readonly BundleRecord[]): Truth {
  let first: SimulatedBlock | null = null;
  for (let at: SimulatedBlock | null = head; at !== null; at = at.parent) {
    if (at.transactions.some(({ signature }) => record.signatures.includes(signature))) first = at;
  }
  if (first === null) return { is: "absent" };
  const block = first;
  const present = record.signatures.filter((each) => block.transactions.some(({ signature }) => signature === each));
  const by = others.find((other) => {
    return (
      other !== record &&
      present.some((each) => other.signatures.includes(each)) &&
      isWholeIn(other, block) &&
      other.state === "finalized"
    );
  });
  // What is whole and holds what another has landed with is that other's landing.
  if (by !== undefined) return { is: "taken", block, by };
  return { is: isWholeIn(record, block) ? "whole" : "spoilt", block };
}

/** Whether a block came when the bundle could no longer land, so that it may have been given up before. */
export function isTooLate(
  { targetSlot, lastValidBlockHeight, forwarded, expiresAt }: BundleRecord,
  block: SimulatedBlock,
) {
  if (targetSlot !== null && block.slot > heldThrough(targetSlot)) return true;
  if (lastValidBlockHeight !== null && block.height > lastValidBlockHeight + 1n) return true;
  // One that was not handed to a leader is given up at its time without waiting for blocks that are not confirmed yet.
  const unconfirmed = forwarded === null ? 64n : 0n;
  return timeOf(block.slot + unconfirmed) >= expiresAt;
}

/** Unix milliseconds of a slot's moment. */
export const timeOf = (slot: bigint): number => 1_000_000 + 400 * Number(slot);

/** Whether one of some blocks holds anything of a bundle. */
export const touches = ({ signatures }: BundleRecord, blocks: readonly SimulatedBlock[]): boolean => {
  return blocks.some(({ transactions }) => transactions.some(({ signature }) => signatures.includes(signature)));
};

export const isAncestor = (block: SimulatedBlock, head: SimulatedBlock): boolean => blockAt(head, block.slot) === block;
