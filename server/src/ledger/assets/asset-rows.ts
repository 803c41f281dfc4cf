/** Rows of assets as they are written and read. */

/** Where a row stands in the order of an asset's rows. */
export interface AssetPlace {
  readonly slot: bigint;
  readonly transactionIndex: number;
  readonly position: number;
  /** Empty for a reading of accounts. */
  readonly blockhash: string;
}

/** What an asset is. Empty texts are none. */
export interface AssetDescription {
  readonly interface: string;
  readonly name: string;
  readonly jsonUri: string;
  readonly authority: string;
  readonly collection: string;
  readonly collectionVerified: boolean;
  readonly creators: readonly string[];
  /** Of these. */
  readonly creatorsVerified: readonly string[];
  /** Basis points. */
  readonly royalty: number;
  /** Text of the room that writes it, which no filter looks into. */
  readonly body: string;
}

/** Who holds an asset. Empty texts are none. */
export interface AssetHolding {
  readonly owner: string;
  readonly delegate: string;
  readonly frozen: boolean;
  readonly burnt: boolean;
  readonly tokenAccount: string;
  readonly supply: bigint;
}

/** The leaf of a compressed asset. */
export interface AssetLeaf {
  readonly tree: string;
  readonly leafIndex: bigint;
  readonly sequence: bigint;
  readonly dataHash: string;
  readonly creatorHash: string;
  readonly leafHash: string;
}

/** A reading of an asset's accounts, or a change of its leaf. */
export interface AssetRow {
  readonly asset: string;
  readonly place: AssetPlace;
  /** The slot in which the asset was changed; 0 where a reading does not know. */
  readonly changedSlot: bigint;
  readonly signature: string;
  /** The instruction; `read` for a reading, `absent` for one that found nothing of what never was final. */
  readonly operation: string;
  readonly holding: AssetHolding;
  /** Null for what is not compressed. */
  readonly leaf: AssetLeaf | null;
  /** Null where the row says nothing of it: what was said before stands. */
  readonly description: AssetDescription | null;
  /** The master edition that an NFT is, or of which it is a print: its account. Null for all else. */
  readonly edition: { readonly kind: "master" | "print"; readonly account: string } | null;
}

/** A node of a tree as a change wrote it. */
export interface TreeNodeRow {
  readonly tree: string;
  readonly node: number;
  readonly sequence: bigint;
  readonly place: AssetPlace;
  readonly hash: string;
}

/** The place of readings: after all changes of their slot, a finalized one after others. */
export const readingPlace = (slot: bigint, isFinal: boolean): AssetPlace => ({
  ...{ slot, transactionIndex: 0xffff_ffff, position: isFinal ? 1 : 0, blockhash: "" },
});

/** The operation of a reading that found nothing of an asset that never was final: it counts as no asset. */
export const absentOperation = "absent";

/** What lists of assets are selected by. */
export type AssetValueKind =
  | "owner"
  | "delegate"
  | "authority"
  | "collection"
  | "creator"
  | "tree"
  | "uri"
  | "master"
  | "print";

/** The values of a row that lists are selected by. */
export function valuesOf({ holding, leaf, description, edition }: AssetRow): readonly [AssetValueKind, string][] {
  const values: [AssetValueKind, string][] = [
    ["owner", holding.owner],
    ["delegate", holding.delegate],
    ["tree", leaf?.tree ?? ""],
  ];
  if (edition !== null) values.push([edition.kind, edition.account]);
  if (description !== null) {
    values.push(["authority", description.authority], ["collection", description.collection]);
    values.push(["uri", description.jsonUri]);
    for (const creator of description.creators) values.push(["creator", creator]);
  }
  return values.filter(([, value]) => value !== "");
}
