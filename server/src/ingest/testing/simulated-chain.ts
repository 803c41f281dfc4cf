import { createHash } from "node:crypto";
import type { Random } from "@sluice/lib";
import { addressOfBytes, type Slot } from "@sluice/wire/identifiers";
import type { ChainIdentity } from "../../log/index.ts";
import type { BlockDigest, SourceBlock } from "../source.ts";
import type { Lie, NodeChain } from "./simulated-node.ts";

const sha = (text: string): Uint8Array => new Uint8Array(createHash("sha256").update(text).digest());
const hashOf = (text: string): string => addressOfBytes(sha(text));

export const simulatedIdentity: ChainIdentity = { genesisHash: hashOf("genesis"), firstBlockhash: hashOf("first") };
export const firstSlot = 100;
/** Slots from the newest slot to the confirmed and the finalized one. */
const depths = { confirmed: 2, finalized: 14 } as const;

export interface ChainBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly parent: { readonly slot: number; readonly blockhash: string };
}

/** A branch that nodes show as confirmed until their head has passed it. */
interface DeadBranch {
  readonly from: number;
  readonly to: number;
  readonly blocks: ReadonlyMap<number, ChainBlock>;
}

const slotOf = (slot: number): Slot => BigInt(slot) as Slot;

/** A whole chain, of which nodes show a part by their heads. */
export class SimulatedChain implements NodeChain<ChainBlock> {
  readonly firstSlot = firstSlot;
  readonly depths = depths;
  readonly lieKinds: readonly Lie[] = ["signatures", "parent", "hash", "invented"];
  readonly lastSlot: number;
  readonly canonical = new Map<number, ChainBlock>();
  readonly #branches: DeadBranch[] = [];

  constructor(random: Random, { slots, forks }: { readonly slots: number; readonly forks: boolean }) {
    this.lastSlot = firstSlot + slots;
    const seed = String(random.next());
    let tip = { slot: firstSlot - 1, blockhash: hashOf(`${seed} root`) };
    for (let slot = firstSlot; slot <= this.lastSlot; slot += 1) {
      const isForced = slot === firstSlot || slot >= this.lastSlot - 1;
      if (forks && !isForced && random.next() < 0.04) this.#branch(`${seed} fork`, slot, { tip, random });
      if (!isForced && random.next() < 0.15) continue;
      const block = { slot, blockhash: hashOf(`${seed} ${slot}`), parent: tip };
      this.canonical.set(slot, block);
      tip = { slot, blockhash: block.blockhash };
    }
  }

  #branch(
    seed: string,
    from: number,
    { tip, random }: { readonly tip: ChainBlock["parent"]; readonly random: Random },
  ): void {
    if (this.#branches.some(({ to }) => to >= from - 1)) return;
    const to = Math.min(from + Math.floor(random.next() * 3), this.lastSlot - 3);
    const blocks = new Map<number, ChainBlock>();
    let parent = tip;
    for (let slot = from; slot <= to; slot += 1) {
      const block = { slot, blockhash: hashOf(`${seed} ${slot}`), parent };
      blocks.set(slot, block);
      parent = { slot, blockhash: block.blockhash };
    }
    if (blocks.size > 0) this.#branches.push({ from, to, blocks });
  }

  get blocks(): readonly ChainBlock[] {
    return [...this.canonical.values()];
  }

  blockAt(slot: number, head: number): ChainBlock | null {
    if (slot > head) return null;
    const branch = this.#branches.find(({ from, to }) => slot >= from && slot <= to && head <= to);
    if (branch !== undefined) return branch.blocks.get(slot) ?? null;
    return this.canonical.get(slot) ?? null;
  }

  hasBlock(slot: number): boolean {
    return this.canonical.has(slot);
  }

  invented(slot: number, node: string): ChainBlock {
    const { blockhash } = sourceBlockOf({ slot, blockhash: node, parent: { slot: 0, blockhash: "" } }).header;
    return { slot, blockhash: `invented ${slot}`, parent: { slot: slot - 1, blockhash } };
  }

  sourceBlock(block: ChainBlock, lie: Lie | null, isAltered: boolean): SourceBlock {
    return sourceBlockOf(block, lie, isAltered);
  }

  digest(block: ChainBlock, lie: Lie | null): BlockDigest {
    return digestOf(block, lie);
  }
}

const alteredResults = "altered results";
/** Between what the signatures cover and what they do not. */
const resultsMark = " | ";

/**
 * A block as a source gives it, with the text that tests of followers expect in front. Altered results leave all as it
 * is that a second node's word covers.
 */
export function sourceBlockOf(block: ChainBlock, lie: Lie | null = null, isAltered = false): SourceBlock {
  const blockhash = lie === "hash" || lie === "invented" ? hashOf(`lie ${block.blockhash}`) : block.blockhash;
  const signatures = `signatures of ${blockhash}${lie === "signatures" ? " altered" : ""}`;
  const text = `${block.slot} ${blockhash} ${signatures}${resultsMark}${isAltered ? alteredResults : "results"}`;
  return {
    header: {
      slot: slotOf(block.slot),
      blockhash,
      parentSlot: slotOf(block.parent.slot),
      parentBlockhash: lie === "parent" ? hashOf(`lie ${block.parent.blockhash}`) : block.parent.blockhash,
      blockTime: null,
      height: null,
      transactions: block.slot % 7,
    },
    body: new TextEncoder().encode(text),
    signatureHash: sha(signatures),
  };
}

export function digestOf(block: ChainBlock, lie: Lie | null = null): BlockDigest {
  const { header, signatureHash } = sourceBlockOf(block, lie);
  return { ...header, signatureHash };
}

/** Reads what `sourceBlockOf` wrote; the header's other members are not in it. */
export function signatureHashOfBody(body: Uint8Array): Uint8Array {
  const [signed = ""] = new TextDecoder().decode(body).split(resultsMark);
  return sha(signed.split(" ").slice(2).join(" "));
}

export const isAlteredBody = (body: Uint8Array): boolean => new TextDecoder().decode(body).endsWith(alteredResults);
