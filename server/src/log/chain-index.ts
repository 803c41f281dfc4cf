import { invariant } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, BlockPlace, GapRecord, Hole, Stage } from "./records.ts";

/** A body that is stored. */
export interface StoredBody {
  readonly rawBytes: number;
  /** Null when it is no longer held. @throws {LogError} when it cannot be read now */
  read(): Promise<Uint8Array | null>;
}

/** Blocks that are linked with each other, over parents or over gaps. Followers move within one tree. */
interface Tree {
  root: Block;
  /** The newest block of the tree's chain. */
  tip: Block;
  /** The highest finalized block. */
  finalized: Block | null;
  /** The tree that this one has become a part of. */
  into: Tree | null;
}

/** A block as far as it is known. It is linked once its body is held and it is confirmed. */
export class Block {
  readonly header: BlockHeader;
  /** Where its body is stored; null while it is in memory alone, or not held. */
  stored: StoredBody | null = null;
  /** Its body while it is in memory. */
  body: Uint8Array | null = null;
  isConfirmed = false;
  isFinalized = false;
  /** Whether the records that say so are stored. */
  isConfirmedStored = false;
  isFinalizedStored = false;
  /** The block before it in its tree, its parent unless `isAfterGap`. */
  parent: Block | null = null;
  isAfterGap = false;
  children: Block[] = [];
  /** The block after it on the tree's chain. */
  next: Block | null = null;
  isOnChain = false;
  tree: Tree | null = null;

  constructor(header: BlockHeader) {
    this.header = header;
  }

  get slot(): Slot {
    return this.header.slot;
  }

  get hasBody(): boolean {
    return this.body !== null || this.stored !== null;
  }
}

/**
 * Whether the finalized blocks of a tree prove that a block is on no chain. Every tree counts: the one with the highest
 * block may be a single block of a fork, of which nothing is finalized.
 */
function rulesOut({ root, finalized }: Tree, { slot, blockhash }: BlockPlace): boolean {
  if (finalized === null || finalized.slot < slot) return false;
  let above = finalized;
  // All finalized blocks are after the root, so that a place before it needs no walk.
  if (root.slot > slot) above = root;
  else while (above.parent !== null && above.parent.slot >= slot) above = above.parent;
  if (above.header.blockhash === blockhash) return false;
  return above.header.parentSlot < slot && above.header.parentBlockhash !== blockhash;
}

/** The last block of a tree's chain below a slot: not its tip where a fork after the same blocks reaches further. */
function lastBelow({ root, tip }: Tree, slot: Slot): Block | null {
  if (root.slot >= slot) return null;
  let block = tip;
  while (block.slot >= slot && block.parent !== null) block = block.parent;
  return block;
}

/** Higher slots win; of two blocks of one slot the lower hash, so that every process chooses alike. */
function isBetter(one: BlockPlace, other: BlockPlace): boolean {
  return one.slot > other.slot || (one.slot === other.slot && one.blockhash < other.blockhash);
}

/**
 * Which blocks there are and how they are linked: a function of the set of records, whatever order they came in. The
 * chain of a tree leads from its root through its highest finalized block to the best block after that.
 */
export class ChainIndex {
  readonly #blocks = new Map<string, Block>();
  /** Roots of trees by the hash of their parent, which is not linked. */
  readonly #rootsByParent = new Map<string, Block[]>();
  readonly #trees = new Set<Tree>();
  /** Bodies of blocks that are not confirmed and may yet be. */
  readonly #processed = new Map<string, Block>();
  readonly #gaps: GapRecord[] = [];
  #floor: Slot = 0n as Slot;
  #latest: Tree | null = null;
  #isLoading = false;

  get blocks(): ReadonlyMap<string, Block> {
    return this.#blocks;
  }

  /** Nothing below is held. */
  get floor(): Slot {
    return this.#floor;
  }

  get processed(): ReadonlyMap<string, Block> {
    return this.#processed;
  }

  find({ blockhash }: BlockPlace): Block | undefined {
    return this.#blocks.get(blockhash);
  }

  /** The tree whose tip is the best. */
  get latest(): Tree | null {
    if (this.#latest === null) {
      for (const tree of this.#trees) {
        if (this.#latest === null || isBetter(tree.tip.header, this.#latest.tip.header)) this.#latest = tree;
      }
    }
    return this.#latest;
  }

  /** Trees that are not known to be dead, lowest first. Between two of them something is missing. */
  get living(): readonly Tree[] {
    const living = [...this.#trees].filter((tree) => !this.#isDeadTree(tree));
    return living.sort((left, right) => (left.root.slot < right.root.slot ? -1 : 1));
  }

  /** Whether the block is of a tree that is known to be dead, such as a fork whose parent was trimmed. */
  isOfDeadTree(block: Block): boolean {
    const tree = this.treeOf(block);
    return tree !== this.latest && this.#isDeadTree(tree);
  }

  /** A tree's own root is on the way to what is finalized in it. One after a dead block is as dead as that. */
  #isDeadTree(tree: Tree): boolean {
    const { header } = tree.root;
    const parent = { slot: header.parentSlot, blockhash: header.parentBlockhash };
    const isRuledOut = (other: Tree): boolean => rulesOut(other, header) || rulesOut(other, parent);
    return [...this.#trees].some((other) => other !== tree && isRuledOut(other));
  }

  /** The first block that is held and may be on the chain. */
  get earliest(): Block | null {
    return this.living[0]?.root ?? null;
  }

  /** Takes records without linking them, and links all at the end: a start has many. */
  load(work: () => void): void {
    this.#isLoading = true;
    work();
    this.#isLoading = false;
    this.#rebuild();
  }

  /** The block of this header, new when it is not known; null below the floor. */
  blockOf(header: BlockHeader): Block | null {
    if (header.slot < this.#floor) return null;
    const known = this.#blocks.get(header.blockhash);
    if (known !== undefined) return known;
    const block = new Block(header);
    this.#blocks.set(header.blockhash, block);
    return block;
  }

  /** Call after a block's body or stage has become known. */
  changed(block: Block): void {
    if (this.#isLoading) return;
    if (block.tree !== null) {
      if (block.isFinalized) this.#settle(block);
      return;
    }
    if (!block.hasBody) return;
    if (!block.isConfirmed) {
      this.#keepProcessed(block);
      return;
    }
    this.#processed.delete(block.header.blockhash);
    if (this.#needsRebuild(block)) this.#rebuild();
    else {
      this.#link(block);
      if (this.#gaps.length > 0 && this.#trees.size > 1) this.#bridgeRoots();
      if (block.isFinalized) this.#settle(block);
    }
  }

  addGap(gap: GapRecord): boolean {
    const isKnown = this.#gaps.some(({ from, to }) => from <= gap.from && to >= gap.to);
    if (isKnown || gap.to < this.#floor) return false;
    this.#gaps.push(gap);
    this.#gaps.sort((left, right) => (left.from < right.from ? -1 : 1));
    if (!this.#isLoading) this.#rebuild();
    return true;
  }

  /** The body is lost, as where its file is damaged: the block is one that nobody has brought yet. */
  dropBody(block: Block): void {
    block.body = null;
    block.stored = null;
    this.#processed.delete(block.header.blockhash);
    if (block.tree !== null) this.#rebuild();
  }

  /** Forgets all below. */
  raiseFloor(slot: Slot): void {
    if (slot <= this.#floor) return;
    this.#floor = slot;
    for (const [hash, block] of this.#blocks) if (block.slot < slot) this.#blocks.delete(hash);
    for (const [hash, block] of this.#processed) if (block.slot < slot) this.#processed.delete(hash);
    const kept = this.#gaps.filter(({ to }) => to >= slot);
    this.#gaps.splice(0, this.#gaps.length, ...kept);
    if (!this.#isLoading) this.#rebuild();
  }

  treeOf(block: Block): Tree {
    let { tree } = block;
    invariant(tree !== null, "the block is linked");
    while (tree.into !== null) tree = tree.into;
    block.tree = tree;
    return tree;
  }

  /** The best root after a block that is not linked itself. */
  rootAfter({ blockhash }: BlockPlace): Block | null {
    let best: Block | null = null;
    for (const root of this.#rootsByParent.get(blockhash) ?? []) {
      if (this.isDead(root.header) || this.isOfDeadTree(root)) continue;
      if (best === null || isBetter(this.treeOf(root).tip.header, this.treeOf(best).tip.header)) best = root;
    }
    return best;
  }

  /** Whether finalized blocks prove that the block is not on the chain: one after its slot has a parent before it. */
  isDead(place: BlockPlace): boolean {
    for (const tree of this.#trees) if (rulesOut(tree, place)) return true;
    return false;
  }

  /** The first block after a gap in which the slot lies; null where the log knows its slot. */
  afterGapAround(slot: Slot): Block | null {
    let above = this.latest?.tip ?? null;
    while (above !== null && above.parent !== null && above.parent.slot > slot) above = above.parent;
    if (above === null || above.slot <= slot || !above.isAfterGap) return null;
    return above.header.parentSlot >= slot ? above : null;
  }

  /** The highest finalized block of all trees. */
  get #finalized(): Block | null {
    let highest: Block | null = null;
    for (const { finalized } of this.#trees) {
      if (finalized !== null && (highest === null || finalized.slot > highest.slot)) highest = finalized;
    }
    return highest;
  }

  /** The newest block of a stage. */
  newest(stage: Stage): Block | null {
    const { latest } = this;
    if (stage === "finalized") return this.#finalized;
    let best = latest?.tip ?? null;
    if (stage === "confirmed") return best;
    for (const block of this.#processed.values()) {
      if (best === null || isBetter(block.header, best.header)) best = block;
    }
    return best;
  }

  /** The parents of all roots but the lowest one's are missing. */
  get holes(): readonly Hole[] {
    const { living } = this;
    return living.slice(1).map(({ root }): Hole => {
      const { parentSlot: slot, parentBlockhash: blockhash } = root.header;
      let below: Block | null = null;
      for (const tree of living) {
        const last = lastBelow(tree, slot);
        if (last !== null && (below === null || isBetter(last.header, below.header))) below = last;
      }
      return {
        below: below === null ? null : placeOf(below.header),
        missing: { slot, blockhash },
        above: placeOf(root.header),
      };
    });
  }

  /** What is missing right before a block that follows a gap. */
  gapBefore({ parent, header }: Block): GapRecord {
    invariant(parent !== null, "a block after a gap has one before it");
    const reason = this.#gaps.find(({ from, to }) => from <= header.parentSlot && to >= header.parentSlot)?.reason;
    return { kind: "gap", from: (parent.slot + 1n) as Slot, to: header.parentSlot, reason: reason ?? "unavailable" };
  }

  #keepProcessed(block: Block): void {
    const finalized = this.#finalized?.slot ?? -1n;
    if (block.slot > finalized) this.#processed.set(block.header.blockhash, block);
  }

  /** What becomes final below the end of a gap may prove that what was linked over the gap is dead. */
  #settle(block: Block): void {
    const { finalized: before } = this.treeOf(block);
    this.#finalize(block);
    const isNew = this.treeOf(block).finalized !== before;
    if (isNew && this.#gaps.some(({ to }) => before === null || before.slot < to)) this.#rebuild();
  }

  /** A block in or right before a gap changes over what the blocks after the gap are linked. */
  #needsRebuild({ slot }: Block): boolean {
    return this.#gaps.some(({ from, to }) => slot >= from - 1n && slot <= to);
  }

  #rebuild(): void {
    this.#trees.clear();
    this.#rootsByParent.clear();
    this.#processed.clear();
    this.#latest = null;
    const linked: Block[] = [];
    for (const block of this.#blocks.values()) {
      block.tree = null;
      block.parent = null;
      block.isAfterGap = false;
      block.children = [];
      block.next = null;
      block.isOnChain = false;
      if (block.hasBody && block.isConfirmed) linked.push(block);
    }
    linked.sort((left, right) => (left.slot < right.slot ? -1 : left.slot > right.slot ? 1 : 0));
    for (const block of linked) {
      this.#link(block);
      if (block.isFinalized) this.#finalize(block);
    }
    if (this.#gaps.length > 0) this.#bridgeRoots();
    for (const block of this.#blocks.values()) if (block.hasBody && !block.isConfirmed) this.#keepProcessed(block);
  }

  #link(block: Block): void {
    const parent = this.#blocks.get(block.header.parentBlockhash);
    const waiting = this.#rootsByParent.get(block.header.blockhash) ?? [];
    this.#rootsByParent.delete(block.header.blockhash);
    if (parent !== undefined && parent.tree !== null) {
      const tree = this.treeOf(parent);
      const isAtTip = tree.tip === parent && waiting.length === 0;
      this.#attach(block, parent, tree);
      if (isAtTip) {
        this.#extend(tree, block);
        return;
      }
    } else {
      const tree = { root: block, tip: block, finalized: null, into: null };
      block.tree = tree;
      block.isOnChain = true;
      this.#trees.add(tree);
      this.#addRoot(block);
      if (waiting.length === 0) {
        if (this.#latest !== null && isBetter(block.header, this.#latest.tip.header)) this.#latest = tree;
        return;
      }
    }
    for (const root of waiting) this.#merge(root, block);
    this.#chooseTip(this.treeOf(block));
  }

  #addRoot(root: Block): void {
    const { parentBlockhash } = root.header;
    this.#rootsByParent.set(parentBlockhash, [...(this.#rootsByParent.get(parentBlockhash) ?? []), root]);
  }

  #attach(block: Block, parent: Block, tree: Tree): void {
    block.parent = parent;
    block.tree = tree;
    parent.children.push(block);
  }

  /** The usual case, in which a block follows the newest one. */
  #extend(tree: Tree, block: Block): void {
    invariant(tree.tip.isOnChain, "the tip of a tree is on its chain");
    tree.tip.next = block;
    block.isOnChain = true;
    tree.tip = block;
    if (this.#latest !== tree) this.#latest = null;
  }

  /** Makes a tree a branch of another one, after `parent`. */
  #merge(root: Block, parent: Block): void {
    const [from, into] = [this.treeOf(root), this.treeOf(parent)];
    invariant(from !== into, "a block is not its own ancestor");
    root.parent = parent;
    parent.children.push(root);
    leaveChain(root);
    from.into = into;
    this.#trees.delete(from);
    this.#latest = null;
    const { finalized } = from;
    if (finalized !== null && (into.finalized === null || into.finalized.slot < finalized.slot)) {
      into.finalized = finalized;
    }
  }

  #finalize(block: Block): void {
    const tree = this.treeOf(block);
    const before = tree.finalized;
    // A second chain of finalized blocks cannot be; the first one stands.
    if (before !== null && (before.slot >= block.slot || !isAncestor(before, block))) return;
    tree.finalized = block;
    if (!block.isOnChain) this.#chooseTip(tree);
    for (const [hash, { slot }] of this.#processed) if (slot <= block.slot) this.#processed.delete(hash);
  }

  /** Leads the tree's chain to the best block that the finalized one allows. */
  #chooseTip(tree: Tree): void {
    const begin = tree.finalized ?? tree.root;
    let best = begin;
    for (const open = [begin]; open.length > 0; ) {
      const block = open.pop();
      if (block === undefined) break;
      if (isBetter(block.header, best.header)) best = block;
      for (const child of block.children) open.push(child);
    }
    // Upwards to where the chain is, and from there along the new branch in place of the old one.
    let branch = best;
    while (!branch.isOnChain) {
      const { parent } = branch;
      if (parent === null) break;
      if (parent.isOnChain && parent.next !== null && parent.next !== branch) leaveChain(parent.next);
      parent.next = branch;
      branch.isOnChain = true;
      branch = parent;
    }
    branch.isOnChain = true;
    if (best.next !== null) leaveChain(best.next);
    best.next = null;
    tree.tip = best;
    this.#latest = null;
  }

  /** Links each tree whose beginning a gap explains to the block right before the gap. */
  #bridgeRoots(): void {
    for (let isDone = false; !isDone; ) {
      isDone = true;
      for (const { root } of this.#trees) {
        const before = this.#blockBefore(root);
        if (before === null) continue;
        const siblings = this.#rootsByParent.get(root.header.parentBlockhash) ?? [];
        const others = siblings.filter((each) => each !== root);
        if (others.length === 0) this.#rootsByParent.delete(root.header.parentBlockhash);
        else this.#rootsByParent.set(root.header.parentBlockhash, others);
        root.isAfterGap = true;
        this.#merge(root, before);
        this.#chooseTip(this.treeOf(before));
        isDone = false;
        break;
      }
    }
  }

  #blockBefore(root: Block): Block | null {
    const { parentSlot } = root.header;
    let best: Block | null = null;
    for (const tree of this.living) {
      const last = tree.root === root ? null : lastBelow(tree, parentSlot);
      if (last === null || !this.#isGap((last.slot + 1n) as Slot, parentSlot)) continue;
      if (best === null || isBetter(last.header, best.header)) best = last;
    }
    return best;
  }

  /** Whether gaps explain every slot of the range. */
  #isGap(first: Slot, last: Slot): boolean {
    let missing: bigint = first;
    for (const { from, to } of this.#gaps) if (from <= missing && to >= missing) missing = to + 1n;
    return missing > last;
  }
}

const placeOf = ({ slot, blockhash }: BlockPlace): BlockPlace => ({ slot, blockhash });

/** Takes a block and what follows it off its tree's chain. */
function leaveChain(first: Block): void {
  for (let block: Block | null = first; block !== null; ) {
    const after: Block | null = block.next;
    block.isOnChain = false;
    block.next = null;
    block = after;
  }
}

/** Whether `ancestor` is a block before `block`, or the same. */
function isAncestor(ancestor: Block, block: Block): boolean {
  let at: Block | null = block;
  while (at !== null && at.slot > ancestor.slot) at = at.parent;
  return at === ancestor;
}
