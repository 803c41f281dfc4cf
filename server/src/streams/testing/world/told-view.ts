import { decodeCursor } from "../../../log/cursor.ts";
import type { StreamedChain, ToldSpec, WorldBlock } from "./streamed-chain.ts";

/** A message of `/ws` about a subscription, as JSON.parse reads it; slots of a world are small. */
export interface StreamMessage {
  readonly type: string;
  readonly subscriptionId: string;
  readonly slot: number;
  readonly cursor: string;
  readonly blockhash: string;
  readonly from: number;
  readonly to: number;
  readonly dropped: number;
  readonly from_slot: number;
  readonly back_to: number;
}

interface ToldItem {
  readonly block: WorldBlock;
  readonly index: number;
}

/** What was dropped since the last item, as the client was told. */
interface Lag {
  dropped: number;
  readonly fromSlot: number;
  /** Something was undone since, or it went on elsewhere: the count cannot be compared. */
  isOpen: boolean;
  /** The cursor lies behind what was dropped. */
  isPassed: boolean;
}

/** Behind every item of a block. */
const afterAll = Number.MAX_SAFE_INTEGER;

function ancestorsOf(block: WorldBlock): ReadonlySet<WorldBlock> {
  const found = new Set<WorldBlock>();
  for (let at: WorldBlock | null = block; at !== null; at = at.parent) found.add(at);
  return found;
}

/**
 * What a client makes of one subscription over all its connections: the items that stand. Each message is compared with
 * the chain as it comes; throws on one that cannot be.
 */
export class ToldView {
  readonly spec: ToldSpec;
  readonly #chain: StreamedChain;
  readonly #standing: ToldItem[] = [];
  readonly #from: bigint;
  /** Before the first item. */
  #start: WorldBlock;
  readonly #gaps = new Set<string>();
  #cursor: string;
  #lag: Lag | null = null;
  /** It has gone on elsewhere by its cursor, or without what was dropped: blocks may be undone that it has not. */
  #hasResumed = false;
  items = 0;
  undone = 0;
  gapsTold = 0;

  /** `from` is the slot that was asked for: nothing below it is told. */
  constructor({ spec, chain, from }: { spec: ToldSpec; chain: StreamedChain; from: bigint }, cursor: string) {
    this.spec = spec;
    this.#chain = chain;
    this.#from = from;
    this.#cursor = cursor;
    this.#start = this.#placeOf(cursor).block;
  }

  /** Where it goes on. */
  get cursor(): string {
    return this.#cursor;
  }

  get isLagging(): boolean {
    return this.#lag !== null;
  }

  /** The slot of the block after which it began. */
  get startSlot(): bigint {
    return this.#start.header.slot;
  }

  /** It goes on by its own cursor: what was dropped is told. */
  resumed(): void {
    this.#hasResumed = true;
    if (this.#lag?.isPassed === true) this.#lag.isOpen = true;
    else this.#lag = null;
  }

  /** The process that ends says where it goes on; what was dropped before stays dropped. */
  moved(cursor: string): void {
    this.#placeOf(cursor);
    this.#cursor = cursor;
    if (this.#lag !== null) this.#lag.isPassed = true;
  }

  take(message: StreamMessage, text: string): void {
    if (message.type === "lagged") this.#lagged(message);
    else if (message.type === "cursor") this.#quiet(message);
    else {
      if (message.type === "undo") this.#undo(message);
      else if (message.type === "gap") this.#gap(message);
      else this.#item(message, text);
      if (this.#lag !== null) this.#lag.isPassed = true;
      this.#cursor = message.cursor;
    }
  }

  /** Nothing of it lies before the cursor. */
  #quiet({ cursor, slot }: StreamMessage): void {
    const { block } = this.#placeOf(cursor);
    if (block.header.slot !== BigInt(slot)) throw new Error(`the cursor of ${slot} is of ${block.header.slot}`);
    if (this.#lag === null) {
      const between = this.#between({ block, index: afterAll });
      if (between === null) throw new Error(`the cursor of ${slot} comes after ${this.#lastText()}, which died`);
      if (between.length > 0) throw new Error(`${between.length} items are missing before the cursor of ${slot}`);
    }
    this.moved(cursor);
  }

  #placeOf(cursor: string): ToldItem & { readonly isWhole: boolean } {
    const { spec } = this;
    const place = decodeCursor(cursor, { network: "devnet", chain: this.#chain.identity });
    if (place === null || place.stage !== spec.commitment)
      throw new Error(`no cursor of ${spec.commitment}: ${cursor}`);
    const block = this.#chain.blocks.get(place.blockhash) ?? this.#chain.root;
    return { block, index: place.index ?? 0, isWhole: place.index === null };
  }

  #item(message: StreamMessage, text: string): void {
    const { spec } = this;
    const { block, index, isWhole } = this.#placeOf(message.cursor);
    const isOfBlocks = spec.channel === "blocks" || spec.channel === "slots";
    if (isWhole !== isOfBlocks) throw new Error(`the cursor of an item of ${message.slot} is of another form`);
    if (BigInt(message.slot) !== block.header.slot) throw new Error(`${message.slot} has the cursor of another slot`);
    if (!text.endsWith(`,"data":${this.#chain.data(block, index, spec)}}`)) {
      throw new Error(`the data of ${message.slot}/${index} differs: ${text}`);
    }
    const item = { block, index };
    this.#isAsked(message.slot);
    if (!this.#chain.items(block, spec).includes(index)) throw new Error(`${this.#text(item)} is not asked for`);
    this.#follow(item);
    this.#standing.push(item);
    this.items += 1;
  }

  #isAsked(slot: number): void {
    if (BigInt(slot) < this.#from) throw new Error(`${slot} is told, and ${this.#from} was asked for`);
  }

  /** The item is the next one after the last that stands. */
  #follow(item: ToldItem): void {
    const lag = this.#lag;
    this.#lag = null;
    if (lag?.isOpen === true) {
      this.#beginAnew(item);
      return;
    }
    const between = this.#between(item);
    if (between === null) throw new Error(`${this.#text(item)} comes after ${this.#lastText()}, which died`);
    if (lag === null && between.length > 0) {
      throw new Error(`${this.#text(item)} comes after ${this.#lastText()}: ${between.length} items are missing`);
    }
    if (lag === null) return;
    const first = between[0];
    if (between.length !== lag.dropped || Number(first?.block.header.slot) !== lag.fromSlot) {
      const found = `${between.length} from ${first?.block.header.slot}`;
      throw new Error(`${found} are missing before ${this.#text(item)}, told are ${lag.dropped} from ${lag.fromSlot}`);
    }
    this.#beginAnew(item);
  }

  /** What was dropped stays unknown. */
  #beginAnew({ block }: ToldItem): void {
    this.#standing.splice(0);
    this.#start = block;
    this.#hasResumed = true;
  }

  /** The items between the last that stands and another; null where the last one is not on its chain. */
  #between(to: ToldItem): readonly ToldItem[] | null {
    const last = this.#standing.at(-1);
    const before = last === undefined ? ancestorsOf(this.#start) : null;
    if (before?.has(to.block) === true && to.index !== afterAll) return this.#cameAgain(to, before);
    const found: ToldItem[] = [];
    for (let at: WorldBlock | null = to.block; at !== null; at = at.parent) {
      const isTo = at === to.block;
      if (before?.has(at) === true) return found.reverse();
      const isAsked = at.header.slot >= this.#from;
      const after = at === last?.block ? last.index : -1;
      if (isTo && to.index <= after) throw new Error(`${this.#text(to)} comes after ${this.#lastText()}`);
      const between = this.#chain
        .items(at, this.spec)
        .filter((index) => isAsked && index > after && (!isTo || index < to.index));
      for (const index of between.toReversed()) found.push({ block: at, index });
      if (at === last?.block) return found.reverse();
      if (at.isUnavailable && isAsked) this.#needsGap(at);
    }
    return null;
  }

  /**
   * The block after which it began died and has come back by a second fork: all after where the first one left the
   * chain is new to it. Gives what is missing before the item there.
   */
  #cameAgain(to: ToldItem, before: ReadonlySet<WorldBlock>): readonly ToldItem[] {
    const { spec } = this;
    const isLeft = (at: WorldBlock): boolean =>
      [...this.#chain.blocks.values()].some((block) => block.parent === at && !before.has(block));
    const found = this.#chain.items(to.block, spec).filter((index) => index < to.index);
    if (found.length > 0) return found.map((index) => ({ block: to.block, index }));
    for (let at = to.block.parent; at !== null; at = at.parent) {
      if (isLeft(at)) {
        this.#start = at;
        return [];
      }
      if (at.header.slot >= this.#from && this.#chain.items(at, spec).length > 0) break;
    }
    throw new Error(`${this.#text(to)} comes after ${this.#lastText()}`);
  }

  #needsGap({ header: { slot } }: WorldBlock): void {
    const isTold = [...this.#gaps].some((text) => {
      const [from, to] = text.split("-").map(Number);
      return Number(slot) >= (from ?? 0) && Number(slot) <= (to ?? 0);
    });
    if (!isTold) throw new Error(`${slot} is not told to be a gap`);
  }

  #undo({ blockhash, slot, cursor, back_to: backTo }: StreamMessage): void {
    this.undone += 1;
    this.#isAsked(slot);
    this.#placeOf(cursor);
    if (this.spec.commitment === "finalized") throw new Error(`what is finalized is undone: ${slot}`);
    if (this.#lag !== null) this.#lag.isOpen = true;
    if (backTo >= slot) throw new Error(`${slot} is undone, and ${backTo} stands`);
    const isOf = ({ block }: ToldItem): boolean => block.header.blockhash === blockhash;
    const undone = this.#standing.filter(({ block }) => block.header.slot > BigInt(backTo));
    const isAlone = this.#standing.some(isOf) && undone.every(isOf);
    // A process that does not know what another one sent takes more back than it names.
    if (!isAlone && !this.#hasResumed && this.#lag === null) {
      throw new Error(`${slot} is undone down to ${backTo}, and ${undone.length} items stand above that`);
    }
    this.#standing.splice(this.#standing.length - undone.length);
    if (this.#standing.some(isOf)) throw new Error(`${slot} is undone, and stands below ${backTo}`);
  }

  #gap({ from, to, cursor }: StreamMessage): void {
    this.#placeOf(cursor);
    this.#isAsked(from);
    this.gapsTold += 1;
    const text = `${from}-${to}`;
    if (this.#gaps.has(text)) throw new Error(`the gap ${text} is told twice`);
    this.#gaps.add(text);
    const isReal = this.#chain.standing.some(
      ({ isUnavailable, header: { slot } }) => isUnavailable && slot >= BigInt(from) && slot <= BigInt(to),
    );
    if (!isReal) throw new Error(`the gap ${text} is told, and there is none`);
  }

  #lagged({ dropped, from_slot: fromSlot }: StreamMessage): void {
    if (dropped <= 0) throw new Error("nothing is told to be dropped");
    if (this.#lag === null) this.#lag = { dropped, fromSlot, isOpen: false, isPassed: false };
    else this.#lag.dropped += dropped;
  }

  /** All that the chain has for it up to a block was told; throws where it was not. */
  verify(tip: WorldBlock): void {
    if (this.#lag !== null) return;
    const missing = this.#between({ block: tip, index: afterAll });
    if (missing === null) throw new Error(`${this.#lastText()} stands in the end, and died`);
    if (missing.length > 0) throw new Error(`after ${this.#lastText()} ${missing.length} items are missing in the end`);
  }

  /** Whether all up to a block was told. */
  isUpTo(tip: WorldBlock): boolean {
    try {
      this.verify(tip);
      return true;
    } catch {
      return false;
    }
  }

  #lastText(): string {
    const last = this.#standing.at(-1);
    return last === undefined ? `the start at ${this.#start.header.slot}` : this.#text(last);
  }

  #text({ block, index }: ToldItem): string {
    return `${block.header.slot}/${index} (${block.header.blockhash.slice(0, 5)})`;
  }
}
