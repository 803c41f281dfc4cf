import type { Block, ExecutedTransaction } from "../model/index.ts";
import type { RpcNode } from "../rpc/index.ts";

type Mentions = ReadonlyMap<string, readonly ExecutedTransaction[]>;

/** Made once for a block, however many ask: all subscribers of one event are shown the same block. */
const known = new WeakMap<Block, Mentions>();

function mentionsOf(block: Block, node: RpcNode): Mentions {
  const mentions = new Map<string, ExecutedTransaction[]>();
  for (const transaction of block.transactions) {
    for (const key of new Set(node.chain.history.transaction(transaction.signature)?.keys)) {
      const found = mentions.get(key);
      if (found === undefined) mentions.set(key, [transaction]);
      else found.push(transaction);
    }
  }
  return mentions;
}

/** The transactions of a block that name an address, in its order. */
export function mentioning(block: Block, address: string, node: RpcNode): readonly ExecutedTransaction[] {
  const mentions = known.get(block) ?? mentionsOf(block, node);
  known.set(block, mentions);
  return mentions.get(address) ?? [];
}
