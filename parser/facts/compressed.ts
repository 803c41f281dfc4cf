import { endOfCall } from "../actions/call-tree.ts";
import type { Context } from "../actions/context.ts";
import type { Action } from "../actions/read-actions.ts";
import { type Leaf, leafOf } from "../compressed/compression-events.ts";
import { bubblegumProgram, noopPrograms } from "../compressed/leaf-changes.ts";

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

/** The leaf that a call wrote; null for calls that have to do with no tree. */
export function compressedFacts(context: Context, { does, instruction, start, end }: Action): CompressedFacts | null {
  const call = context.view.calls[start];
  const type = types[does];
  if (call === undefined || instruction.tree === undefined || type === undefined) return null;
  const at = {
    type,
    treeId: context.view.accountOf(call, instruction.tree),
    oldLeafOwner: keyAt(context, call, instruction.seller),
    instructionIndex: call.outer,
    innerInstructionIndex: call.inner,
  };
  const leaf = leafIn(context, start, end);
  if (leaf !== null) return { ...at, assetId: leaf.asset, leafIndex: leaf.nonce, newLeafOwner: leaf.owner };
  return { ...at, assetId: null, leafIndex: null, newLeafOwner: keyAt(context, call, instruction.buyer) };
}

/**
 * The leaf that Bubblegum tells through a noop program in a range of calls. What other programs tell through one is
 * none: a noop program may be called with any data.
 */
function leafIn({ view }: Context, start: number, end: number): Leaf | null {
  for (let position = start; position < end; position += 1) {
    if (view.calls[position]?.programId !== bubblegumProgram) continue;
    const last = Math.min(end, endOfCall(view, position));
    for (let at = position + 1; at < last; at += 1) {
      const told = view.calls[at];
      const leaf = told === undefined || !noopPrograms.includes(told.programId) ? null : leafOf(told.data);
      if (leaf !== null) return leaf;
    }
  }
  return null;
}

function keyAt(
  context: Context,
  call: Parameters<Context["view"]["accountOf"]>[0],
  position: number | undefined,
): string | null {
  const key = position === undefined ? "" : context.view.accountOf(call, position);
  return key === "" || key === call.programId ? null : key;
}
