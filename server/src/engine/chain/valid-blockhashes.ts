import type { Clock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { parseTransaction } from "@sluice/wire/transaction";
import type { BlockhashLifetime } from "./index.ts";

/** Blockhashes that are remembered: a chain has 150 that are good at a time, on forks a few more. */
const rememberedMax = 1_000;
/** Nonces and hashes that are over, and how long each is taken for that: a node that lags may learn of it later. */
const refusedMax = 4_096;
const refusedMs = 2_000;
/** Hashes that are asked for at once. */
const asksMax = 64;

export interface ValidBlockhashesDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly lifetimeOf: (blockhash: Address) => Promise<BlockhashLifetime>;
}

/** Blockhashes that were found good, for who must answer at once. */
export class ValidBlockhashes {
  readonly #dependencies: ValidBlockhashesDependencies;
  readonly #valid = new Set<Address>();
  /** Until when each is taken for no recent blockhash. */
  readonly #refused = new Map<Address, number>();

  constructor(dependencies: ValidBlockhashesDependencies) {
    this.#dependencies = dependencies;
  }

  async ask(blockhash: Address): Promise<BlockhashLifetime> {
    const lifetime = await this.#dependencies.lifetimeOf(blockhash);
    this.#valid.delete(blockhash);
    this.#refused.delete(blockhash);
    if (lifetime.valid) this.#valid.add(blockhash);
    else this.#refused.set(blockhash, this.#dependencies.clock.monotonic() + refusedMs);
    const [oldest] = this.#valid;
    if (this.#valid.size > rememberedMax && oldest !== undefined) this.#valid.delete(oldest);
    const [refused] = this.#refused.keys();
    if (this.#refused.size > refusedMax && refused !== undefined) this.#refused.delete(refused);
    return lifetime;
  }

  has(blockhash: Address): boolean {
    return this.#valid.has(blockhash);
  }

  /**
   * Those of the bundles whose blockhashes are all known, good or not, having asked for as many as are asked for at once.
   * Nobody has asked for those of bundles that were taken in before a restart.
   */
  async simulatable<B extends { readonly transactions: readonly Uint8Array[] }>(bundles: readonly B[]): Promise<B[]> {
    const hashes = bundles.map(blockhashesOf);
    const unknown = [...new Set(hashes.flat())].filter((each) => !this.#isKnown(each)).slice(0, asksMax);
    // What no node tells now is asked again the next time.
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
