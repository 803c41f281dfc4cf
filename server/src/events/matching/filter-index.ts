import type { Random } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import { accountKind, programKind } from "../key-kinds.ts";
import {
  type Axis,
  type FilterConditions,
  FilterGroup,
  type FilterMember,
  hashOfConditions,
  sameConditions,
} from "./filter-group.ts";
import { GroupMarks } from "./group-marks.ts";
import { accountHead, type HeadField, KeyTable, programHead } from "./key-table.ts";
import { KeyTraffic } from "./key-traffic.ts";
import { Postings } from "./postings.ts";

/** Keys of a filter: addresses in base58, or 32 bytes each, one after another. The order does not matter. */
export type FilterKeys = readonly string[] | Uint8Array;

/** What a filter asks for, before its keys have numbers. */
export interface FilterParts extends Omit<FilterConditions, "any" | "all" | "none" | "programs"> {
  readonly any: FilterKeys;
  readonly all: FilterKeys;
  readonly none: FilterKeys;
  readonly programs: FilterKeys;
}

export interface FilterIndexOptions {
  /** Rounds after which they are counted anew. */
  readonly roundsMax?: number;
  /** Bits of the hash of conditions that are used. */
  readonly hashMask?: number;
}

const noKeys = new Int32Array(0);
const noBytes = new Uint8Array(0);
const keyBytes = 32;
/** Looks in vain after which a group's axis is chosen anew; more for one with many keys, which cost more to move. */
const patienceMin = 64;
const patienceMax = 1 << 24;
/** How many filters that name a key count as much as one round in which it was there. */
const seenWeight = 8;
/** A list of so many times the keys of a round is searched for each of them instead of gone through. */
const searchedFrom = 4;
/** What a round gives that nothing matches. */
export const nobody: readonly never[] = Object.freeze([]);

/**
 * The filters of many subscribers by the keys that they ask for: one round looks at the filters alone of which a key is
 * there. Filters that ask for the same are one group. A group is looked for by the list of its keys that traffic has
 * least: any of `any`, one of `all`, or any of `programs`; one that names no key is in a list of its own, which holds
 * few, since equal ones are one. Adding and removing take time in proportion to the filter's keys, and a round in which
 * nothing matches allocates nothing.
 */
export class FilterIndex<T> {
  readonly #keys: KeyTable;
  readonly #postings: Postings;
  readonly #traffic = new KeyTraffic();
  readonly #groups: (FilterGroup<T> | undefined)[] = [];
  readonly #freeIds: number[] = [];
  readonly #byHash = new Map<number, FilterGroup<T>>();
  readonly #bySignature = new Map<string, FilterGroup<T>[]>();
  readonly #withoutKeys: FilterGroup<T>[] = [];
  readonly #marks = new GroupMarks();
  readonly #impatient: FilterGroup<T>[] = [];
  /** Groups for which keys count that are not accounts of the transaction. */
  #ofOtherKinds = 0;
  readonly #roundsMax: number;
  readonly #hashMask: number;
  /** Filters are chosen by strangers, who must not know which have one hash. */
  readonly #hashSeed: number;
  #round = 0;
  /** As which kinds the keys of the round were seen. */
  #kinds = new Uint8Array(256);
  #seenKeys = 0;
  /** Those of them that filters name, each once. */
  #there = new Int32Array(256);
  #count = 0;
  /** Of the round that is being collected. */
  #flags = 0;
  #found: FilterGroup<T>[] | null = null;

  /** @param random - for the hash of keys, which must not be known outside */
  constructor(random: Random, { roundsMax = 0x7fff_ffff, hashMask = -1 }: FilterIndexOptions = {}) {
    this.#keys = new KeyTable(random);
    this.#postings = new Postings(this.#keys);
    this.#roundsMax = roundsMax;
    this.#hashMask = hashMask;
    this.#hashSeed = Math.floor(random.next() * 2 ** 32) | 0;
  }

  /** Groups of filters that are held. */
  get groups(): number {
    return this.#groups.length - this.#freeIds.length;
  }

  /** Keys that filters name, each once. */
  get keys(): number {
    return this.#keys.size;
  }

  /** Whether a filter counts keys as accounts that are there as another kind than the first. */
  get asksForOtherKinds(): boolean {
    return this.#ofOtherKinds > 0;
  }

  /** @throws {RangeError} when a key is not an address */
  add(parts: FilterParts, subscriber: T): FilterMember<T> {
    const [any, all] = [packed(parts.any), packed(parts.all)];
    const [none, programs] = [packed(parts.none), packed(parts.programs)];
    const conditions: FilterConditions = {
      any: this.#take(any),
      all: this.#take(all),
      none: this.#take(none),
      programs: this.#take(programs),
      accountKinds: parts.accountKinds,
      flagMask: parts.flagMask,
      flags: parts.flags,
      signature: parts.signature,
    };
    const hash = hashOfConditions(conditions, this.#hashSeed) & this.#hashMask;
    let group = this.#byHash.get(hash);
    while (group !== undefined && !sameConditions(group.conditions, conditions)) group = group.sameHash;
    if (group === undefined) group = this.#open(hash, conditions);
    else this.#release(conditions);
    const joined = group;
    return joined.join(subscriber, () => this.#close(hash, joined));
  }

  /** Begins a round: what is there is told by `see`, then `collect` ends it. */
  begin(): void {
    this.#seenKeys = 0;
    this.#round += 1;
    if (this.#round <= this.#roundsMax) return;
    this.#keys.forgetRounds();
    this.#marks.forgetRounds();
    this.#round = 1;
  }

  /** Says that the key at a position is there. @param kinds - bits of `key-kinds.ts`, at least one */
  see(bytes: Uint8Array, at: number, kinds: number): void {
    if (this.#seenKeys === this.#kinds.length) this.#growSeen();
    this.#kinds[this.#seenKeys] = kinds;
    this.#traffic.see(this.#keys.read(this.#seenKeys, bytes, at));
    this.#seenKeys += 1;
  }

  /** The groups whose conditions the round meets, in no order; an array of the caller's own where there are any. */
  collect(flags: number, signature: string | null): readonly FilterGroup<T>[] {
    this.#flags = flags;
    this.#found = null;
    this.#findSeen();
    for (let at = 0; at < this.#count; at++) {
      const key = this.#there[at] ?? 0;
      const kinds = this.#keys.kinds(key, this.#round);
      this.#look(this.#keys.head(key, accountHead), kinds & ~programKind);
      if ((kinds & programKind) !== 0) this.#look(this.#keys.head(key, programHead), programKind);
    }
    if (signature !== null && this.#bySignature.size > 0) {
      for (const group of this.#bySignature.get(signature) ?? nobody) this.#offer(group);
    }
    const { length } = this.#withoutKeys;
    for (let at = 0; at < length; at++) {
      const group = this.#withoutKeys[at];
      if (group !== undefined) this.#offer(group);
    }
    this.#traffic.endRound();
    this.#moveImpatient();
    return this.#found ?? nobody;
  }

  #findSeen(): void {
    this.#count = 0;
    this.#keys.findRead(this.#seenKeys);
    const { found } = this.#keys;
    for (let at = 0; at < this.#seenKeys; at++) {
      const key = found[at] ?? -1;
      if (key === -1 || !this.#keys.mark(key, this.#round, this.#kinds[at] ?? 0)) continue;
      this.#there[this.#count++] = key;
    }
  }

  #growSeen(): void {
    const kinds = new Uint8Array(this.#kinds.length * 2);
    kinds.set(this.#kinds);
    this.#kinds = kinds;
    this.#there = new Int32Array(kinds.length);
  }

  /** Offers the round to each group that is looked for by a key that is there. */
  #look(first: number, kinds: number): void {
    const postings = this.#postings;
    const marks = this.#marks;
    for (let node = first; node !== 0; node = postings.next(node)) {
      const id = postings.group(node);
      if (!marks.visit(id, this.#round, kinds) || !marks.hasFlags(id, this.#flags)) continue;
      const lone = marks.loneKey(id);
      const isMet =
        lone === -1
          ? !marks.asksForMore(id) || this.#meets(this.#group(id))
          : this.#isThere(lone, marks.loneKinds(id)) === marks.needsLone(id);
      if (isMet) this.#find(this.#group(id));
      else if (marks.rejects(id)) this.#impatient.push(this.#group(id));
    }
  }

  #group(id: number): FilterGroup<T> {
    return this.#groups[id] as FilterGroup<T>;
  }

  #find(group: FilterGroup<T>): void {
    this.#found ??= [];
    this.#found.push(group);
  }

  #offer(group: FilterGroup<T>): void {
    if (this.#meets(group)) this.#find(group);
  }

  #meets({ conditions, axis }: FilterGroup<T>): boolean {
    const { any, all, none, programs, accountKinds, flagMask, flags } = conditions;
    if ((this.#flags & flagMask) !== flags) return false;
    for (let at = 0; at < all.length; at++) if (!this.#isThere(all[at] ?? 0, accountKinds)) return false;
    if (axis !== "any" && any.length > 0 && !this.#isOneThere(any, accountKinds)) return false;
    if (axis !== "programs" && programs.length > 0 && !this.#isOneThere(programs, programKind)) return false;
    return none.length === 0 || !this.#isOneThere(none, accountKinds);
  }

  #isThere(key: number, kinds: number): boolean {
    return (this.#keys.kinds(key, this.#round) & kinds) !== 0;
  }

  #isOneThere(list: Int32Array, kinds: number): boolean {
    if (list.length <= this.#count * searchedFrom) {
      for (let at = 0; at < list.length; at++) if (this.#isThere(list[at] ?? 0, kinds)) return true;
      return false;
    }
    for (let at = 0; at < this.#count; at++) {
      const key = this.#there[at] ?? 0;
      if (this.#isThere(key, kinds) && holds(list, key)) return true;
    }
    return false;
  }

  #take(keys: Uint8Array): Int32Array {
    if (keys.length === 0) return noKeys;
    const numbers = new Int32Array(keys.length / keyBytes);
    for (let at = 0; at < numbers.length; at++) numbers[at] = this.#keys.take(keys, at * keyBytes);
    numbers.sort();
    let kept = 1;
    for (let at = 1; at < numbers.length; at++) {
      const key = numbers[at] ?? 0;
      if (key === numbers[kept - 1]) this.#keys.release(key);
      else numbers[kept++] = key;
    }
    return kept === numbers.length ? numbers : numbers.slice(0, kept);
  }

  #release({ any, all, none, programs }: FilterConditions): void {
    for (const list of [any, all, none, programs]) {
      for (let at = 0; at < list.length; at++) this.#keys.release(list[at] ?? 0);
    }
  }

  #open(hash: number, conditions: FilterConditions): FilterGroup<T> {
    const id = this.#freeIds.pop() ?? this.#groups.length;
    const group = new FilterGroup<T>(id, conditions);
    this.#groups[id] = group;
    if (conditions.accountKinds !== accountKind) this.#ofOtherKinds += 1;
    group.sameHash = this.#byHash.get(hash);
    this.#byHash.set(hash, group);
    this.#choose(group);
    this.#post(group);
    return group;
  }

  #close(hash: number, group: FilterGroup<T>): void {
    this.#unpost(group);
    const first = this.#byHash.get(hash);
    if (first === group) {
      if (group.sameHash === undefined) this.#byHash.delete(hash);
      else this.#byHash.set(hash, group.sameHash);
    } else {
      let before = first;
      while (before !== undefined && before.sameHash !== group) before = before.sameHash;
      if (before !== undefined) before.sameHash = group.sameHash;
    }
    this.#groups[group.id] = undefined;
    if (group.conditions.accountKinds !== accountKind) this.#ofOtherKinds -= 1;
    this.#freeIds.push(group.id);
    this.#release(group.conditions);
  }

  /**
   * Chooses where a group is looked for: where it is looked at least. A key that many filters name is taken for one
   * that is met often even before it is met; equal lists are told apart by their lengths.
   */
  #choose(group: FilterGroup<T>): void {
    const { any, all, programs, signature } = group.conditions;
    group.axis = signature === null ? "none" : "signature";
    if (signature !== null) return;
    let least = Number.POSITIVE_INFINITY;
    const propose = (axis: Axis, looks: number, postings: number): void => {
      const cost = looks + postings;
      if (cost >= least) return;
      least = cost;
      group.axis = axis;
    };
    if (all.length > 0) {
      let rarest = 0;
      for (let at = 1; at < all.length; at++) if (this.#seen(all[at]) < this.#seen(all[rarest])) rarest = at;
      group.rarest = rarest;
      propose("all", this.#seen(all[rarest]), 1);
    }
    if (any.length > 0) propose("any", this.#seenTogether(any), any.length);
    if (programs.length > 0) propose("programs", this.#seenTogether(programs), programs.length);
    group.patience = Math.min(patienceMax, Math.max(patienceMin, group.patience * 2, any.length + programs.length));
  }

  #seen(key: number | undefined): number {
    const number = key ?? 0;
    return this.#traffic.seen(this.#keys.hashOf(number)) * seenWeight + this.#keys.uses(number);
  }

  #seenTogether(list: Int32Array): number {
    let sum = 0;
    for (let at = 0; at < list.length; at++) sum += this.#seen(list[at]);
    return sum;
  }

  #post(group: FilterGroup<T>): void {
    const { axis, conditions } = group;
    if (axis === "none") {
      group.place = this.#withoutKeys.push(group) - 1;
    } else if (axis === "signature") {
      const key = conditions.signature ?? "";
      const others = this.#bySignature.get(key);
      if (others === undefined) this.#bySignature.set(key, [group]);
      else others.push(group);
    } else {
      this.#marks.set(group);
      const { keys, field } = lookedForBy(group);
      const nodes = new Int32Array(keys.length);
      for (let at = 0; at < keys.length; at++) nodes[at] = this.#postings.put(keys[at] ?? 0, field, group.id);
      group.nodes = nodes;
    }
  }

  #unpost(group: FilterGroup<T>): void {
    const { axis, conditions, nodes } = group;
    if (axis === "none") {
      const last = this.#withoutKeys.pop();
      if (last === undefined || last === group) return;
      this.#withoutKeys[group.place] = last;
      last.place = group.place;
    } else if (axis === "signature") {
      const key = conditions.signature ?? "";
      const others = (this.#bySignature.get(key) ?? []).filter((other) => other !== group);
      if (others.length === 0) this.#bySignature.delete(key);
      else this.#bySignature.set(key, others);
    } else {
      const { keys, field } = lookedForBy(group);
      for (let at = 0; at < keys.length; at++) this.#postings.takeOut(keys[at] ?? 0, field, nodes?.[at] ?? 0);
    }
  }

  /** Looks for groups elsewhere that were looked at in vain too often. */
  #moveImpatient(): void {
    for (let group = this.#impatient.pop(); group !== undefined; group = this.#impatient.pop()) {
      this.#unpost(group);
      this.#choose(group);
      this.#post(group);
    }
  }
}

function lookedForBy<T>({ axis, rarest, conditions }: FilterGroup<T>): { keys: Int32Array; field: HeadField } {
  if (axis === "programs") return { keys: conditions.programs, field: programHead };
  const keys = axis === "any" ? conditions.any : conditions.all.subarray(rarest, rarest + 1);
  return { keys, field: accountHead };
}

/** @throws {RangeError} when a key is not an address */
function packed(keys: FilterKeys): Uint8Array {
  if (keys instanceof Uint8Array) {
    if (keys.length % keyBytes !== 0) throw new RangeError(`keys have 32 bytes each, not ${keys.length} in all`);
    return keys;
  }
  if (keys.length === 0) return noBytes;
  const bytes = new Uint8Array(keys.length * keyBytes);
  for (let at = 0; at < keys.length; at++) bytes.set(addressBytes(keys[at] ?? ""), at * keyBytes);
  return bytes;
}

/** Whether a list in ascending order holds a number. */
function holds(list: Int32Array, wanted: number): boolean {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return list[low] === wanted;
}
