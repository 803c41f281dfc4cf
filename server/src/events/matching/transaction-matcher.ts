import type { Random } from "@sluice/lib";
import type { TransactionFacts } from "../data/transaction-facts.ts";
import { accountKind, changedOwnerKind, type KindedKeys, ownerKind } from "../key-kinds.ts";
import type { FilterGroup, FilterMember } from "./filter-group.ts";
import { FilterIndex, type FilterIndexOptions, type FilterKeys, nobody } from "./filter-index.ts";

/** What a subscriber asks of transactions. All that is there must hold; what is left out, or empty, is no condition. */
export interface TransactionFilter {
  /** Any of these is among its accounts, loaded ones included. */
  readonly accountInclude?: FilterKeys;
  /** All of these are. */
  readonly accountRequired?: FilterKeys;
  /** None of these is. */
  readonly accountExclude?: FilterKeys;
  /** Any of these is a program that it calls, outer or inner. */
  readonly programs?: FilterKeys;
  /** Owners of its token balances count as accounts too: `all`, or those alone whose balance it changed. */
  readonly tokenAccounts?: "all" | "changed";
  readonly vote?: boolean;
  /** Whether it is known to have failed. */
  readonly failed?: boolean;
  /** The first signature, base58. */
  readonly signature?: string;
}

const voteFlag = 1;
const failedFlag = 2;
const noKeys: readonly string[] = [];
const kindsOf = {
  none: accountKind,
  all: accountKind | ownerKind,
  changed: accountKind | changedOwnerKind,
} as const;

/** Which subscribers a transaction is for. Subscribers come and go at any time but within `match`. */
export class TransactionMatcher<T> {
  readonly #index: FilterIndex<T>;

  /** @param random - for the hash of keys, which must not be known outside */
  constructor(random: Random, options: FilterIndexOptions = {}) {
    this.#index = new FilterIndex(random, options);
  }

  /** Different filters that are held. */
  get groups(): number {
    return this.#index.groups;
  }

  /** Different keys that filters name. */
  get keys(): number {
    return this.#index.keys;
  }

  /**
   * Adds a subscriber, until it is disposed of.
   *
   * @throws {RangeError} when a key of the filter is not an address
   */
  add(filter: TransactionFilter, subscriber: T): FilterMember<T> {
    const { vote, failed, tokenAccounts = "none" } = filter;
    return this.#index.add(
      {
        any: filter.accountInclude ?? noKeys,
        all: filter.accountRequired ?? noKeys,
        none: filter.accountExclude ?? noKeys,
        programs: filter.programs ?? noKeys,
        accountKinds: kindsOf[tokenAccounts],
        flagMask: (vote === undefined ? 0 : voteFlag) | (failed === undefined ? 0 : failedFlag),
        flags: (vote === true ? voteFlag : 0) | (failed === true ? failedFlag : 0),
        signature: filter.signature ?? null,
      },
      subscriber,
    );
  }

  /** The groups whose filters a transaction meets, in no order. */
  match(facts: TransactionFacts): readonly FilterGroup<T>[] {
    const index = this.#index;
    if (index.groups === 0) return nobody;
    index.begin();
    this.#see(facts.keys);
    if (index.asksForOtherKinds) this.#see(facts.tokenOwners);
    return index.collect((facts.isVote ? voteFlag : 0) | (facts.failed ? failedFlag : 0), facts.signature);
  }

  #see({ bytes, kinds }: KindedKeys): void {
    const index = this.#index;
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[at] ?? 0;
      if (kind !== 0) index.see(bytes, at * 32, kind);
    }
  }
}
