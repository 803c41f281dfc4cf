import type { Clock } from "@sluice/lib";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import type { EngineChain } from "../model/ports.ts";
import { Blockhashes, type BlockhashLifetime } from "./blockhashes.ts";
import type { ChainBlock } from "./chain-block.ts";
import { Signatures } from "./signatures.ts";

export interface ChainStateEvents {
  /** The newest blockhash could not be read; it is asked for again at the next slot. */
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

  /** Whether a transaction with this recent blockhash may still land. Throws EngineChainError where no node tells. */
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
