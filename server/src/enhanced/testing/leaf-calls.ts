import {
  bubblegumProgram,
  dataHashOf,
  emptyNode,
  type LeafMetadata,
  leafAsset,
  nodeOf,
  noopPrograms,
  writeMetadata,
} from "@sluice/parser";
import { ByteWriter } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import type { BlockCall } from "../../ledger/index.ts";

/** A leaf as a model tree has it. */
export interface ModelLeaf {
  readonly owner: string;
  readonly delegate: string;
  readonly metadata: LeafMetadata;
}

const sha256 = (text: string): Uint8Array => new Uint8Array(new Bun.CryptoHasher("sha256").update(text).digest());
const hashOfText = (text: string): string => addressOfBytes(sha256(text));

export const depth = 3;

/** A tree of compressed NFTs as it is in one block; changing it makes another one. */
export class ModelTree {
  readonly address: string;
  readonly leaves: readonly (ModelLeaf | null)[];
  readonly sequence: bigint;

  constructor(address: string, leaves: readonly (ModelLeaf | null)[] = [], sequence = 0n) {
    this.address = address;
    this.leaves = leaves;
    this.sequence = sequence;
  }

  with(index: number, leaf: ModelLeaf | null): ModelTree {
    const leaves = [...this.leaves];
    leaves[index] = leaf;
    return new ModelTree(this.address, leaves, this.sequence + 1n);
  }

  assetOf(index: number): string {
    return leafAsset(this.address, BigInt(index)) ?? "";
  }

  /** The hash of a leaf, which stands for it in the tree. */
  leafHash(index: number): string {
    const leaf = this.leaves[index] ?? null;
    return leaf === null
      ? emptyNode(0)
      : hashOfText(`${index} ${leaf.owner} ${leaf.delegate} ${dataHashOf(leaf.metadata)}`);
  }

  node(number: number): string {
    if (number >= 2 ** depth) return this.leafHash(number - 2 ** depth);
    return nodeOf(this.node(2 * number), this.node(2 * number + 1));
  }

  get root(): string {
    return this.node(1);
  }

  /** What the compression program tells when a leaf was changed. */
  changeEvent(index: number): Uint8Array {
    const writer = new ByteWriter()
      .u8(0)
      .u8(0)
      .address(this.address)
      .u32(depth + 1);
    for (let node = 2 ** depth + index; node >= 1; node = Math.floor(node / 2))
      writer.address(this.node(node)).u32(node);
    return writer.u64(this.sequence).u32(index).finish();
  }

  /** What Bubblegum tells of a leaf. */
  leafEvent(index: number): Uint8Array {
    const leaf = this.leaves[index];
    if (leaf === null || leaf === undefined) throw new RangeError("there is no such leaf");
    const writer = new ByteWriter().u8(1).u8(0).u32(0).u8(1).u8(0).u8(0);
    writer.address(this.assetOf(index)).address(leaf.owner).address(leaf.delegate).u64(BigInt(index));
    writer.address(dataHashOf(leaf.metadata)).address(hashOfText("creators")).address(this.leafHash(index));
    return writer.finish();
  }
}

type Place = Pick<BlockCall, "slot" | "blockhash" | "transactionIndex" | "signature">;

const call = (place: Place, position: number, changes: Partial<BlockCall>): BlockCall => ({
  ...{ ...place, position, outer: 0, stackHeight: 2, programId: noopPrograms[0] ?? "", accounts: [] },
  data: new Uint8Array(),
  ...changes,
});

const tags = { mint: "9162c076b8937668", transfer: "a334c8e78c0345ba", burn: "746e1d386bdb2a5d" } as const;

/** The calls of a transaction that changed a leaf: of Bubblegum, and of what it told. `after` is the tree then. */
export function leafCalls(
  place: Place,
  kind: keyof typeof tags,
  { after, index }: { readonly after: ModelTree; readonly index: number },
): readonly BlockCall[] {
  const writer = new ByteWriter().bytes(Buffer.from(tags[kind], "hex"));
  const leaf = after.leaves[index] ?? null;
  if (kind === "mint" && leaf !== null) writer.bytes(writeMetadata(leaf.metadata));
  else writer.bytes(new Uint8Array(96)).u64(BigInt(index)).u32(index);
  const accounts = ["a", "b", "c", after.address, "d", "e", "f"];
  if (kind === "transfer") accounts.splice(3, 2, "d", after.address);
  const events = [...(leaf === null ? [] : [after.leafEvent(index)]), after.changeEvent(index)];
  const outer = call(place, 0, { stackHeight: 1, programId: bubblegumProgram, accounts, data: writer.finish() });
  return [outer, ...events.map((data, at) => call(place, at + 1, { data }))];
}
