import type { Slot } from "@sluice/wire/identifiers";
import { type BlockSource, digestKeyOf, type FetchedBlock } from "../../ingest/index.ts";

/** A node as backfill asks it, within the node's own rate. */
export type BackfillSource = Pick<BlockSource, "node" | "fetchBlock" | "fetchDigest" | "fetchSlots">;

/** What backfill keeps of a block until it is written. */
export interface FetchedBody {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly parentSlot: bigint;
  readonly parentBlockhash: string;
  /** Unix seconds; null where the chain has none. */
  readonly blockTime: bigint | null;
  readonly body: Uint8Array;
}

type NoBlock = Exclude<FetchedBlock, { readonly kind: "present" }>;

/**
 * What nodes say of the block of one slot. A block is agreed on when two nodes say the same of it: hash, parent and
 * list of signatures. Each node is asked until it has said something.
 */
export class SlotWords {
  readonly #slot: bigint;
  readonly #signal: AbortSignal;
  /** What each node says, as `digestKeyOf`. */
  readonly #words = new Map<string, string>();
  readonly #bodies = new Map<string, FetchedBody>();
  /** Why the last node that was asked gave nothing. */
  #silence: string | null = null;

  constructor(slot: bigint, signal: AbortSignal) {
    this.#slot = slot;
    this.#signal = signal;
  }

  get silence(): string | null {
    return this.#silence;
  }

  /** Whether nodes contradict each other, so that nobody is believed. */
  get isDisputed(): boolean {
    return new Set(this.#words.values()).size > 1;
  }

  /** The block of the one node that has said something; null where none or several have. */
  get alone(): FetchedBody | null {
    return this.#words.size === 1 ? ([...this.#bodies.values()][0] ?? null) : null;
  }

  hasSpoken({ node }: BackfillSource): boolean {
    return this.#words.has(node);
  }

  /** The block that two nodes agree on, of which one has given it. */
  agreed(): FetchedBody | null {
    const words = [...this.#words.values()];
    for (const [key, body] of this.#bodies) if (words.filter((each) => each === key).length >= 2) return body;
    return null;
  }

  /** Asks a node for the block, or for what identifies it where another has given one; null where it has answered. */
  async ask(source: BackfillSource): Promise<NoBlock | null> {
    if (this.#bodies.size === 0) return await this.#askBody(source);
    const answer = await source.fetchDigest(this.#slot as Slot, "finalized", this.#signal);
    if (answer.kind !== "present") return this.#silent(source, answer);
    const key = digestKeyOf(answer.digest);
    const isKnown = [...this.#words.values()].includes(key);
    this.#words.set(source.node, key);
    // Two nodes say so, of which none has given the block.
    if (isKnown && !this.#bodies.has(key)) return await this.#askBody(source);
    return null;
  }

  async #askBody(source: BackfillSource): Promise<NoBlock | null> {
    const answer = await source.fetchBlock(this.#slot as Slot, this.#signal);
    if (answer.kind !== "present") return this.#silent(source, answer);
    const { header, body, signatureHash } = answer.block;
    const { blockhash, parentSlot, parentBlockhash, blockTime } = header;
    const key = digestKeyOf({ ...header, signatureHash });
    this.#words.set(source.node, key);
    this.#bodies.set(key, { slot: this.#slot, blockhash, parentSlot, parentBlockhash, blockTime, body });
    return null;
  }

  #silent({ node }: BackfillSource, answer: NoBlock): NoBlock {
    if (answer.kind === "absent") this.#silence = `${node} has no such block`;
    else if (answer.reason !== "limited") this.#silence = `${node} ${answer.reason}`;
    return answer;
  }
}
