import type { ConfirmedBlock } from "@sluice/encode";
import type { BlockDigest, SourceBlock } from "../../../ingest/source.ts";
import { sourceBlockOf } from "../../../ingest/source-block.ts";
import type { Lie, NodeChain } from "../../../ingest/testing/simulated-node.ts";
import { hashOf } from "../../../log/testing/chain-model.ts";
import { finalitySlots, firstSlot, pool, type StreamedChain, type WorldBlock } from "./streamed-chain.ts";

/** The chain of a world as nodes show it, with the bodies of its blocks. */
export class ShownChain implements NodeChain<WorldBlock> {
  readonly firstSlot = firstSlot;
  readonly depths = { confirmed: 0, finalized: finalitySlots };
  readonly lieKinds: readonly Lie[] = ["signatures", "order", "parent", "hash", "invented", "withheld"];
  readonly #chain: StreamedChain;
  readonly #standing: ReadonlyMap<number, WorldBlock>;
  /** By block and lie. */
  readonly #made = new Map<string, SourceBlock>();

  constructor(chain: StreamedChain) {
    this.#chain = chain;
    this.#standing = new Map(chain.standing.map((block) => [Number(block.header.slot), block]));
  }

  blockAt(slot: number, head: number): WorldBlock | null {
    if (slot > head) return null;
    const branch = this.#chain.branches.find(({ from, to }) => slot >= from && slot <= to && head <= to);
    return (branch === undefined ? this.#standing : branch.blocks).get(slot) ?? null;
  }

  hasBlock(slot: number): boolean {
    return this.#standing.has(slot);
  }

  invented(slot: number, node: string): WorldBlock {
    const { root } = this.#chain;
    const parent = this.#chain.standing.findLast(({ header }) => header.slot < BigInt(slot)) ?? root;
    const block = {
      ...parent.block,
      slot: BigInt(slot),
      blockhash: hashOf(`${node} invented ${slot}`),
      parentSlot: parent.header.slot,
      previousBlockhash: parent.header.blockhash,
    };
    const { header } = sourceBlockOf(block);
    return { header: { ...header, chain: this.#chain.identity }, parent, block, places: [], isUnavailable: false };
  }

  /** Altered results are not drawn: what two nodes cannot tell is told as one of them gives it (record 0058). */
  sourceBlock({ block, header }: WorldBlock, lie: Lie | null): SourceBlock {
    const key = `${header.blockhash} ${lie}`;
    const known = this.#made.get(key) ?? sourceBlockOf(lied(block, lie));
    this.#made.set(key, known);
    return known;
  }

  digest(block: WorldBlock, lie: Lie | null): BlockDigest {
    const { header, signatureHash } = this.sourceBlock(block, lie);
    return { ...header, signatureHash };
  }
}

function lied(block: ConfirmedBlock, lie: Lie | null): ConfirmedBlock {
  const { transactions } = block;
  const other = pool.find(({ transaction }) => !transactions.includes(transaction))?.transaction;
  switch (lie) {
    case "signatures":
      return { ...block, transactions: other === undefined ? [] : [...transactions.slice(1), other] };
    case "order":
      return { ...block, transactions: transactions.toReversed() };
    case "parent":
      return { ...block, previousBlockhash: hashOf(`lie ${block.previousBlockhash}`) };
    case "hash":
      return { ...block, blockhash: hashOf(`lie ${block.blockhash}`) };
    default:
      return block;
  }
}
