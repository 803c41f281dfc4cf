import { unpackOnce } from "@sluice/encode";
import type { ChainLog, Follower, LogEvent } from "../log/index.ts";

/** The blocks of one network as this process has them of all who read the chain. */
export type SentFlow = Pick<ChainLog, "follow" | "latest">;

/** Where a transaction is, by a block that was told. */
export interface SentPlaceInChain {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly isFailed: boolean;
}

/** Receives what is told, in order. */
export interface SentBlocksReceiver {
  /** A block is confirmed; null for a transaction of which its node has not kept what became of it. */
  block(transactions: ReadonlyMap<string, SentPlaceInChain | null>): void;
  /** A block was lost with its fork. */
  undone(blockhash: string): void;
  /** Every block that was told up to this slot, and not undone, is finalized. */
  finalized(slot: bigint): void;
  /** The flow cannot be followed now. */
  failed(error: unknown): void;
}

/**
 * Blocks in which a transaction is looked for whose node answers late: as many slots are followed from before the
 * newest, and so many blocks remembered.
 */
const lateBlocks = 32;
/** Slots that the flow may be behind nodes before they are asked instead. */
const lagMax = 16n;

/** Follows the flow of one network while something of it is awaited. */
export class SentBlocks implements Disposable {
  readonly #flow: () => SentFlow | null;
  readonly #receiver: SentBlocksReceiver;
  readonly #recent: {
    readonly slot: bigint;
    readonly blockhash: string;
    readonly transactions: ReadonlyMap<string, SentPlaceInChain | null>;
  }[] = [];
  #follower: Follower | null = null;
  #newest: { readonly slot: bigint; readonly height: bigint | null } | null = null;
  #finalized: bigint | null = null;

  constructor({ flow, receiver }: { readonly flow: () => SentFlow | null; readonly receiver: SentBlocksReceiver }) {
    this.#flow = flow;
    this.#receiver = receiver;
  }

  /** The height of the newest block that was told; null where it is not known. */
  get height(): bigint | null {
    return this.#newest?.height ?? null;
  }

  /** Whether blocks are told as nodes have them, of which `confirmed` is the newest slot. */
  isCurrent(confirmed: bigint | null): boolean {
    if (this.#follower === null || this.#newest === null) return false;
    return this.#newest.height !== null && (confirmed === null || this.#newest.slot + lagMax >= confirmed);
  }

  /** Where a transaction is in one of the last blocks; null where it is in none of them. */
  find(signature: string): SentPlaceInChain | null {
    for (const { transactions } of this.#recent) {
      const place = transactions.get(signature);
      if (place !== undefined) return place;
    }
    return null;
  }

  /** Begins a little before what is newest, unless it follows already. */
  start(): void {
    if (this.#follower !== null) return;
    try {
      const flow = this.#flow();
      if (flow === null) return;
      const newest = flow.latest("confirmed");
      const slot = newest === null || newest.slot < lateBlocks ? 0n : newest.slot - BigInt(lateBlocks);
      const from = { slot: slot as NonNullable<typeof newest>["slot"] };
      const outcome = flow.follow({ stage: "confirmed", from });
      const begun = outcome.ok ? outcome : flow.follow({ stage: "confirmed", from: "earliest" });
      if (!begun.ok) return;
      this.#follower = begun.follower;
      void this.#read(begun.follower);
    } catch (error) {
      this.#receiver.failed(error);
    }
  }

  stop(): void {
    const follower = this.#follower;
    this.#follower = null;
    this.#newest = null;
    this.#finalized = null;
    this.#recent.length = 0;
    void follower?.return();
  }

  async #read(follower: Follower): Promise<void> {
    try {
      for await (const event of follower) {
        if (this.#follower !== follower) return;
        this.#take(event);
      }
    } catch (error) {
      this.#receiver.failed(error);
    }
    if (this.#follower === follower) this.stop();
  }

  #take(event: LogEvent): void {
    if (event.type === "undo") {
      // The newest are first; nothing that was told after `back` stands, and what is on the chain is told again.
      const kept = this.#recent.findIndex(({ slot }) => slot <= event.back.slot);
      const gone = this.#recent.splice(0, kept === -1 ? this.#recent.length : kept);
      for (const { blockhash } of gone) this.#receiver.undone(blockhash);
      // It may have been told before the recent ones.
      if (gone.length === 0) this.#receiver.undone(event.undo.blockhash);
    } else if (event.type === "block") {
      const { slot, blockhash, height } = event.header;
      const transactions = new Map<string, SentPlaceInChain | null>();
      for (const { signature, meta } of unpackOnce(event.body).transactions) {
        transactions.set(signature, meta === null ? null : { slot, blockhash, isFailed: meta.error !== null });
      }
      this.#recent.unshift({ slot, blockhash, transactions });
      if (this.#recent.length > lateBlocks) this.#recent.pop();
      this.#newest = { slot, height };
      this.#receiver.block(transactions);
      // What was final before this block was told is an ancestor of it, or was undone before it.
      if (this.#finalized !== null) this.#receiver.finalized(this.#finalized);
      this.#finalized = this.#flow()?.latest("finalized")?.slot ?? null;
    }
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}
