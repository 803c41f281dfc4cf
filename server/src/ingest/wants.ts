import { BoundedMap } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockPlace, ChainLog, Hole } from "../log/index.ts";
import { slotRangeMax } from "./source.ts";

/** A slot whose block is looked for. */
export interface Want {
  readonly slot: Slot;
  /** The hash that a kept block names as its parent's; null where only its slot is known. */
  readonly blockhash: string | null;
}

/** Slots that are listed by asking which of them have blocks. */
export interface SlotRange {
  readonly from: Slot;
  readonly to: Slot;
}

/** Slots looked for at a time below the head and at it, and slots that are remembered. */
const windowMax = { holes: 48, head: 24 } as const;
const rememberedMax = 8_192;
/** Without any list, this many slots are tried one by one. */
const triedMax = 16;
/** Lists that came back with nothing before slots are tried. */
const emptyListsMax = 2;
/** The first block of a log stays its first: two nodes list what is after the beginning, or it was asked so often. */
const beginListersMin = 2;
const beginListsMax = 16;

const next = (slot: Slot): Slot => (slot + 1n) as Slot;
const before = (slot: Slot): Slot => (slot - 1n) as Slot;

/**
 * Which blocks are missing: parents that kept blocks name, slots that nodes list in the ranges between, and slots that
 * were told as confirmed and have not come.
 */
export class Wants {
  /** Slots that are said to have a block. */
  readonly #said = new BoundedMap<Slot, true>({ max: rememberedMax });
  /** How often a range, by its first slot, could not be listed. */
  readonly #unlisted = new BoundedMap<Slot, number>({ max: rememberedMax });
  /** Blocks that enough nodes call final, by their hashes. */
  readonly #demanded = new BoundedMap<string, BlockPlace>({ max: 64 });
  /** Where an empty log begins; null before that is known. */
  #begin: Slot | null = null;
  /** Nodes that listed the slots after the beginning, and how often that was asked. */
  readonly #beginListers = new Set<string>();
  #beginLists = 0;
  #awaitsListers = false;

  /** Whether a node is away that may yet list the beginning: until it has, or is given up, one list is not enough. */
  awaitListers(isAwaited: boolean): void {
    this.#awaitsListers = isAwaited;
    if (isAwaited) this.#beginLists = 0;
  }

  /** An empty log begins with the first block from this slot on. */
  beginAt(slot: Slot): void {
    this.#begin ??= slot;
  }

  get begin(): Slot | null {
    return this.#begin;
  }

  said(slot: Slot): void {
    if (this.#said.get(slot) === undefined) this.#said.set(slot, true);
  }

  demand(place: BlockPlace): void {
    this.#demanded.set(place.blockhash, place);
  }

  /** The slot has no block, as far as enough nodes say. */
  unsaid(slot: Slot): void {
    this.#said.delete(slot);
  }

  /**
   * The lowest slot from the beginning on that is said to have a block; null before the slots after the beginning were
   * listed by two nodes, or by the one whose word counts where there is no other, or could not be.
   */
  first(nodes: number): Slot | null {
    if (this.#begin === null) return null;
    const listers = this.#awaitsListers ? beginListersMin : Math.max(1, Math.min(beginListersMin, nodes));
    if (this.#beginListers.size < listers && this.#beginLists < beginListsMax) return null;
    let first: Slot | null = null;
    for (const slot of this.#said.keys()) {
      if (slot >= (this.#begin ?? 0n) && (first === null || slot < first)) first = slot;
    }
    return first;
  }

  listed({ from }: SlotRange, node: string, slots: readonly Slot[] | null): void {
    if (from === this.#begin) {
      this.#beginLists += 1;
      if (slots !== null && slots.length > 0) this.#beginListers.add(node);
    }
    if (slots === null) this.#unlisted.set(from, (this.#unlisted.get(from) ?? 0) + 1);
    else {
      this.#unlisted.delete(from);
      for (const slot of slots) this.said(slot);
    }
  }

  /** Ranges of which it is not known which slots have blocks, lowest first. */
  ranges(log: Pick<ChainLog, "holes" | "latest">, head: Slot | null): SlotRange[] {
    const ranges = log.holes().flatMap(({ below, missing }): SlotRange[] => {
      if (below === null || missing.slot - below.slot < 2n) return [];
      return [cut({ from: next(below.slot), to: before(missing.slot) })];
    });
    const top = log.latest("confirmed")?.slot ?? (this.#begin === null ? null : before(this.#begin));
    if (top !== null && head !== null && head > top) ranges.push(cut({ from: next(top), to: head }));
    return ranges;
  }

  /**
   * What is looked for now, the most urgent first. `kept` says which blocks of a slot were handed to the log: none of
   * those that it holds in a hole is on the chain there, or the hole would begin after it.
   */
  list(
    log: Pick<ChainLog, "holes" | "latest" | "find">,
    head: Slot | null,
    kept: (slot: Slot) => readonly BlockPlace[],
  ): Want[] {
    const holes = log.holes();
    // By their hashes: two forks may name blocks of one slot.
    const named = new Map<string, Want>();
    for (const { missing } of holes.slice(0, windowMax.holes)) named.set(missing.blockhash, missing);
    for (const [blockhash, place] of this.#demanded.entries()) {
      if (log.find(place) === null) named.set(blockhash, place);
      else this.#demanded.delete(blockhash);
    }
    const namedSlots = new Set([...named.values()].map(({ slot }) => slot));
    const wants = new Map<Slot, Want>();
    const count = (): number => named.size + wants.size;
    const said = [...this.#said.keys()].sort((left, right) => (left < right ? -1 : 1));
    const top = log.latest("confirmed")?.slot ?? null;
    const isOpen = (slot: Slot): boolean => {
      if (wants.has(slot) || namedSlots.has(slot)) return false;
      const blocks = kept(slot);
      return blocks.length === 0 || (isIn(holes, slot) && blocks.every((place) => log.find(place) !== null));
    };
    for (const slot of said) {
      if (count() >= windowMax.holes) break;
      if (isIn(holes, slot) && isOpen(slot)) wants.set(slot, { slot, blockhash: null });
    }
    const sizeMax = count() + windowMax.head;
    for (const slot of said) {
      if (count() >= sizeMax) break;
      const isAtHead = (top === null || slot > top) && slot >= (this.#begin ?? 0n) && head !== null && slot <= head;
      if (isAtHead && isOpen(slot)) wants.set(slot, { slot, blockhash: null });
    }
    for (const { from, to } of this.ranges(log, head)) {
      if ((this.#unlisted.get(from) ?? 0) < emptyListsMax) continue;
      for (let slot = from; slot <= to && slot < from + BigInt(triedMax); slot = next(slot)) {
        if (isOpen(slot)) wants.set(slot, { slot, blockhash: null });
      }
    }
    return [...named.values(), ...wants.values()];
  }

  forgetBelow(slot: Slot): void {
    for (const each of [...this.#said.keys()]) if (each < slot) this.#said.delete(each);
  }
}

/** Lists have a bound, from the bottom up, since followers wait there. */
function cut({ from, to }: SlotRange): SlotRange {
  const end = from + BigInt(slotRangeMax - 1);
  return { from, to: to < end ? to : (end as Slot) };
}

function isIn(holes: readonly Hole[], slot: Slot): boolean {
  return holes.some(({ below, missing }) => below !== null && slot > below.slot && slot < missing.slot);
}
