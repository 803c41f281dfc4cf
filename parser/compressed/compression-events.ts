import { ByteReader, orNull } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";

/**
 * What Bubblegum and the compression programs tell through the noop programs. Sources: mpl-bubblegum,
 * LeafSchemaEvent; spl-account-compression, AccountCompressionEvent.
 */

/** The leaf of an asset as it is now. Hashes are base58. */
export interface Leaf {
  readonly asset: string;
  readonly owner: string;
  /** The owner where nobody else may move it. */
  readonly delegate: string;
  readonly nonce: bigint;
  readonly dataHash: string;
  readonly creatorHash: string;
  /** Of the second version: null for a leaf of the first. */
  readonly second: { readonly collectionHash: string; readonly assetDataHash: string; readonly flags: number } | null;
  readonly leafHash: string;
}

/** A leaf was written: the nodes from it to the root, and how many changes the tree has had. */
export interface TreeChange {
  readonly tree: string;
  readonly sequence: bigint;
  readonly leafIndex: number;
  /** From the leaf to the root. `index` counts from the root, 1, so that those below node n are 2n and 2n+1. */
  readonly nodes: readonly { readonly index: number; readonly hash: string }[];
}

/** Levels of the deepest tree that the programs make, with the root. */
const levelsMax = 31;
const nodeBytes = 36;

/** The leaf that a call of a noop program tells; null for calls that tell none. */
export function leafOf(data: Uint8Array): Leaf | null {
  // Application data of the first version, their length, an event of a leaf, its version, and which schema it has.
  if (data.length < 9 || data[0] !== 1 || data[1] !== 0 || data[6] !== 1) return null;
  return orNull(() => {
    const reader = new ByteReader(data, 8);
    const schema = reader.u8();
    if (schema > 1) return null;
    const hash = (): string => addressOfBytes(reader.bytes(32));
    const leaf = {
      asset: reader.address(),
      owner: reader.address(),
      delegate: reader.address(),
      nonce: reader.u64(),
      dataHash: hash(),
      creatorHash: hash(),
    };
    const second = schema === 0 ? null : { collectionHash: hash(), assetDataHash: hash(), flags: reader.u8() };
    return { ...leaf, second, leafHash: hash() };
  });
}

/** The change of a tree that a call of a noop program tells; null for calls that tell none. */
export function treeChangeOf(data: Uint8Array): TreeChange | null {
  if (data.length < 38 || data[0] !== 0 || data[1] !== 0) return null;
  return orNull(() => {
    const reader = new ByteReader(data, 2);
    const tree = reader.address();
    const levels = reader.u32();
    if (levels === 0 || levels > levelsMax) return null;
    const nodes = reader.list(levels, nodeBytes, () => {
      const hash = addressOfBytes(reader.bytes(32));
      return { hash, index: reader.u32() };
    });
    return { tree, nodes, sequence: reader.u64(), leafIndex: reader.u32() };
  });
}
