import type { Network } from "@sluice/contract/tiers";
import { type Clock, invariant, type Timer } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { BlockFollower, type FollowedLog, isNowhere, positionBefore } from "./block-follower.ts";
import { BodyTail } from "./body-tail.ts";
import { type Block, ChainIndex, type StoredBody } from "./chain-index.ts";
import { type CursorChain, decodeCursor, encodeCursor, type LogPosition } from "./cursor.ts";
import { LogError } from "./errors.ts";
import type { LogEvents } from "./events.ts";
import { isGap, isHeader, type StoredHead } from "./head-codec.ts";
import { pack } from "./packing.ts";
import {
  type AppendOutcome,
  type BlockHeader,
  type BlockPlace,
  bodyBytesMax,
  type ChainIdentity,
  type ChainLog,
  type CursorPlace,
  type FollowOptions,
  type FollowOutcome,
  type GapRecord,
  type HeldBlock,
  type Hole,
  isSameChain,
  type LogRecord,
  type Stage,
  stages,
} from "./records.ts";
import { firstFrom, isBeforeBound, nextStep, positionAfter } from "./steps.ts";
import type { LogStorage, RecordReceiver } from "./storage.ts";

export interface StoredChainLogOptions {
  readonly network: Network;
  readonly chain: ChainIdentity;
  /** Bytes of the newest bodies in memory, from which followers read. */
  readonly tailBytesMax: number;
  /** Bytes of bodies that may wait to be stored; beyond that appends are refused. */
  readonly pendingBytesMax: number;
}

export interface StoredChainLogDependencies {
  readonly clock: Clock;
  readonly events: LogEvents;
  /** Opens what the driver keeps, and hands what it holds to the receiver. */
  readonly openStorage: (receiver: RecordReceiver) => Promise<LogStorage>;
}

const measureEveryMs = 1_000;

/** The log over any storage: who appends and who follows meet in the index of headers and the tail in memory. */
export class StoredChainLog implements ChainLog, RecordReceiver, FollowedLog {
  readonly index = new ChainIndex();
  readonly clock: Clock;
  readonly #options: StoredChainLogOptions;
  readonly #events: LogEvents;
  readonly #tail: BodyTail;
  readonly #followers = new Set<BlockFollower>();
  /** What is being stored of each block, by its hash: one record after the other. */
  readonly #storing = new Map<string, Promise<unknown>>();
  readonly #reads = new Map<Block, Promise<Uint8Array | null>>();
  readonly #storedGaps = new Set<string>();
  #wake = Promise.withResolvers<void>();
  #pendingBytes = 0;
  #storage: LogStorage | null = null;
  #of: CursorChain;
  #measuring: Timer | null = null;
  #isClosed = false;

  private constructor(options: StoredChainLogOptions, dependencies: StoredChainLogDependencies) {
    this.#options = options;
    this.#of = { network: options.network, chain: options.chain };
    this.clock = dependencies.clock;
    this.#events = dependencies.events;
    this.#tail = new BodyTail(options.tailBytesMax, {
      isStoring: (block) => this.#storing.has(block.header.blockhash),
      onLost: (block) => this.index.dropBody(block),
    });
  }

  /** @throws {LogError} as the storage does */
  static async open(options: StoredChainLogOptions, dependencies: StoredChainLogDependencies): Promise<StoredChainLog> {
    const log = new StoredChainLog(options, dependencies);
    const storage = await dependencies.openStorage(log);
    log.#storage = storage;
    log.#of = { network: options.network, chain: storage.chain };
    log.#measuring = dependencies.clock.every(measureEveryMs, () => log.#measure());
    log.#measure();
    return log;
  }

  get driver(): ChainLog["driver"] {
    return this.#open().driver;
  }

  get network(): Network {
    return this.#options.network;
  }

  get of(): CursorChain {
    return this.#of;
  }

  get chain(): ChainIdentity {
    return this.#of.chain;
  }

  async append(record: LogRecord): Promise<AppendOutcome> {
    const storage = this.#open();
    try {
      const outcome = await (record.kind === "gap"
        ? this.#appendGap(storage, record)
        : this.#appendBlock(storage, record));
      this.#events.logAppended(this.network, kindOf(record), outcome);
      return outcome;
    } catch (error) {
      this.#events.logAppended(this.network, kindOf(record), "failed");
      throw error;
    }
  }

  follow({ stage, from }: FollowOptions): FollowOutcome {
    this.#open();
    const position = this.#begin(stage, from);
    if (position === "invalid") return { ok: false, code: "CURSOR_INVALID" };
    if (position === "expired") {
      return { ok: false, code: "CURSOR_EXPIRED", firstSlot: this.index.earliest?.slot ?? null };
    }
    const follower = new BlockFollower(this, position);
    this.#followers.add(follower);
    return { ok: true, follower };
  }

  placeOf(cursor: string, stage: Stage): CursorPlace | null {
    const position = decodeCursor(cursor, this.of);
    return position?.stage === stage ? position : null;
  }

  cursorAfter(stage: Stage, place: BlockPlace, from: Slot | null = null): string {
    return encodeCursor(positionAfter(this.index, stage, { ...place, from }), this.of);
  }

  earliest(): BlockPlace | null {
    return placeOf(this.index.earliest);
  }

  latest(stage: Stage): BlockPlace | null {
    return placeOf(this.index.newest(stage));
  }

  find(place: BlockPlace): HeldBlock | null {
    const block = this.index.find(place);
    if (block === undefined || block.slot !== place.slot || !block.hasBody) return null;
    const stage = block.isFinalized ? "finalized" : block.isConfirmed ? "confirmed" : "processed";
    return { header: block.header, stage };
  }

  async read(place: BlockPlace): Promise<Uint8Array | null> {
    this.#open();
    const block = this.index.find(place);
    if (block === undefined || block.slot !== place.slot) return null;
    return block.body ?? (await this.bodyOf(block));
  }

  holes(): readonly Hole[] {
    return this.index.holes;
  }

  reached(stage: Exclude<Stage, "processed">): BlockPlace | null {
    const lowest = this.index.living[0];
    return placeOf((stage === "confirmed" ? lowest?.tip : lowest?.finalized) ?? null);
  }

  setWatermark(slot: Slot): void {
    this.#open().setWatermark(slot);
  }

  receive(head: StoredHead, stored: StoredBody | null, body: Uint8Array | null): void {
    if (head.kind === "floor") this.raiseFloor(head.slot);
    else if (head.kind === "gap") {
      this.#storedGaps.add(gapKey(head));
      this.index.addGap(head);
    } else {
      const block = this.index.blockOf(head.header);
      if (block === null) return;
      if (head.kind === "stage") {
        setStage(block, head.stage);
        setStored(block, head.stage);
      } else {
        block.stored = stored;
        if (body !== null && block.body === null) this.#hold(block, body);
      }
      this.index.changed(block);
    }
    this.#changed();
  }

  load(work: () => void): void {
    this.index.load(work);
    this.#changed();
  }

  raiseFloor(slot: Slot): void {
    this.index.raiseFloor(slot);
    this.#tail.forgetBelow(slot);
    this.#changed();
  }

  changed(): Promise<void> {
    return this.#wake.promise;
  }

  async bodyOf(block: Block): Promise<Uint8Array | null> {
    const { stored } = block;
    if (stored === null) return null;
    let reading = this.#reads.get(block);
    if (reading === undefined) {
      reading = stored.read().finally(() => this.#reads.delete(block));
      this.#reads.set(block, reading);
    }
    const body = await reading;
    if (body === null && block.stored === stored && block.slot >= this.index.floor) {
      this.#events.logDamaged(this.network);
      this.index.dropBody(block);
    }
    return body;
  }

  left(follower: BlockFollower): void {
    this.#followers.delete(follower);
    this.#changed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#measuring?.cancel();
    for (const follower of [...this.#followers]) await follower.return();
    await Promise.allSettled([...this.#storing.values(), ...this.#reads.values()]);
    await this.#storage?.[Symbol.asyncDispose]();
  }

  #open(): LogStorage {
    if (this.#isClosed || this.#storage === null) throw new LogError("CLOSED", "The chain's log is closed.");
    return this.#storage;
  }

  #begin(stage: Stage, from: FollowOptions["from"]): LogPosition | "invalid" | "expired" {
    const { index } = this;
    if (from === "earliest") return positionBefore(index, stage);
    if (from === "latest") {
      const newest = index.newest(stage === "processed" ? "confirmed" : stage);
      return newest === null ? positionBefore(index, stage) : positionAfter(index, stage, newest.header);
    }
    if ("slot" in from) return this.#beginAt(stage, from);
    const position = decodeCursor(from.cursor, this.of);
    if (position === null || position.stage !== stage) return "invalid";
    const block = index.find(position);
    if (block !== undefined && block.slot !== position.slot) return "invalid";
    const isCut = position.index !== null && index.find(position.told.at(-1) ?? position) === undefined;
    const isGone =
      !isBeforeBound(position) && position.slot < index.floor && (isCut || index.rootAfter(position) === null);
    if (isGone && (!isNowhere(position) || index.floor > 0n)) return "expired";
    // A dead block of which nothing tells where to go back to: the follower would be told no more than this.
    return nextStep(index, position).kind === "expired" ? "expired" : position;
  }

  /** Before the first block of the chain that has the slot or a later one. */
  #beginAt(
    stage: Stage,
    { slot, isBound = false }: Extract<FollowOptions["from"], { slot: Slot }>,
  ): LogPosition | "expired" {
    const { index } = this;
    const from = isBound && stage !== "processed" ? slot : null;
    const first = firstFrom(index, slot);
    if (first === "gone") return "expired";
    if (first === null) {
      const { latest } = index;
      const begin = latest === null ? positionBefore(index, stage) : positionAfter(index, stage, latest.tip.header);
      return { ...begin, from };
    }
    if (first !== "missing") {
      const { parentSlot, parentBlockhash } = first.header;
      const before = first.parent?.header ?? { slot: parentSlot, blockhash: parentBlockhash };
      return positionAfter(index, stage, { ...before, from });
    }
    // What is missing before the block may still come.
    const below = index.living.findLast(({ tip }) => tip.slot < slot);
    invariant(below !== undefined, "below what is missing something is held");
    return positionAfter(index, stage, { ...below.tip.header, from });
  }

  async #appendGap(storage: LogStorage, gap: GapRecord): Promise<AppendOutcome> {
    if (!isGap(gap)) throw new LogError("RECORD_INVALID", "A gap has slots in order and a reason.");
    const key = gapKey(gap);
    if (this.#storedGaps.has(key) || gap.to < this.index.floor) return "repeat";
    if (this.index.addGap(gap)) this.#changed();
    return this.#inTurn(key, async () => {
      if (this.#storedGaps.has(key)) return "repeat";
      const { outcome } = await storage.write(gap, null);
      this.#storedGaps.add(key);
      return outcome;
    });
  }

  async #appendBlock(storage: LogStorage, record: Exclude<LogRecord, GapRecord>): Promise<AppendOutcome> {
    this.#check(record);
    const block = this.index.blockOf(record.header);
    // What was trimmed was stored once.
    if (block === null) return "repeat";
    if (!isSameHeader(block.header, record.header)) {
      throw new LogError("RECORD_DIFFERS", "Two records of one block differ in what the chain determines.");
    }
    const body = record.kind === "block" && block.stored === null ? record.body : null;
    if (body !== null && this.#pendingBytes + body.length > this.#options.pendingBytesMax) {
      throw new LogError("OVERLOADED", "Too many blocks wait to be stored.");
    }
    if (body !== null && block.body === null) this.#hold(block, body);
    if (record.stage !== "processed") setStage(block, record.stage);
    this.index.changed(block);
    this.#changed();
    this.#pendingBytes += body?.length ?? 0;
    try {
      return await this.#inTurn(block.header.blockhash, () =>
        this.#store({ storage, block, body, stage: record.stage }),
      );
    } finally {
      this.#pendingBytes -= body?.length ?? 0;
    }
  }

  /** Both records of a new block are handed to the storage together, so that they wait for one sync. */
  async #store(of: {
    storage: LogStorage;
    block: Block;
    body: Uint8Array | null;
    stage: Stage;
  }): Promise<AppendOutcome> {
    const { storage, block, body, stage } = of;
    const { header } = block;
    const writes: Promise<AppendOutcome>[] = [];
    const packed = body === null || block.stored !== null ? null : await pack(body);
    if (body !== null && packed !== null) {
      const head = { kind: "block", header, rawBytes: body.length } as const;
      writes.push(
        storage.write(head, packed).then(({ outcome, stored }) => {
          block.stored = stored;
          if (!block.hasBody || block.tree === null) this.index.changed(block);
          return outcome;
        }),
      );
    }
    if (stage !== "processed" && !isStored(block, stage)) {
      const head = { kind: "stage", header, stage } as const;
      writes.push(
        storage.write(head, null).then(({ outcome }) => {
          setStored(block, stage);
          return outcome;
        }),
      );
    }
    const settled = await Promise.allSettled(writes);
    for (const each of settled) if (each.status === "rejected") throw each.reason;
    return settled.some((each) => each.status === "fulfilled" && each.value === "stored") ? "stored" : "repeat";
  }

  async #inTurn(key: string, work: () => Promise<AppendOutcome>): Promise<AppendOutcome> {
    const before = this.#storing.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    this.#storing.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#storing.get(key) === own) this.#storing.delete(key);
    }
  }

  #check(record: Exclude<LogRecord, GapRecord>): void {
    const { header } = record;
    if (!isSameChain(header.chain, this.chain)) {
      throw new LogError("CHAIN_DIFFERS", "The block is of another chain than the log.");
    }
    const isTooLarge = record.kind === "block" && record.body.length > bodyBytesMax;
    if (!isHeader(header) || isTooLarge || !stages.includes(record.stage)) {
      throw new LogError("RECORD_INVALID", "The block's header or the size of its body cannot be.");
    }
  }

  #hold(block: Block, body: Uint8Array): void {
    invariant(block.body === null, "a body is held once");
    block.body = body;
    this.#tail.add(block);
  }

  #changed(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  #measure(): void {
    const followers = Object.fromEntries(stages.map((stage) => [stage, 0]));
    let lagSlots = 0;
    for (const follower of this.#followers) {
      followers[follower.stage] = (followers[follower.stage] ?? 0) + 1;
      lagSlots = Math.max(lagSlots, follower.lagSlots);
    }
    const bytesHeld = this.#storage?.bytesHeld ?? 0;
    this.#events.logMeasured(this.network, { bytesHeld, pendingBytes: this.#pendingBytes, followers, lagSlots });
  }
}

const kindOf = (record: LogRecord): string => (record.kind === "stage" ? record.stage : record.kind);
const gapKey = ({ from, to }: GapRecord): string => `gap ${from} ${to}`;

function placeOf(block: Block | null): BlockPlace | null {
  return block === null ? null : { slot: block.slot, blockhash: block.header.blockhash };
}

function setStage(block: Block, stage: "confirmed" | "finalized"): void {
  block.isConfirmed = true;
  if (stage === "finalized") block.isFinalized = true;
}

function setStored(block: Block, stage: "confirmed" | "finalized"): void {
  if (stage === "confirmed") block.isConfirmedStored = true;
  else block.isFinalizedStored = true;
}

function isStored(block: Block, stage: "confirmed" | "finalized"): boolean {
  return stage === "confirmed" ? block.isConfirmedStored : block.isFinalizedStored;
}

/** Time and height may be left out by nodes, so they are not compared. */
function isSameHeader(one: BlockHeader, other: BlockHeader): boolean {
  return (
    one.slot === other.slot &&
    one.parentSlot === other.parentSlot &&
    one.parentBlockhash === other.parentBlockhash &&
    one.transactions === other.transactions
  );
}
