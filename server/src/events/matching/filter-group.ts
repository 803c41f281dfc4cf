/** Which list of a group's keys it is looked for by; `signature` and `none` are lists of the index itself. */
export type Axis = "none" | "signature" | "any" | "all" | "programs";

/** What a filter asks for, as the index keeps it. Lists are numbers of keys in ascending order, each once. */
export interface FilterConditions {
  /** One of these accounts is there; empty is no condition. */
  readonly any: Int32Array;
  readonly all: Int32Array;
  readonly none: Int32Array;
  /** One of these is there as a program. */
  readonly programs: Int32Array;
  /** As which kinds keys of the first three lists count as there. */
  readonly accountKinds: number;
  /** Of the flags of a round, those that are asked for, and what they must be. */
  readonly flagMask: number;
  readonly flags: number;
  readonly signature: string | null;
}

export function sameConditions(one: FilterConditions, other: FilterConditions): boolean {
  return (
    one.flagMask === other.flagMask &&
    one.flags === other.flags &&
    one.accountKinds === other.accountKinds &&
    one.signature === other.signature &&
    sameNumbers(one.any, other.any) &&
    sameNumbers(one.all, other.all) &&
    sameNumbers(one.none, other.none) &&
    sameNumbers(one.programs, other.programs)
  );
}

function sameNumbers(one: Int32Array, other: Int32Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** A number that equal conditions share. */
export function hashOfConditions(conditions: FilterConditions, seed: number): number {
  const { any, all, none, programs, accountKinds, flagMask, flags, signature } = conditions;
  let hash = mix(seed, (accountKinds << 8) | (flagMask << 4) | flags);
  for (const list of [any, all, none, programs]) {
    hash = mix(hash, list.length);
    for (let at = 0; at < list.length; at++) hash = mix(hash, list[at] ?? 0);
  }
  if (signature !== null) for (let at = 0; at < 8; at++) hash = mix(hash, signature.charCodeAt(at) | 0);
  return hash;
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x21f0aaad);
  return mixed ^ (mixed >>> 15);
}

/** A subscriber's place in a group. It leaves when disposed of. */
export interface FilterMember<T> extends Disposable {
  readonly subscriber: T;
  readonly group: FilterGroup<T>;
}

/** All subscribers whose filters ask for the same; it lives as long as it has one. */
export class FilterGroup<T> {
  /** @internal Its number in the index. */
  readonly id: number;
  /** @internal */
  readonly conditions: FilterConditions;
  /** @internal The next group whose conditions have the same hash. */
  sameHash: FilterGroup<T> | undefined;
  /** @internal */
  axis: Axis = "none";
  /** @internal Nodes of its postings, in the order of the keys that it is looked for by. */
  nodes: Int32Array | undefined;
  /** @internal Of `all`, the place of the one key that it is looked for by. */
  rarest = 0;
  /** @internal Its place among those that name no key. */
  place = 0;
  /** @internal How often it may be looked at in vain before its axis is chosen anew. */
  patience = 0;
  #first: Member<T> | undefined;
  #last: Member<T> | undefined;
  #size = 0;

  constructor(id: number, conditions: FilterConditions) {
    this.id = id;
    this.conditions = conditions;
  }

  get size(): number {
    return this.#size;
  }

  /** In the order in which they came. One that leaves meanwhile is not told any more. */
  *members(): Generator<T> {
    for (let member = this.#first; member !== undefined; member = member.next) {
      if (!member.left) yield member.subscriber;
    }
  }

  /** @internal */
  join(subscriber: T, onEmpty: () => void): FilterMember<T> {
    const member = new Member(this, subscriber, onEmpty);
    if (this.#last === undefined) this.#first = member;
    else {
      this.#last.next = member;
      member.previous = this.#last;
    }
    this.#last = member;
    this.#size += 1;
    return member;
  }

  /** @internal */
  leave(member: Member<T>): boolean {
    const { previous, next } = member;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    this.#size -= 1;
    return this.#size === 0;
  }
}

/** One that left still points on, for who goes through the members at that time. */
class Member<T> implements FilterMember<T> {
  readonly group: FilterGroup<T>;
  readonly subscriber: T;
  readonly #onEmpty: () => void;
  previous: Member<T> | undefined;
  next: Member<T> | undefined;
  left = false;

  constructor(group: FilterGroup<T>, subscriber: T, onEmpty: () => void) {
    this.group = group;
    this.subscriber = subscriber;
    this.#onEmpty = onEmpty;
  }

  [Symbol.dispose](): void {
    if (this.left) return;
    this.left = true;
    if (this.group.leave(this)) this.#onEmpty();
  }
}
