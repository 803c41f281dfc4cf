import type { Random } from "@sluice/lib";
import { decodeAddress } from "@sluice/wire/base58";
import { accountKind, programKind } from "../key-kinds.ts";
import type { FilterGroup, FilterMember } from "./filter-group.ts";
import { FilterIndex, type FilterIndexOptions, type FilterKeys, nobody } from "./filter-index.ts";

/** What a subscriber asks of accounts. All that is there must hold; what is left out, or empty, is no condition. */
export interface AccountFilter {
  /** It is any of these. */
  readonly accounts?: FilterKeys;
  /** Any of these programs owns it. */
  readonly owners?: FilterKeys;
}

const noKeys: readonly string[] = [];

/** Which subscribers what is told of an account is for. Subscribers come and go at any time but within `match`. */
export class AccountMatcher<T> {
  readonly #index: FilterIndex<T>;

  /** @param random - for the hash of keys, which must not be known outside */
  constructor(random: Random, options: FilterIndexOptions = {}) {
    this.#index = new FilterIndex(random, options);
  }

  /** Different filters that are held. */
  get groups(): number {
    return this.#index.groups;
  }

  /**
   * Adds a subscriber, until it is disposed of.
   *
   * @throws {RangeError} when a key of the filter is not an address
   */
  add({ accounts = noKeys, owners = noKeys }: AccountFilter, subscriber: T): FilterMember<T> {
    const parts = { any: accounts, all: noKeys, none: noKeys, programs: owners };
    return this.#index.add({ ...parts, accountKinds: accountKind, flagMask: 0, flags: 0, signature: null }, subscriber);
  }

  /**
   * The groups whose filters an account meets, in no order.
   *
   * @param account - base58
   * @param owner - base58; null where it is not known, which no filter by owner takes
   */
  match(account: string, owner: string | null): readonly FilterGroup<T>[] {
    const index = this.#index;
    if (index.groups === 0) return nobody;
    index.begin();
    const key = decodeAddress(account);
    if (key !== null) index.see(key, 0, accountKind);
    const program = owner === null ? null : decodeAddress(owner);
    if (program !== null) index.see(program, 0, programKind);
    return index.collect(0, null);
  }
}
