import { type Random, seededRandom } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { TransactionFacts } from "./data/transaction-facts.ts";
import { AccountMatcher } from "./matching/account-matcher.ts";
import type { FilterMember } from "./matching/filter-group.ts";
import type { FilterKeys } from "./matching/filter-index.ts";
import { type TransactionFilter, TransactionMatcher } from "./matching/transaction-matcher.ts";
import { type Addresses, alikeKeys, drawAddresses, drawTransaction, popular } from "./testing/drawn-transactions.ts";
import { type NaiveFacts, naiveFacts, naiveTest, textsOf } from "./testing/naive-matcher.ts";

/** Cases at most after which the matcher and the addresses are new ones. */
const worldCasesMax = 5_000;
const membersMax = 60;
/** What is special in worlds, in turn. */
const turns = ["short rounds", "equal hashes of keys", "equal hashes of filters", "nothing"] as const;
/** All factors of the hash of keys are 1. */
const weakRandom: Random = { next: () => 0, bytes: (length) => new Uint8Array(length) };

interface Subscriber {
  readonly id: number;
  readonly isMeant: (facts: NaiveFacts) => boolean;
  readonly canonical: string;
}

interface AccountSubscriber {
  readonly id: number;
  readonly accounts: readonly string[];
  readonly owners: readonly string[];
}

interface Totals {
  matches: number;
  added: number;
  removed: number;
  groups: number;
  largest: number;
}

/**
 * `n` transactions, between which subscribers with drawn filters come and go; each is told to exactly those whose
 * filters it meets when they are asked one by one, each distinct filter is one group, and no key is held that no filter
 * names; and likewise an account with each. A new world of addresses and filters begins every 5,000 cases at most; in
 * some of them the matcher counts its rounds anew every few cases, all keys have one hash, or filters have one of four.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const totals: Totals = { matches: 0, added: 0, removed: 0, groups: 0, largest: 0 };
  // A short run too has a world of each turn.
  const worldCases = Math.min(worldCasesMax, Math.ceil(n / turns.length));
  for (let first = 0; first < n; first += worldCases) {
    const failure = new World(seed + first, first / worldCases, totals).play(Math.min(worldCases, n - first));
    if (failure !== null) return { passed: false, summary: `world ${seed + first}: ${failure}` };
  }
  const { matches, added, removed, groups, largest } = totals;
  const changes = `${added} filters added, ${removed} removed, at most ${largest} keys in one`;
  return { passed: true, summary: `${n} transactions, ${matches} matches in ${groups} groups; ${changes}` };
}

class World {
  readonly #random: Random;
  readonly #addresses: Addresses;
  readonly #isWeak: boolean;
  readonly #draw: () => Uint8Array;
  readonly #matcher: TransactionMatcher<Subscriber>;
  readonly #accounts: AccountMatcher<AccountSubscriber>;
  readonly #accountMembers: FilterMember<AccountSubscriber>[] = [];
  readonly #totals: Totals;
  readonly #members: FilterMember<Subscriber>[] = [];
  #ids = 0;

  constructor(seed: number, index: number, totals: Totals) {
    this.#random = seededRandom(seed);
    this.#totals = totals;
    const turn = turns[index % turns.length];
    this.#isWeak = turn === "equal hashes of keys";
    this.#draw = this.#isWeak ? alikeKeys(this.#random) : () => this.#random.bytes(32);
    this.#addresses = drawAddresses(12 + this.#below(this.#isWeak ? 12 : 60), this.#draw);
    const options = {
      ...(turn === "short rounds" && { roundsMax: 2 + this.#below(8) }),
      ...(turn === "equal hashes of filters" && { hashMask: 3 }),
    };
    const random = this.#isWeak ? weakRandom : seededRandom(seed + 1);
    this.#matcher = new TransactionMatcher(random, options);
    this.#accounts = new AccountMatcher(random, options);
  }

  play(cases: number): string | null {
    for (let at = 0; at < cases; at++) {
      this.#change();
      this.#changeAccounts();
      const failure = this.#match();
      if (failure !== null) return `case ${at}: ${failure}`;
    }
    for (const member of [...this.#members, ...this.#accountMembers]) member[Symbol.dispose]();
    const groups = this.#matcher.groups + this.#accounts.groups;
    const { keys } = this.#matcher;
    return groups === 0 && keys === 0 ? null : `${groups} groups and ${keys} keys are left`;
  }

  #below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }

  #change(): void {
    const roll = this.#random.next();
    if (roll < 0.25 && this.#members.length < membersMax) {
      const filter = this.#filter();
      const subscriber = { id: this.#ids++, isMeant: naiveTest(filter), canonical: canonical(filter) };
      this.#members.push(this.#matcher.add(filter, subscriber));
      this.#totals.added += 1;
    } else if (roll < 0.45 && this.#members.length > 0) {
      const [member] = this.#members.splice(this.#below(this.#members.length), 1);
      member?.[Symbol.dispose]();
      member?.[Symbol.dispose]();
      this.#totals.removed += 1;
    }
  }

  #match(): string | null {
    const view = new TransactionView(drawTransaction(this.#random, this.#addresses));
    const facts = new TransactionFacts(view);
    const naive = naiveFacts(view);
    const expected = this.#members.map(({ subscriber }) => subscriber).filter(({ isMeant }) => isMeant(naive));
    const groups = this.#matcher.match(facts);
    const found = groups.flatMap((group) => [...group.members()]);
    this.#totals.matches += found.length;
    this.#totals.groups += groups.length;
    const ids = (of: readonly Subscriber[]) => of.map(({ id }) => id).toSorted((one, other) => one - other);
    if (ids(found).join() !== ids(expected).join()) {
      return `found ${ids(found)}, expected ${ids(expected)}, of ${view.transaction.signature}`;
    }
    const distinct = new Set(expected.map((each) => each.canonical)).size;
    if (groups.length !== distinct) return `${groups.length} groups for ${distinct} filters`;
    return this.#signed(view, facts) ?? this.#matchAccount();
  }

  /** An account and its owner, also one that is not known, or the account itself. */
  #matchAccount(): string | null {
    const { texts } = this.#addresses;
    const drawn = (): string => texts[popular(this.#random, texts.length)] ?? "";
    const [account, owner] = [drawn(), this.#random.next() < 0.2 ? null : drawn()];
    const found = this.#accounts.match(account, owner).flatMap((group) => [...group.members()]);
    const expected = this.#accountMembers.filter(({ subscriber: { accounts, owners } }) => {
      const isOwned = owners.length === 0 || (owner !== null && owners.includes(owner));
      return isOwned && (accounts.length === 0 || accounts.includes(account));
    });
    this.#totals.matches += found.length;
    const ids = (of: readonly AccountSubscriber[]): string =>
      of
        .map(({ id }) => id)
        .toSorted()
        .join();
    const wanted = ids(expected.map(({ subscriber }) => subscriber));
    return ids(found) === wanted ? null : `account ${account} of ${owner}: found ${ids(found)}, expected ${wanted}`;
  }

  #changeAccounts(): void {
    const roll = this.#random.next();
    if (roll < 0.05 && this.#accountMembers.length < membersMax) {
      const [accounts, owners] = [textsOf(this.#keys(0.6, 5).keys), textsOf(this.#keys(0.4, 3).keys)];
      const subscriber = { id: this.#ids++, accounts, owners };
      this.#accountMembers.push(this.#accounts.add({ accounts, owners }, subscriber));
    } else if (roll < 0.08 && this.#accountMembers.length > 0) {
      const [member] = this.#accountMembers.splice(this.#below(this.#accountMembers.length), 1);
      member?.[Symbol.dispose]();
    }
  }

  /** A filter by the signature of a transaction finds it, whatever else it asks for that holds. */
  #signed({ transaction: { signature } }: TransactionView, facts: TransactionFacts): string | null {
    if (this.#random.next() > 0.02) return null;
    const filter = { ...this.#filter(), signature };
    const stranger = { id: -1, isMeant: () => false, canonical: "" };
    using member = this.#matcher.add(filter, stranger);
    const isFound = this.#matcher.match(facts).includes(member.group);
    const { signature: _signature, ...rest } = filter;
    using same = this.#matcher.add(rest, stranger);
    const isExpected = this.#matcher.match(facts).includes(same.group);
    return isFound === isExpected ? null : `by signature ${isFound}, without ${isExpected}`;
  }

  #keys(share: number, countMax: number): { readonly keys?: FilterKeys } {
    if (this.#random.next() > share) return {};
    const { texts, bytes } = this.#addresses;
    const places = Array.from({ length: 1 + this.#below(countMax) }, () => popular(this.#random, texts.length));
    const strangersMax = this.#random.next() < 0.01 && !this.#isWeak ? 3_000 : 8;
    const strangers = this.#random.next() < 0.2 ? this.#below(strangersMax) : 0;
    this.#totals.largest = Math.max(this.#totals.largest, places.length + strangers);
    const packed = [...places.map((place) => bytes[place] ?? new Uint8Array(32))];
    for (let count = 0; count < strangers; count++) packed.push(this.#draw());
    if (this.#random.next() < 0.5 || strangers > 0) return { keys: new Uint8Array(Buffer.concat(packed)) };
    return { keys: places.map((place) => texts[place] ?? "") };
  }

  #filter(): TransactionFilter {
    const maybe = <Value>(share: number, value: Value): Value | undefined =>
      this.#random.next() < share ? value : undefined;
    const [include, required] = [this.#keys(0.5, 6).keys, this.#keys(0.3, 3).keys];
    const [exclude, programs] = [this.#keys(0.3, 4).keys, this.#keys(0.4, 3).keys];
    const vote = maybe(0.3, this.#random.next() < 0.3);
    const failed = maybe(0.3, this.#random.next() < 0.5);
    const tokenAccounts = maybe(0.2, this.#random.next() < 0.5 ? ("all" as const) : ("changed" as const));
    return {
      ...(include !== undefined && { accountInclude: include }),
      ...(required !== undefined && { accountRequired: required }),
      ...(exclude !== undefined && { accountExclude: exclude }),
      ...(programs !== undefined && { programs }),
      ...(vote !== undefined && { vote }),
      ...(failed !== undefined && { failed }),
      ...(tokenAccounts !== undefined && { tokenAccounts }),
    };
  }
}

/** Equal for filters that ask for the same. */
function canonical(filter: TransactionFilter): string {
  const list = (keys: FilterKeys = []): string => [...new Set(textsOf(keys))].toSorted().join();
  const { accountInclude, accountRequired, accountExclude, programs, vote, failed, tokenAccounts } = filter;
  const lists = [accountInclude, accountRequired, accountExclude, programs].map((keys) => list(keys));
  return [...lists, vote, failed, tokenAccounts].join(";");
}
