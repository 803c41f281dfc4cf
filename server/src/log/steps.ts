import type { Slot } from "@sluice/wire/identifiers";
import type { Block, ChainIndex } from "./chain-index.ts";
import { type LogPosition, toldMax } from "./cursor.ts";
import type { BlockPlace, GapRecord, Stage } from "./records.ts";

/** What a follower at a position is told next, and where it is then. */
export type FollowStep =
  | { readonly kind: "block"; readonly block: Block; readonly skip: number; readonly position: LogPosition }
  | { readonly kind: "undo"; readonly undo: BlockPlace; readonly back: BlockPlace; readonly position: LogPosition }
  | { readonly kind: "gap"; readonly gap: GapRecord; readonly position: LogPosition }
  | { readonly kind: "expired" }
  /** There is nothing to tell until the index changes. */
  | { readonly kind: "wait" };

const wait: FollowStep = { kind: "wait" };

/**
 * The next event: a function of what the log holds and of the position alone, so that any process goes on where another
 * one was left.
 */
export function nextStep(index: ChainIndex, position: LogPosition): FollowStep {
  if (isBeforeBound(position)) return nextFrom(index, position, position.from);
  if (position.index !== null) return finishBlock(index, position, position.index);
  if (position.stage === "processed") return nextProcessed(index, position);
  const block = linked(index, position);
  if (block === null) return afterUnknown(index, position);
  if (!block.isOnChain || index.isOfDeadTree(block)) return undoTold(index, position, block);
  const { next } = block;
  if (next !== null && isReached(index, next, position.stage)) return tellNext(index, position, next);
  // The end of a tree that is not the newest one: it is dead, or what follows is missing.
  return next === null && index.isDead(block.header) ? undoTold(index, position, block) : wait;
}

/** Where one begins who has been told nothing: before the first event, at this block. */
export function positionAfter(
  index: ChainIndex,
  stage: Stage,
  { slot, blockhash, from = null }: BlockPlace & { readonly from?: Slot | null },
): LogPosition {
  const finalizedSlot = index.newest("finalized")?.slot ?? null;
  return { stage, slot, blockhash, index: null, finalizedSlot, gapTold: null, told: [], from };
}

/** Whether nothing that stands was told: what comes next is the first block from the bound on. */
export function isBeforeBound(position: LogPosition): position is LogPosition & { readonly from: Slot } {
  return position.from !== null && position.slot < position.from;
}

/**
 * The first block of the chain that has the slot or a later one; null where there is none yet. Before it something may
 * still be `missing`, or be `gone` for good.
 */
export function firstFrom(index: ChainIndex, slot: Slot): Block | "missing" | "gone" | null {
  if (slot < index.floor) return "gone";
  const { living } = index;
  const at = living.findIndex(({ tip }) => tip.slot >= slot);
  const tree = living[at];
  if (tree === undefined) return null;
  let first = tree.tip;
  while (first.parent !== null && first.parent.slot >= slot) first = first.parent;
  if (first.parent !== null || first.header.parentSlot < slot) return first;
  return living[at - 1] === undefined ? "gone" : "missing";
}

function nextFrom(index: ChainIndex, position: LogPosition, from: Slot): FollowStep {
  const first = firstFrom(index, from);
  if (first === "gone") return { kind: "expired" };
  if (first === null || first === "missing" || !isReached(index, first, position.stage)) return wait;
  return tellNext(index, position, first);
}

function linked(index: ChainIndex, place: BlockPlace): Block | null {
  const block = index.find(place);
  return block === undefined || block.tree === null || block.slot !== place.slot ? null : block;
}

function isReached(index: ChainIndex, block: Block, stage: Stage): boolean {
  if (stage !== "finalized") return true;
  const { finalized } = index.treeOf(block);
  return finalized !== null && block.slot <= finalized.slot;
}

/** The rest of a block of which a part was handled; it is the one that was told last. */
function finishBlock(index: ChainIndex, position: LogPosition, handled: number): FollowStep {
  const place = position.told.at(-1) ?? position;
  const whole = { ...position, index: null };
  const block = index.find(place);
  const isDropped = block?.tree === null ? index.isDead(place) : block?.isOnChain === false;
  if (block?.hasBody === true && !isDropped) return { kind: "block", block, skip: handled + 1, position: whole };
  // The rest of a block that was trimmed is gone, however whole the chain after it is.
  if (block === undefined && place.slot < index.floor) return { kind: "expired" };
  if (block === undefined && !index.isDead(place)) return wait;
  return nextStep(index, whole);
}

function tellNext(index: ChainIndex, position: LogPosition, block: Block): FollowStep {
  if (block.isAfterGap) {
    const whole = index.gapBefore(block);
    const from = position.from !== null && position.from > whole.from ? position.from : whole.from;
    const gap = { ...whole, from };
    if (from <= gap.to && (position.gapTold === null || position.gapTold < gap.to)) {
      return { kind: "gap", gap, position: { ...position, gapTold: gap.to } };
    }
  }
  return tell(index, position, block);
}

function tell(index: ChainIndex, position: LogPosition, block: Block): FollowStep {
  const { stage, told } = position;
  if (told.length === 0) {
    const place = { ...placeOf(block.header), from: boundAfter(index, position, block) };
    return { kind: "block", block, skip: 0, position: positionAfter(index, stage, place) };
  }
  // What was told last stands last in the list; the position moves on to it in the next step.
  const place = placeOf(block.header);
  return { kind: "block", block, skip: 0, position: { ...position, told: [...told, place] } };
}

/** A bound ends once the chain can no longer leave a block from there on. */
function boundAfter(index: ChainIndex, { stage, from }: LogPosition, block: Block): Slot | null {
  if (from === null || stage === "finalized") return null;
  const { finalized } = index.treeOf(block);
  return finalized !== null && finalized.slot >= from ? null : from;
}

/**
 * At stage finalized nothing of a dead block was told: it is where a follower began that asked for slots which were not
 * final then. It goes on with what is final after that slot.
 */
function afterDead(index: ChainIndex, position: LogPosition): FollowStep {
  let next = index.newest("finalized");
  if (next === null || next.slot <= position.slot) return wait;
  while (next.parent !== null && next.parent.slot > position.slot) next = next.parent;
  const isHeld = next.parent !== null || next.header.parentSlot <= position.slot;
  return isHeld ? tellNext(index, position, next) : { kind: "expired" };
}

/** Back to the parent, which is told or is where the follower began. */
function undoTold(index: ChainIndex, position: LogPosition, { header }: Block): FollowStep {
  if (position.stage === "finalized") return afterDead(index, position);
  const undo = { slot: header.slot, blockhash: header.blockhash };
  const block = index.find(undo);
  const back = block?.parent?.header ?? { slot: header.parentSlot, blockhash: header.parentBlockhash };
  return { kind: "undo", undo, back: placeOf(back), position: positionBack(position, back) };
}

/**
 * Of what was told below, that stands for sure which was final when what is undone was told. What has become final
 * since may be of another fork.
 */
function positionBack({ stage, finalizedSlot, from }: LogPosition, back: BlockPlace): LogPosition {
  return { ...placeOf(back), stage, index: null, finalizedSlot, gapTold: null, told: [], from };
}

const placeOf = ({ slot, blockhash }: BlockPlace): BlockPlace => ({ slot, blockhash });

/** The block of the position is not linked here: trimmed, lost, or told by a process before it was stored. */
function afterUnknown(index: ChainIndex, position: LogPosition): FollowStep {
  const root = index.rootAfter(position);
  if (root !== null) return isReached(index, root, position.stage) ? tell(index, position, root) : wait;
  if (position.slot < index.floor) return { kind: "expired" };
  if (index.isDead(position))
    return position.stage === "finalized" ? afterDead(index, position) : undoUnknown(index, position);
  const after = index.afterGapAround(position.slot);
  if (after === null || !isReached(index, after, position.stage)) return wait;
  const { header } = after;
  if (position.gapTold !== null && position.gapTold >= header.parentSlot) return tell(index, position, after);
  const gap = { ...index.gapBefore(after), from: (position.slot + 1n) as Slot };
  if (gap.from > gap.to) return tell(index, position, after);
  return { kind: "gap", gap, position: { ...position, gapTold: gap.to } };
}

/**
 * A block that is not held has no known parent: the follower goes back to what was final when it was told, or before
 * the first block where nothing was and the log is still whole.
 */
function undoUnknown(index: ChainIndex, position: LogPosition): FollowStep {
  const { finalizedSlot } = position;
  let back = index.newest("finalized");
  let first = back;
  while (back !== null && (finalizedSlot === null || back.slot > finalizedSlot || back.slot >= position.slot)) {
    first = back;
    back = back.parent;
  }
  if (back !== null) return undoTo(position, back.header);
  // Below a hole there is more of the chain, and with it where to go back to.
  if (first !== null && index.earliest !== first && first.slot > position.slot) return wait;
  if (first === null || finalizedSlot !== null || index.floor > 0n || first.slot > position.slot)
    return { kind: "expired" };
  return undoTo(position, { slot: first.header.parentSlot, blockhash: first.header.parentBlockhash });
}

function undoTo(position: LogPosition, back: BlockPlace): FollowStep {
  return { kind: "undo", undo: placeOf(position), back: placeOf(back), position: positionBack(position, back) };
}

/**
 * Blocks as they arrive, whatever their parents. The position is the last confirmed block that the follower knows;
 * those that were told above it are listed.
 */
function nextProcessed(index: ChainIndex, position: LogPosition): FollowStep {
  const { told } = position;
  const base = linked(index, position);
  if (base === null)
    return told.length > 0 && isLost(index, position) ? undoAbove(position) : afterUnknown(index, position);
  const isDead = index.isOfDeadTree(base) || (base.next === null && index.isDead(base.header));
  if (!base.isOnChain || isDead) {
    return told.length > 0 ? undoAbove(position) : undoTold(index, position, base);
  }
  const { next } = base;
  if (next !== null) {
    const passed = told.filter(({ slot, blockhash }) => slot <= next.slot && blockhash !== next.header.blockhash);
    if (passed.length > 0) return undoAbove({ ...position, told: passed }, told);
    const isTold = told.some(({ blockhash }) => blockhash === next.header.blockhash);
    if (!isTold) return tellNext(index, position, next);
    const rest = told.filter(({ blockhash }) => blockhash !== next.header.blockhash);
    return nextProcessed(index, { ...positionAfter(index, "processed", next.header), told: rest });
  }
  // One place is left for a confirmed block that is told before these.
  if (told.length >= toldMax - 1) return wait;
  const first = firstUntold(index, position);
  if (first === null) return wait;
  return { kind: "block", block: first, skip: 0, position: { ...position, told: [...told, placeOf(first.header)] } };
}

function isLost(index: ChainIndex, position: LogPosition): boolean {
  return position.slot < index.floor || index.isDead(position);
}

function firstUntold(index: ChainIndex, { slot, told }: LogPosition): Block | null {
  let first: Block | null = null;
  for (const block of index.processed.values()) {
    if (block.slot <= slot || (first !== null && block.slot >= first.slot)) continue;
    if (!told.some(({ blockhash }) => blockhash === block.header.blockhash)) first = block;
  }
  return first;
}

/** Undoes the highest of the told blocks that are named. */
function undoAbove(position: LogPosition, all = position.told): FollowStep {
  const undo = position.told.reduce((highest, each) => (each.slot > highest.slot ? each : highest));
  const told = all.filter(({ blockhash }) => blockhash !== undo.blockhash);
  return { kind: "undo", undo, back: placeOf(position), position: { ...position, told } };
}
