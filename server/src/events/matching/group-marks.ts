import { programKind } from "../key-kinds.ts";
import type { FilterConditions, FilterGroup } from "./filter-group.ts";

/** Numbers for a group; four of them lie in one line of the processor's cache. */
const width = 4;
const conditionsField = 1;
const loneKeyField = 2;
const patienceField = 3;

/** Bits of the conditions; the lowest are the kinds of keys that count as accounts. */
const maskShift = 4;
const flagsShift = 8;
const flagBits = 0xf;
const needsLone = 1 << 12;
const forbidsLone = 1 << 13;
const loneIsProgram = 1 << 14;
const moreBit = 1 << 15;

/**
 * What a round asks first of each group that a key leads to, in one typed array by the group's number: when it was last
 * looked at; its conditions but lists; where one key is all that it asks for beside the list by which it is looked for,
 * that key; and how often it may still be looked at in vain. So a group is mostly left, or found, without a look at its
 * parts, which lie apart in memory: at 100,000 filters that halves the time of a transaction.
 */
export class GroupMarks {
  #marks = new Int32Array(64 * width);

  /** Takes what a group asks for beside the list of keys by which it is looked for. */
  set(group: FilterGroup<unknown>): void {
    const { id, conditions } = group;
    while ((id + 1) * width > this.#marks.length) {
      const grown = new Int32Array(this.#marks.length * 2);
      grown.set(this.#marks);
      this.#marks = grown;
    }
    const { accountKinds, flagMask, flags } = conditions;
    const { bits, loneKey } = restOf(group);
    const at = id * width;
    this.#marks[at] = 0;
    this.#marks[at + conditionsField] = accountKinds | (flagMask << maskShift) | (flags << flagsShift) | bits;
    this.#marks[at + loneKeyField] = loneKey;
    this.#marks[at + patienceField] = group.patience;
  }

  /** Whether a group is to be looked at: not yet in this round, and a key that is there as these kinds counts. */
  visit(id: number, round: number, kinds: number): boolean {
    const at = id * width;
    if (this.#marks[at] === round) return false;
    if (kinds !== programKind && ((this.#marks[at + conditionsField] ?? 0) & kinds) === 0) return false;
    this.#marks[at] = round;
    return true;
  }

  hasFlags(id: number, flags: number): boolean {
    const conditions = this.#conditions(id);
    return (flags & (conditions >> maskShift) & flagBits) === ((conditions >> flagsShift) & flagBits);
  }

  /** The key of which alone the rest depends; -1 where there is none. */
  loneKey(id: number): number {
    return (this.#conditions(id) & (needsLone | forbidsLone)) === 0
      ? -1
      : (this.#marks[id * width + loneKeyField] ?? 0);
  }

  /** As which kinds the lone key counts. */
  loneKinds(id: number): number {
    const conditions = this.#conditions(id);
    return (conditions & loneIsProgram) === 0 ? conditions & ~programKind & 0xf : programKind;
  }

  /** Whether the lone key must be there; else it must not. */
  needsLone(id: number): boolean {
    return (this.#conditions(id) & needsLone) !== 0;
  }

  /** Whether a group's own lists have to be asked. */
  asksForMore(id: number): boolean {
    return (this.#conditions(id) & moreBit) !== 0;
  }

  /** Counts a look in vain; whether it was one too many. */
  rejects(id: number): boolean {
    const at = id * width + patienceField;
    const left = (this.#marks[at] ?? 0) - 1;
    this.#marks[at] = left;
    return left === 0;
  }

  /** Forgets all rounds, so that they may be counted anew. */
  forgetRounds(): void {
    for (let at = 0; at < this.#marks.length; at += width) this.#marks[at] = 0;
  }

  #conditions(id: number): number {
    return this.#marks[id * width + conditionsField] ?? 0;
  }
}

interface Rest {
  readonly bits: number;
  readonly loneKey: number;
}

/** What a group asks for beside the list of keys by which it is looked for. */
function restOf({ conditions, axis, rarest }: FilterGroup<unknown>): Rest {
  const { none } = conditions;
  const any = axis === "any" ? 0 : conditions.any.length;
  const programs = axis === "programs" ? 0 : conditions.programs.length;
  const all = conditions.all.length - (axis === "all" ? 1 : 0);
  const needed = any + programs + all;
  if (needed + none.length === 0) return { bits: 0, loneKey: 0 };
  if (needed + none.length > 1) return { bits: moreBit, loneKey: 0 };
  if (none.length === 1) return { bits: forbidsLone, loneKey: none[0] ?? 0 };
  if (programs === 1) return { bits: needsLone | loneIsProgram, loneKey: conditions.programs[0] ?? 0 };
  return { bits: needsLone, loneKey: loneAccount(conditions, { any, rarest }) };
}

function loneAccount({ any, all }: FilterConditions, rest: { readonly any: number; readonly rarest: number }): number {
  if (rest.any === 1) return any[0] ?? 0;
  // Of a list by one of whose keys the group is looked for, the other one.
  return all[all.length === 2 && rest.rarest === 0 ? 1 : 0] ?? 0;
}
