import type { Network } from "@sluice/contract/tiers";
import { emptyNode, nodeOf } from "@sluice/parser";
import type { IndexedAsset, LedgerAssetReads } from "../../ledger/index.ts";

/** The proof of a leaf: hashes beside the way from it to the root. */
export interface LeafProof {
  readonly root: string;
  /** From the leaf's level up. */
  readonly proof: readonly string[];
  readonly nodeIndex: number;
  readonly leaf: string;
  readonly tree: string;
  readonly burnt: boolean;
}

/** The hash that stands in a tree where a leaf was removed. */
const removedLeaf = "11111111111111111111111111111111";

/**
 * The proof of an asset's leaf, from nodes that changes of its tree wrote. Null when they do not lead to the root of
 * the newest change: then the index does not have all changes of the tree.
 *
 * @throws {LedgerUnavailableError | LedgerQueryError}
 */
export async function leafProof(
  reads: Pick<LedgerAssetReads, "treeNodes" | "treeDepth">,
  network: Network,
  { leaf, holding }: Pick<IndexedAsset, "leaf" | "holding">,
): Promise<LeafProof | null> {
  if (leaf === null) return null;
  const depth = await reads.treeDepth(network, leaf.tree);
  if (depth === null || leaf.leafIndex >= 2n ** BigInt(depth)) return null;
  const nodeIndex = 2 ** depth + Number(leaf.leafIndex);
  const way = Array.from({ length: depth }, (_, level) => Math.floor(nodeIndex / 2 ** level));
  const nodes = await reads.treeNodes(network, leaf.tree, [1, nodeIndex, ...way.map(besides)]);
  const proof = way.map((node, level) => nodes.get(besides(node)) ?? emptyNode(level));
  const own = leaf.leafHash === "" ? removedLeaf : leaf.leafHash;
  const root = way.reduce((hash, node, level) => {
    const beside = proof[level] ?? "";
    return node % 2 === 0 ? nodeOf(hash, beside) : nodeOf(beside, hash);
  }, own);
  if (nodes.get(nodeIndex) !== own || nodes.get(1) !== root) return null;
  return { root, proof, nodeIndex, leaf: own, tree: leaf.tree, burnt: holding.burnt };
}

/** The other node below the same one. */
const besides = (node: number): number => (node % 2 === 0 ? node + 1 : node - 1);
