import { type Clock, Debounce } from "@sluice/lib";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import { type EngineChain, EngineChainError } from "../model/chain-port.ts";
import { Blockhashes, type BlockhashLifetime } from "./blockhashes.ts";
import { type ChainBlock, readStatuses } from "./node-answers.ts";

/** Signatures in memory: three minutes of a thousand transactions a slot. The oldest blocks go first. */
const rememberedMax = 400_000;
/** Blocks in memory: the life of a blockhash and those that are not final yet, twice over. */
const blocksMax = 512;
/** As many as a node answers for in one call. */
const statusesPerCall = 256;
const callsMax = 4;
/**
 * At most one call of a few signatures begins in so many milliseconds. At 500 bundles a second a call for each of them
 * took 80 µs of CPU here and more of the node's; this makes it a fifth or less, and a bundle waits for its accounts
 * meanwhile.
 */
const callEveryMs = 5;
/** Signatures that may wait for an answer. */
const askingMax = 16_384;

interface Question {
  readonly signature: Signature;
  readonly answer: (isProcessed: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** Which transactions are in the chain: from blocks that were seen, else asked for, many at a time and each once. */
export class Signatures {
  readonly #chain: EngineChain;
  readonly #slots = new Map<Signature, Slot>();
  readonly #blocks: { readonly slot: Slot; readonly signatures: readonly Signature[] }[] = [];
  readonly #asking = new Map<Signature, Promise<boolean>>();
  #waiting: Question[] = [];
  readonly #sending: Debounce;
  #calls = 0;

  constructor({ chain, clock }: { readonly chain: EngineChain; readonly clock: Pick<Clock, "monotonic" | "after"> }) {
    this.#chain = chain;
    this.#sending = new Debounce({ everyMs: callEveryMs }, { clock, work: () => this.#send() });
  }

  confirmed({ slot, transactions }: ChainBlock): void {
    const signatures = transactions.map(({ signature }) => signature);
    for (const signature of signatures) this.#slots.set(signature, slot);
    this.#blocks.push({ slot, signatures });
    while (this.#blocks.length > blocksMax || (this.#slots.size > rememberedMax && this.#blocks.length > 1)) {
      this.#drop(this.#blocks.shift());
    }
  }

  lost(slot: Slot): void {
    const index = this.#blocks.findIndex((block) => block.slot === slot);
    if (index !== -1) this.#drop(this.#blocks.splice(index, 1)[0]);
  }

  forget(): void {
    this.#slots.clear();
    this.#blocks.length = 0;
  }

  /** The first of the signatures that is in a block that was seen. */
  seen(signatures: readonly Signature[]): Signature | null {
    return signatures.find((each) => this.#slots.has(each)) ?? null;
  }

  /** Those of the signatures that are in a processed block, failed ones included. Throws EngineChainError. */
  async processed(signatures: readonly Signature[]): Promise<readonly Signature[]> {
    const found = await Promise.all(signatures.map((each) => this.#slots.has(each) || this.#ask(each)));
    return signatures.filter((_, index) => found[index]);
  }

  #drop(block: { readonly slot: Slot; readonly signatures: readonly Signature[] } | undefined): void {
    for (const signature of block?.signatures ?? []) {
      if (this.#slots.get(signature) === block?.slot) this.#slots.delete(signature);
    }
  }

  #ask(signature: Signature): Promise<boolean> {
    const present = this.#asking.get(signature);
    if (present !== undefined) return present;
    if (this.#asking.size >= askingMax) {
      return Promise.reject(new EngineChainError("Too many signatures are asked for.", null));
    }
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const asking = promise.finally(() => this.#asking.delete(signature));
    this.#asking.set(signature, asking);
    this.#waiting.push({ signature, answer: resolve, fail: reject });
    this.#sending.request();
    return asking;
  }

  /** While all calls are under way what is asked meanwhile gathers for the next one. */
  #send(): void {
    while (this.#calls < callsMax && this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, statusesPerCall);
      this.#waiting = this.#waiting.slice(statusesPerCall);
      this.#calls += 1;
      void this.#call(batch).finally(() => {
        this.#calls -= 1;
        if (this.#waiting.length > 0) this.#sending.request();
      });
    }
  }

  async #call(batch: readonly Question[]): Promise<void> {
    try {
      const asked = batch.map(({ signature }) => signature);
      const answer = await this.#chain.read("getSignatureStatuses", [asked], { commitment: "processed" });
      const statuses = readStatuses(answer, batch.length);
      for (const [index, question] of batch.entries()) question.answer(statuses[index] !== null);
    } catch (error) {
      for (const question of batch) question.fail(error);
    }
  }
}

export interface ChainStateEvents {
  /** The newest blockhash could not be read; it is requested again at the next slot. */
  blockhashFailed(error: unknown): void;
}

export interface ChainStateDependencies {
  readonly chain: EngineChain;
  readonly clock: Clock;
  readonly events: ChainStateEvents;
}

/**
 * What the engine knows of its chain at this moment: slots, block heights, which blockhashes are good and which
 * transactions are in. It learns from slot notices and from the blocks that the tracker hands it.
 */
export class ChainState implements Disposable {
  readonly #dependencies: ChainStateDependencies;
  readonly #blockhashes: Blockhashes;
  readonly #signatures: Signatures;
  readonly #following: Disposable;
  #refreshing: Promise<void> | null = null;

  constructor(dependencies: ChainStateDependencies) {
    this.#dependencies = dependencies;
    this.#blockhashes = new Blockhashes(dependencies);
    this.#signatures = new Signatures(dependencies);
    this.#following = dependencies.chain.onSlot((commitment) => {
      if (commitment === "processed") this.#refresh();
    });
    if (dependencies.chain.newestSlot("processed") !== null) this.#refresh();
  }

  /** The newest processed slot, null before the first notice. */
  slot(): Slot | null {
    return this.#dependencies.chain.newestSlot("processed");
  }

  confirmedSlot(): Slot | null {
    return this.#dependencies.chain.newestSlot("confirmed");
  }

  finalizedSlot(): Slot | null {
    return this.#dependencies.chain.newestSlot("finalized");
  }

  /** The height of the newest processed block that is known. */
  blockHeight(): bigint | null {
    return this.#blockhashes.height;
  }

  /** Whether a transaction with this recent blockhash may still land. Throws EngineChainError where no node answers. */
  async blockhash(blockhash: Address): Promise<BlockhashLifetime> {
    return await this.#blockhashes.lifetime(blockhash);
  }

  /** The first of the signatures that is in a confirmed block; known without asking. */
  seen(signatures: readonly Signature[]): Signature | null {
    return this.#signatures.seen(signatures);
  }

  /** Those of the signatures that are in the chain, whether they succeeded or not. Throws EngineChainError. */
  processed(signatures: readonly Signature[]): Promise<readonly Signature[]> {
    return this.#signatures.processed(signatures);
  }

  /** A block is confirmed. In order of slots, as the tracker sees them. */
  confirmed(block: ChainBlock): void {
    this.#blockhashes.confirmed(block.blockhash, block.height);
    this.#signatures.confirmed(block);
  }

  /** A confirmed block was lost with its fork. */
  lost(block: ChainBlock): void {
    this.#blockhashes.lost(block.blockhash);
    this.#signatures.lost(block.slot);
  }

  /** The chain was begun anew: nothing of what was known is of it. */
  forget(): void {
    this.#blockhashes.forget();
    this.#signatures.forget();
  }

  /** Resolves when the newest blockhash is not being read. */
  async settled(): Promise<void> {
    await this.#refreshing;
  }

  #refresh(): void {
    this.#refreshing ??= this.#blockhashes
      .refresh()
      .catch((error: unknown) => this.#dependencies.events.blockhashFailed(error))
      .finally(() => {
        this.#refreshing = null;
      });
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }
}
