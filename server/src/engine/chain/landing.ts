import type { Signature } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import type { ChainBlock } from "./chain-block.ts";

/** A block in which transactions are found by their ids. */
export interface SeenBlock {
  readonly block: ChainBlock;
  readonly places: ReadonlyMap<Signature, number>;
  /** Bundles that landed in it, and of each of their transactions whose it is. */
  readonly landed: Set<string>;
  readonly ours: Map<Signature, string>;
}

export function seenBlock(block: ChainBlock): SeenBlock {
  const places = new Map(block.transactions.map(({ signature }, place) => [signature, place]));
  return { block, places, landed: new Set(), ours: new Map() };
}

/** How a bundle is in a block: as a whole, in its order and with success; or in any other way, which spoils it. */
export type Landing =
  | { readonly isWhole: true; readonly tip: bigint; readonly units: number }
  | { readonly isWhole: false; readonly present: readonly Signature[]; readonly detail: string };

/** Null where none of the bundle's transactions is in the block. */
export function landingOf(
  { signatures }: Pick<BundleRecord, "signatures">,
  { block, places }: SeenBlock,
): Landing | null {
  const present = signatures.filter((signature) => places.has(signature));
  if (present.length === 0) return null;
  const found = signatures.flatMap((signature) => {
    const place = places.get(signature);
    const transaction = place === undefined ? undefined : block.transactions[place];
    return place === undefined || transaction === undefined ? [] : [{ place, transaction }];
  });
  const spoilt = (what: string): Landing => ({ isWhole: false, present, detail: `${what} in slot ${block.slot}` });
  if (found.length < signatures.length) return spoilt(`${found.length} of ${signatures.length} transactions are`);
  const failed = found.findIndex(({ transaction }) => transaction.failed);
  if (failed !== -1) return spoilt(`transaction ${failed} failed`);
  if (found.some(({ place }, index) => index > 0 && place < (found[index - 1]?.place ?? 0))) {
    return spoilt("its transactions are in another order");
  }
  return {
    isWhole: true,
    tip: found.reduce((sum, { transaction }) => sum + transaction.tip, 0n),
    units: found.reduce((sum, { transaction }) => sum + transaction.units, 0),
  };
}

/**
 * Of bundles that are whole in one block and hold the same transactions only one can have brought them: the one that is
 * included already, else one that was handed to a leader, else the longest.
 */
export function claimsBefore(one: BundleRecord, other: BundleRecord): number {
  const rank = ({ state, forwarded }: BundleRecord): number => (state === "included" ? 2 : forwarded !== null ? 1 : 0);
  return rank(other) - rank(one) || other.signatures.length - one.signatures.length;
}
