import { type Clock, type Random, sleep } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockDigest, BlockSource, FetchedBlock, FetchedDigest, SourceBlock, SourceSink } from "../source.ts";

/** What a lying node changes; `order` is that of the transactions, and `withheld` is a block that it does not show. */
export type Lie = "signatures" | "order" | "parent" | "hash" | "invented" | "withheld";

/** A whole chain, of which nodes show a part by their heads. */
export interface NodeChain<Block> {
  readonly firstSlot: number;
  /** Slots from a node's newest slot to its confirmed and its finalized one. */
  readonly depths: { readonly confirmed: number; readonly finalized: number };
  readonly lieKinds: readonly Lie[];
  /** The block of a slot as a node shows it whose newest confirmed slot is `head`; null where it shows none. */
  blockAt(slot: number, head: number): Block | null;
  /** Whether the slot has a block in the end. */
  hasBlock(slot: number): boolean;
  /** A block that a node makes up. */
  invented(slot: number, node: string): Block;
  sourceBlock(block: Block, lie: Lie | null, isAltered: boolean): SourceBlock;
  digest(block: Block, lie: Lie | null): BlockDigest;
}

export interface NodeFaults {
  /** Slots behind the chain. */
  readonly lag: number;
  /** Shares of notices and of blocks by themselves that are lost, doubled or late by up to two seconds. */
  readonly lost: number;
  readonly doubled: number;
  readonly late: number;
  /** Whether blocks arrive by themselves. */
  readonly brings: boolean;
  /** The share of slots about which it lies, always in the same way. */
  readonly lies: number;
  /** The share of slots whose signatures it gives as they are, with other results. */
  readonly alters: number;
  /** Blocks so far below its head are gone. */
  readonly keeps: number;
  /** Whether it lists slots at all. */
  readonly lists: boolean;
  /** The share of questions that fail. */
  readonly failures: number;
}

export const wellNode: NodeFaults = {
  lag: 0,
  lost: 0,
  doubled: 0,
  late: 0,
  brings: false,
  lies: 0,
  alters: 0,
  keeps: 100_000,
  lists: true,
  failures: 0,
};

interface Shown<Block> {
  readonly block: Block;
  readonly lie: Lie | null;
}

/** One node over a simulated chain. `look` moves it on; each process has a source of its own on it. */
export class SimulatedNode<Block> {
  readonly label: string;
  readonly faults: NodeFaults;
  readonly #chain: NodeChain<Block>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #alteredSlots = new Map<number, boolean>();
  readonly #liesBySlot = new Map<number, Lie | null>();
  /** Slots of which no node has the block. */
  readonly #unavailable: ReadonlySet<number>;
  readonly #onAsked: (text: string) => void;
  isDown = false;
  /** Faults are over. */
  isHealed = false;
  newestSlot: number;

  constructor(
    { label, faults }: { readonly label: string; readonly faults: NodeFaults },
    dependencies: {
      readonly chain: NodeChain<Block>;
      readonly clock: Clock;
      readonly random: Random;
      readonly unavailable: ReadonlySet<number>;
      readonly onAsked: (text: string) => void;
    },
  ) {
    this.#onAsked = dependencies.onAsked;
    this.label = label;
    this.faults = faults;
    this.#chain = dependencies.chain;
    this.newestSlot = dependencies.chain.firstSlot;
    this.#clock = dependencies.clock;
    this.#random = dependencies.random;
    this.#unavailable = dependencies.unavailable;
  }

  get confirmed(): number {
    return this.newestSlot - this.#chain.depths.confirmed - (this.isHealed ? 0 : this.faults.lag);
  }

  get finalized(): number {
    const { confirmed, finalized } = this.#chain.depths;
    return this.confirmed - (finalized - confirmed);
  }

  get isWell(): boolean {
    return !this.isDown;
  }

  setDown(isDown: boolean): void {
    this.isDown = isDown;
  }

  draws(share: number): boolean {
    return !this.isHealed && this.#random.next() < share;
  }

  lateMs(): number {
    return this.draws(this.faults.late) ? this.#random.next() * 2_000 : 0;
  }

  lieAt(slot: number): Lie | null {
    if (this.faults.lies === 0) return null;
    const known = this.#liesBySlot.get(slot);
    if (known !== undefined) return known;
    const { lieKinds } = this.#chain;
    const kind = lieKinds[Math.floor(this.#random.next() * lieKinds.length)] ?? "hash";
    const lie = this.#random.next() < this.faults.lies ? kind : null;
    this.#liesBySlot.set(slot, lie);
    return lie;
  }

  /** Whether it gives the slot's block with other results, always the same. */
  altersAt(slot: number): boolean {
    if (this.faults.alters === 0) return false;
    const known = this.#alteredSlots.get(slot);
    if (known !== undefined) return known;
    const isAltered = this.#random.next() < this.faults.alters;
    this.#alteredSlots.set(slot, isAltered);
    return isAltered;
  }

  /** What it says is in a slot: a block with the lie about it, or nothing. */
  shown(slot: number): Shown<Block> | null {
    const block = this.#chain.blockAt(slot, this.confirmed);
    const lie = this.lieAt(slot);
    if (lie === "withheld") return null;
    if (block !== null) return this.#unavailable.has(slot) ? null : { block, lie: lie === "invented" ? null : lie };
    if (lie !== "invented" || slot > this.confirmed || slot <= this.#chain.firstSlot) return null;
    return { block: this.#chain.invented(slot, this.label), lie };
  }

  /** A block as it gives it. */
  given({ block, lie }: Shown<Block>, slot: number): SourceBlock {
    return this.#chain.sourceBlock(block, lie, this.altersAt(slot));
  }

  async fetchBlock(slot: Slot): Promise<FetchedBlock> {
    const answer = await this.#answer(Number(slot), this.confirmed);
    if (!("block" in answer)) return answer;
    return { kind: "present", block: this.given(answer, Number(slot)) };
  }

  async fetchDigest(slot: Slot, commitment: "confirmed" | "finalized"): Promise<FetchedDigest> {
    const answer = await this.#answer(Number(slot), commitment === "confirmed" ? this.confirmed : this.finalized);
    if (!("block" in answer)) return answer;
    return { kind: "present", digest: this.#chain.digest(answer.block, answer.lie) };
  }

  async fetchSlots(from: Slot, to: Slot): Promise<readonly Slot[] | null> {
    this.#onAsked(`${this.label} slots ${from} ${to}`);
    await this.#pause();
    if (this.isDown || !this.faults.lists || this.draws(this.faults.failures)) return null;
    const slots: Slot[] = [];
    const end = Math.min(Number(to), this.confirmed);
    for (let slot = Math.max(Number(from), this.#chain.firstSlot); slot <= end; slot += 1) {
      const isThere = this.#chain.blockAt(slot, this.confirmed) !== null;
      // A list of a liar lacks slots that have blocks, and has slots that have none.
      if (this.lieAt(slot) === null ? isThere : !isThere) slots.push(BigInt(slot) as Slot);
    }
    return slots;
  }

  async #answer(slot: number, head: number): Promise<Exclude<FetchedBlock, { kind: "present" }> | Shown<Block>> {
    this.#onAsked(`${this.label} block ${slot} ${head}`);
    await this.#pause();
    if (this.isDown || this.draws(this.faults.failures)) return { kind: "unavailable", reason: "failed" };
    if (slot > head) return { kind: "unavailable", reason: "refused" };
    if (!this.isHealed && slot < this.confirmed - this.faults.keeps) return { kind: "unavailable", reason: "pruned" };
    if (this.#unavailable.has(slot) && this.#chain.hasBlock(slot)) return { kind: "unavailable", reason: "refused" };
    const shown = this.shown(slot);
    return shown ?? { kind: "absent", code: -32_007 };
  }

  #pause(): Promise<void> {
    return sleep(this.#clock, 10 + this.#random.next() * 150);
  }
}

/** A process's source on a node. */
export class SimulatedSource<Block> implements BlockSource {
  readonly name: string;
  readonly node: string;
  readonly kind = "polling";
  readonly bringsBlocks: boolean;
  readonly #of: SimulatedNode<Block>;
  readonly #clock: Clock;
  #sink: SourceSink | null = null;
  #told: number;
  #isUp = false;

  constructor(node: SimulatedNode<Block>, dependencies: { readonly clock: Clock }) {
    this.#of = node;
    this.#clock = dependencies.clock;
    this.name = node.label;
    this.node = node.label;
    this.bringsBlocks = node.faults.brings;
    this.#told = node.confirmed - 1;
  }

  fetchBlock(slot: Slot): Promise<FetchedBlock> {
    return this.#of.fetchBlock(slot);
  }

  fetchDigest(slot: Slot, commitment: "confirmed" | "finalized"): Promise<FetchedDigest> {
    return this.#of.fetchDigest(slot, commitment);
  }

  fetchSlots(from: Slot, to: Slot): Promise<readonly Slot[] | null> {
    return this.#of.fetchSlots(from, to);
  }

  start(sink: SourceSink): void {
    this.#sink = sink;
  }

  /** Tells what is new. */
  look(): void {
    const sink = this.#sink;
    const node = this.#of;
    if (sink === null) return;
    if (node.isDown === this.#isUp) {
      this.#isUp = !node.isDown;
      if (this.#isUp) sink.up(this);
      else sink.down(this, "test");
      // What was told while it was down is missing.
      this.#told = Math.max(this.#told, node.confirmed - 1);
    }
    if (!this.#isUp) return;
    for (; this.#told < node.confirmed; this.#told += 1) this.#tell(this.#told + 1);
  }

  #tell(slot: number): void {
    const node = this.#of;
    const shown = node.shown(slot);
    if (shown === null) return;
    const times = node.draws(node.faults.doubled) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      if (!node.draws(node.faults.lost)) {
        this.#later(() => this.#sink?.slot(this, { slot: BigInt(slot) as Slot, parent: null, stage: "confirmed" }));
      }
      if (this.bringsBlocks && !node.draws(node.faults.lost)) {
        const block = node.given(shown, slot);
        this.#later(() => this.#sink?.block(this, { block, stage: "confirmed", arrivedMs: this.#clock.monotonic() }));
      }
    }
  }

  #later(tell: () => void): void {
    const lateMs = this.#of.lateMs();
    if (lateMs === 0) tell();
    else this.#clock.after(lateMs, tell);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sink = null;
  }
}
