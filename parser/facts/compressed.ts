import { readU64 } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { Context } from "../actions/context.ts";
import type { Action } from "../actions/read-actions.ts";

/** A leaf of a tree of compressed NFTs as a transaction wrote it. */
export interface CompressedFacts {
  readonly type: string;
  readonly treeId: string;
  /** Null where the node did not keep the event that names it. */
  readonly assetId: string | null;
  readonly leafIndex: bigint | null;
  readonly newLeafOwner: string | null;
  readonly oldLeafOwner: string | null;
  readonly instructionIndex: number;
  readonly innerInstructionIndex: number | null;
}

const types: Readonly<Record<string, string>> = {
  nft_mint: "COMPRESSED_NFT_MINT",
  nft_sale: "COMPRESSED_NFT_SALE",
  nft_listing: "COMPRESSED_NFT_LISTING",
  nft_cancel_listing: "COMPRESSED_NFT_CANCEL_LISTING",
  asset_transfer: "COMPRESSED_NFT_TRANSFER",
};

/** The application data that Bubblegum writes through the noop program, after which a leaf follows. */
const leafHeader = 9;

/** The leaf that a call wrote; null for calls that have to do with no tree. */
export function compressedFacts(context: Context, { does, instruction, start, end }: Action): CompressedFacts | null {
  const call = context.view.calls[start];
  const type = types[does];
  if (call === undefined || instruction.tree === undefined || type === undefined) return null;
  const treeId = context.view.accountOf(call, instruction.tree);
  const at = { instructionIndex: call.outer, innerInstructionIndex: call.inner };
  const sold = { oldLeafOwner: keyAt(context, call, instruction.seller) };
  for (let position = start; position < end; position += 1) {
    const leaf = context.view.calls[position];
    if (leaf === undefined || leaf.programId !== programs.noop || leaf.data[0] !== 1) continue;
    if (leaf.data.length < leafHeader + 104) continue;
    const assetId = addressOfBytes(leaf.data.subarray(leafHeader, leafHeader + 32));
    const newLeafOwner = addressOfBytes(leaf.data.subarray(leafHeader + 32, leafHeader + 64));
    const leafIndex = readU64(leaf.data, leafHeader + 96);
    return { type, treeId, assetId, leafIndex, newLeafOwner, ...sold, ...at };
  }
  const newLeafOwner = keyAt(context, call, instruction.buyer);
  return { type, treeId, assetId: null, leafIndex: null, newLeafOwner, ...sold, ...at };
}

function keyAt(
  context: Context,
  call: Parameters<Context["view"]["accountOf"]>[0],
  position: number | undefined,
): string | null {
  const key = position === undefined ? "" : context.view.accountOf(call, position);
  return key === "" || key === call.programId ? null : key;
}
