import type { Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, BlockPlace, ChainLog } from "../log/index.ts";

/** What a node says of a place at commitment finalized. */
export type FinalWord =
  /** The block that is kept there, with the same content. */
  | { readonly kind: "same" }
  /** A block of this hash; the kept one's where the content is another. */
  | { readonly kind: "other"; readonly blockhash: string }
  | { readonly kind: "absent" }
  | { readonly kind: "unavailable"; readonly isPruned: boolean };

/** All that nodes have said of one place. An empty blockhash asks which block is in the slot. */
interface FinalCase {
  readonly place: BlockPlace;
  readonly words: Map<string, Exclude<FinalWord, { kind: "unavailable" }>>;
  readonly failures: Map<string, number>;
}

export interface FinalityDependencies {
  readonly log: Pick<ChainLog, "find" | "reached" | "holes">;
  readonly witnesses: () => ReadonlySet<string>;
  /** Whether two nodes have said the same of the block's content. */
  readonly isConfirmedByTwo: (place: BlockPlace) => boolean;
}

export interface FinalQuestion {
  readonly place: BlockPlace;
  readonly nodes: readonly string[];
}

export type FinalStep =
  | { readonly kind: "none" }
  | { readonly kind: "ask"; readonly questions: readonly FinalQuestion[] }
  /** The block and all before it are final. */
  | { readonly kind: "final"; readonly header: BlockHeader }
  /** This block is final and is not kept. */
  | { readonly kind: "fetch"; readonly place: BlockPlace };

/** Blocks between the last final one and the root that are looked at in one step. */
const walkMax = 4_096;
/** Blocks whose content is confirmed at a time. */
const questionsMax = 16;
/** A node that answers so often with nothing has no part in it, as in `Judge`. */
const failuresMax = 8;

/**
 * Decides which block is final. A root is a slot: two nodes have to name the same block there at commitment finalized,
 * and the content of each block up to it has to be confirmed by two nodes (of one node alone, its own word).
 */
export class Finality {
  readonly #dependencies: FinalityDependencies;
  readonly #cases = new Map<string, FinalCase>();
  /** A final block that is not on the chain that the log shows now. */
  #instead: BlockPlace | null = null;
  /** The same below a hole. */
  #insteadBelow: BlockPlace | null = null;

  constructor(dependencies: FinalityDependencies) {
    this.#dependencies = dependencies;
  }

  /** The next step towards `root`, the newest finalized slot that is believed. */
  step(root: Slot): FinalStep {
    const { log } = this.#dependencies;
    const instead = this.#instead;
    const isLost = instead !== null && isMissing(log, instead);
    if (instead !== null && !isLost && log.find(instead) === null) return { kind: "fetch", place: instead };
    const blocks = isLost ? null : this.#chainTo(root, instead ?? log.reached("confirmed"));
    if (blocks === null) return this.#below(root);
    const [top] = blocks;
    if (top === undefined) return { kind: "none" };
    const of = this.#caseOf(top);
    if (this.#count(of, "same") >= this.#needed(of)) return this.#content(blocks, top);
    const found = this.#blockIn(of) ?? (this.#isAbsent(of) ? this.#blockIn(this.#caseOf(unknownAt(root))) : null);
    if (found !== null) {
      this.#instead = found;
      return { kind: "fetch", place: found };
    }
    const asked = this.#isAbsent(of) ? this.#caseOf(unknownAt(root)) : of;
    return { kind: "ask", questions: [this.#question(asked)] };
  }

  answered(place: BlockPlace, node: string, word: FinalWord): void {
    const of = this.#caseOf(place);
    if (word.kind === "unavailable") {
      of.failures.set(node, word.isPruned ? failuresMax : (of.failures.get(node) ?? 0) + 1);
      return;
    }
    of.failures.delete(node);
    of.words.set(node, word);
  }

  /** Whether nodes contradict what is kept, or each other. */
  isDisputed(place: BlockPlace): boolean {
    return [...this.#caseOf(place).words.values()].some(({ kind }) => kind !== "same");
  }

  settled({ slot }: BlockPlace): void {
    for (const [key, { place }] of this.#cases) if (place.slot <= slot) this.#cases.delete(key);
    if (this.#instead !== null && this.#instead.slot <= slot) this.#instead = null;
    if (this.#insteadBelow !== null && this.#insteadBelow.slot <= slot) this.#insteadBelow = null;
  }

  /**
   * Between the log's chain and the root is a hole, so that the root says nothing of what is below that: the nodes are
   * asked for each block there, the newest first. One that they do not have at finalized, or can say nothing of, is
   * passed over; below it others are final.
   */
  #below(root: Slot): FinalStep {
    const { log } = this.#dependencies;
    const instead = this.#insteadBelow;
    if (instead !== null && log.find(instead) === null) return { kind: "fetch", place: instead };
    const blocks = this.#chainTo(root, instead ?? log.reached("confirmed")) ?? [];
    for (const [index, block] of blocks.entries()) {
      const of = this.#caseOf(block);
      if (this.#count(of, "same") >= this.#needed(of)) return this.#content(blocks.slice(index), block);
      const found = this.#blockIn(of);
      if (found !== null) {
        this.#insteadBelow = found;
        return { kind: "fetch", place: found };
      }
      if (!this.#isAbsent(of) && !this.#isMute(of)) return { kind: "ask", questions: [this.#question(of)] };
    }
    return { kind: "none" };
  }

  /** All blocks up to the top have to have been confirmed by two nodes. */
  #content(blocks: readonly BlockHeader[], top: BlockHeader): FinalStep {
    const open = blocks
      .map((header) => this.#caseOf(header))
      .filter((of) => !this.#dependencies.isConfirmedByTwo(of.place) && this.#count(of, "same") < this.#needed(of));
    if (open.length === 0) return { kind: "final", header: top };
    return { kind: "ask", questions: open.slice(-questionsMax).map((of) => this.#question(of)) };
  }

  /** The kept blocks that are not final and not after the root, newest first; null where one is missing. */
  #chainTo(root: Slot, from: BlockPlace | null): BlockHeader[] | null {
    const { log } = this.#dependencies;
    const final = log.reached("finalized")?.slot ?? -1n;
    const blocks: BlockHeader[] = [];
    let at = from;
    for (let steps = 0; at !== null && at.slot > final && steps < walkMax; steps += 1) {
      const place: BlockPlace = at;
      const held = log.find(place);
      // A gap explains a parent that is not held, and so does the beginning of the log.
      if (held === null) return isMissing(log, place) ? null : blocks;
      const { header } = held;
      if (header.slot <= root) blocks.push(header);
      at = { slot: header.parentSlot, blockhash: header.parentBlockhash };
    }
    return blocks;
  }

  #caseOf({ slot, blockhash }: BlockPlace): FinalCase {
    const key = `${slot} ${blockhash}`;
    const known = this.#cases.get(key);
    if (known !== undefined) return known;
    const fresh: FinalCase = { place: { slot, blockhash }, words: new Map(), failures: new Map() };
    this.#cases.set(key, fresh);
    return fresh;
  }

  /** How many nodes have to say the same; who cannot answer has no part in it. */
  #needed({ words, failures }: FinalCase): 1 | 2 {
    const able = [...this.#dependencies.witnesses()].filter(
      (node) => words.has(node) || (failures.get(node) ?? 0) < failuresMax,
    );
    return able.length >= 2 ? 2 : 1;
  }

  #count({ words }: FinalCase, kind: FinalWord["kind"]): number {
    const witnesses = this.#dependencies.witnesses();
    return [...words].filter(([node, word]) => word.kind === kind && witnesses.has(node)).length;
  }

  #isAbsent(of: FinalCase): boolean {
    return this.#count(of, "absent") >= this.#needed(of);
  }

  /** Whether no node can say what is there. */
  #isMute({ words, failures }: FinalCase): boolean {
    const witnesses = [...this.#dependencies.witnesses()];
    return (
      witnesses.length > 0 && witnesses.every((node) => !words.has(node) && (failures.get(node) ?? 0) >= failuresMax)
    );
  }

  /** The block of another hash that enough nodes name in the slot. */
  #blockIn(of: FinalCase): BlockPlace | null {
    const witnesses = this.#dependencies.witnesses();
    const counts = new Map<string, number>();
    for (const [node, word] of of.words) {
      if (word.kind !== "other" || !witnesses.has(node) || word.blockhash === of.place.blockhash) continue;
      counts.set(word.blockhash, (counts.get(word.blockhash) ?? 0) + 1);
    }
    for (const [blockhash, count] of counts) {
      if (count >= this.#needed(of)) return { slot: of.place.slot, blockhash };
    }
    return null;
  }

  #question({ place, words, failures }: FinalCase): FinalQuestion {
    const nodes = [...this.#dependencies.witnesses()].filter((node) => words.get(node)?.kind !== "same");
    // Who has answered otherwise may have been behind, and is asked again once the others have been.
    const open = nodes.filter((node) => !words.has(node) && (failures.get(node) ?? 0) < failuresMax);
    return { place, nodes: open.length > 0 ? open : nodes };
  }
}

/** Whether it is a block that a kept one names and that is not held. */
function isMissing(log: Pick<ChainLog, "holes">, { blockhash }: BlockPlace): boolean {
  return log.holes().some(({ missing }) => missing.blockhash === blockhash);
}

const unknownAt = (slot: Slot): BlockPlace => ({ slot, blockhash: "" });
