import type { Clock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";

export interface LinkedAccountsDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  /** The store's: the owner account to which a public key is linked, or null. */
  readonly find: (pubkey: Address) => Promise<string | null>;
}

/** Public keys that are remembered, linked or not: keys cost nothing to make, so the oldest go. */
export const linkedKeysMax = 10_000;
/** How long a notice of a change that was lost may matter. */
export const linkedKnownMs = 30_000;

interface Known {
  readonly accountId: string | null;
  readonly untilMs: number;
}

/** Whose account a public key counts for, without a read of the store for each of its bundles. */
export class LinkedAccounts {
  readonly #dependencies: LinkedAccountsDependencies;
  readonly #known = new Map<Address, Known>();
  #asking = new Map<Address, Promise<string | null>>();

  constructor(dependencies: LinkedAccountsDependencies) {
    this.#dependencies = dependencies;
  }

  /** One read for all who ask at the same moment. Rejects as the store does; its last answer is no answer then. */
  accountOfPubkey(pubkey: Address): string | null | Promise<string | null> {
    const known = this.#known.get(pubkey);
    if (known !== undefined && this.#dependencies.clock.monotonic() < known.untilMs) return known.accountId;
    return this.#asking.get(pubkey) ?? this.#ask(pubkey);
  }

  /** Links have changed: what is known, and what is being read, is of before. */
  forget(): void {
    this.#known.clear();
    this.#asking = new Map();
  }

  #ask(pubkey: Address): Promise<string | null> {
    const asking = this.#asking;
    const asked = this.#dependencies
      .find(pubkey)
      .then((accountId) => {
        if (asking === this.#asking) this.#keep(pubkey, accountId);
        return accountId;
      })
      .finally(() => asking.delete(pubkey));
    asking.set(pubkey, asked);
    return asked;
  }

  #keep(pubkey: Address, accountId: string | null): void {
    this.#known.delete(pubkey);
    this.#known.set(pubkey, { accountId, untilMs: this.#dependencies.clock.monotonic() + linkedKnownMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > linkedKeysMax && oldest !== undefined) this.#known.delete(oldest);
  }
}
