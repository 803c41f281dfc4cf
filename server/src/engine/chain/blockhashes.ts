import { BoundedMap, type Clock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { parseTransaction } from "@sluice/wire/transaction";
import { type EngineChain, EngineChainError } from "../model/chain-port.ts";
import { readLatestBlockhash, readValidity } from "./node-answers.ts";

/** A blockhash is good for so many blocks after its own. Source: Agave, MAX_PROCESSING_AGE. */
export const blockhashLifeBlocks = 150n;
/** Hashes kept: the life of one twice over, for those whose fork is not settled. */
const hashesMax = 600;
/** How long an answer about a hash that no block seen has is believed. A slot: a node that lags may know it by then. */
const believedMs = 400;
const answersMax = 4_096;
const askingMax = 256;

/** Whether a transaction with a blockhash may still land, and up to which block height. */
export type BlockhashLifetime =
  | { readonly valid: true; readonly lastValidBlockHeight: bigint }
  | { readonly valid: false };

/**
 * Blockhashes and block heights. Hashes of blocks that were seen, and of the newest processed block of each slot, are
 * answered from memory; others are requested.
 */
export class Blockhashes {
  readonly #chain: EngineChain;
  readonly #clock: Clock;
  /** By hash, in order of arrival. */
  readonly #heights = new BoundedMap<Address, { readonly height: bigint; isConfirmed: boolean }>({ max: hashesMax });
  readonly #answers = new BoundedMap<Address, { readonly lifetime: BlockhashLifetime; readonly until: number }>({
    max: answersMax,
  });
  readonly #asking = new Map<Address, Promise<BlockhashLifetime>>();
  #newest: bigint | null = null;

  constructor(dependencies: { readonly chain: EngineChain; readonly clock: Clock }) {
    this.#chain = dependencies.chain;
    this.#clock = dependencies.clock;
  }

  /** The height of the newest processed block that is known. */
  get height(): bigint | null {
    return this.#newest;
  }

  /** A block is confirmed. Processed ones that are not above it and were not confirmed are of a fork that lost. */
  confirmed(blockhash: Address, height: bigint): void {
    this.#keep(blockhash, height, true);
    for (const [hash, known] of this.#heights.entries())
      if (!known.isConfirmed && known.height <= height) this.#heights.delete(hash);
  }

  /** A block was lost with its fork. */
  lost(blockhash: Address): void {
    this.#heights.delete(blockhash);
  }

  /** Everything that is known is of another chain. */
  forget(): void {
    this.#heights.clear();
    this.#answers.clear();
    this.#newest = null;
  }

  /** Asks for the newest processed block. Throws EngineChainError. */
  async refresh(): Promise<void> {
    const answer = await this.#chain.read("getLatestBlockhash", [{ commitment: "processed" }], {
      commitment: "processed",
    });
    const { blockhash, lastValidBlockHeight } = readLatestBlockhash(answer);
    const height = lastValidBlockHeight - blockhashLifeBlocks;
    if (!this.#heights.has(blockhash)) this.#keep(blockhash, height, false);
  }

  /**
   * Throws EngineChainError where it is not known and no node answers. For a hash whose block was never seen the height
   * is the latest that is possible, so that nothing is given up too early.
   */
  lifetime(blockhash: Address): BlockhashLifetime | Promise<BlockhashLifetime> {
    const known = this.#heights.get(blockhash);
    if (known !== undefined && this.#newest !== null) {
      const lastValidBlockHeight = known.height + blockhashLifeBlocks;
      return lastValidBlockHeight >= this.#newest ? { valid: true, lastValidBlockHeight } : { valid: false };
    }
    const answer = this.#answers.get(blockhash);
    if (answer !== undefined && this.#clock.monotonic() < answer.until) return answer.lifetime;
    const present = this.#asking.get(blockhash);
    if (present !== undefined) return present;
    if (this.#asking.size >= askingMax) throw new EngineChainError("Too many unknown blockhashes are asked for.", null);
    const asking = this.#ask(blockhash).finally(() => this.#asking.delete(blockhash));
    this.#asking.set(blockhash, asking);
    return asking;
  }

  async #ask(blockhash: Address): Promise<BlockhashLifetime> {
    const [answer] = await Promise.all([
      this.#chain.read("isBlockhashValid", [blockhash, { commitment: "processed" }], { commitment: "processed" }),
      this.#newest === null ? this.refresh() : null,
    ]);
    const valid = readValidity(answer);
    const lifetime: BlockhashLifetime =
      valid && this.#newest !== null
        ? { valid, lastValidBlockHeight: this.#newest + blockhashLifeBlocks }
        : { valid: false };
    this.#answers.set(blockhash, { lifetime, until: this.#clock.monotonic() + believedMs });
    return lifetime;
  }

  #keep(blockhash: Address, height: bigint, isConfirmed: boolean): void {
    this.#heights.set(blockhash, { height, isConfirmed });
    if (this.#newest === null || height > this.#newest) this.#newest = height;
  }
}

/** Blockhashes that are remembered: a chain has 150 that are good at a time, on forks a few more. */
const rememberedMax = 1_000;
/** Nonces and hashes that are over, and how long each is taken for that: a node that lags may learn of it later. */
const refusedMax = 4_096;
const refusedMs = 2_000;
/** Hashes that are requested at once. */
const asksMax = 64;

export interface ValidBlockhashesDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly lifetimeOf: (blockhash: Address) => Promise<BlockhashLifetime>;
}

/** Blockhashes that were found good, for who must answer at once. */
export class ValidBlockhashes {
  readonly #dependencies: ValidBlockhashesDependencies;
  readonly #valid = new BoundedMap<Address, true>({ max: rememberedMax });
  /** Until when each is taken for no recent blockhash. */
  readonly #refused = new BoundedMap<Address, number>({ max: refusedMax });

  constructor(dependencies: ValidBlockhashesDependencies) {
    this.#dependencies = dependencies;
  }

  async ask(blockhash: Address): Promise<BlockhashLifetime> {
    const lifetime = await this.#dependencies.lifetimeOf(blockhash);
    this.#valid.delete(blockhash);
    this.#refused.delete(blockhash);
    if (lifetime.valid) this.#valid.set(blockhash, true);
    else this.#refused.set(blockhash, this.#dependencies.clock.monotonic() + refusedMs);
    return lifetime;
  }

  has(blockhash: Address): boolean {
    return this.#valid.has(blockhash);
  }

  /**
   * Those of the bundles whose blockhashes are all known, good or not, having asked for as many as are requested at
   * once. Those were not requested for bundles that were taken in before a restart.
   */
  async simulatable<B extends { readonly transactions: readonly Uint8Array[] }>(bundles: readonly B[]): Promise<B[]> {
    const hashes = bundles.map(blockhashesOf);
    const unknown = [...new Set(hashes.flat())].filter((each) => !this.#isKnown(each)).slice(0, asksMax);
    // What no node answers now is asked again the next time.
    await Promise.allSettled(unknown.map((each) => this.ask(each)));
    return bundles.filter((_, index) => hashes[index]?.every((each) => this.#isKnown(each)));
  }

  #isKnown(blockhash: Address): boolean {
    return this.#valid.has(blockhash) || this.#dependencies.clock.monotonic() < (this.#refused.get(blockhash) ?? 0);
  }
}

function blockhashesOf({ transactions }: { readonly transactions: readonly Uint8Array[] }): readonly Address[] {
  return transactions.flatMap((bytes) => {
    const parsed = parseTransaction(bytes);
    return parsed.ok ? parsed.transaction.message.blockhash : [];
  });
}
