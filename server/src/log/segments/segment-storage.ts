import { mkdirSync, readdirSync, rmSync, truncateSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Clock, type Log, Serial, type Timer } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { StoredBody } from "../chain-index.ts";
import { LogError, newLogFileError } from "../errors.ts";
import type { LogEvents } from "../events.ts";
import { encodeHead, type StoredHead } from "../head-codec.ts";
import type { AppendOutcome, ChainIdentity } from "../records.ts";
import type { LogStorage, RecordReceiver } from "../storage.ts";
import { chainOfSegment, encodeSegmentHead, isSegmentOf, SegmentBody, scanSegment } from "./segment-file.ts";
import { SegmentWriter } from "./segment-writer.ts";

export interface SegmentStorageOptions {
  readonly network: string;
  readonly chain: ChainIdentity;
  /** The folder of this network's files. */
  readonly directory: string;
  /** Whether files of another chain are removed, as those of a development chain that was started anew. */
  readonly discardsOtherChain: boolean;
  /** Each batch of records is synced before it is acknowledged, or all of them at an interval. */
  readonly sync: "block" | "interval";
  /** How long blocks are kept that the ledger holds. */
  readonly retentionMs: number;
  /** Bytes of all files; beyond them the oldest go, whoever still wants them. */
  readonly bytesMax: number;
}

export interface SegmentStorageDependencies {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  readonly events: LogEvents;
  /** Holds a file for this process until it ends; null while another process holds it. */
  readonly lock: (path: string) => Disposable | null;
  /** Writes what a file holds to the disk; the system's when absent. */
  readonly dataSync?: (file: FileHandle) => Promise<void>;
}

interface Segment {
  readonly number: number;
  readonly path: string;
  bytes: number;
  /** The highest slot of a body in it; null without one. */
  slotMax: bigint | null;
  changedMs: number;
}

const nameForm = /^\d{12}\.segment$/;
const segmentBytes = 64 * 1024 * 1024;
const segmentsOfBytesMax = 16;
const segmentsOfRetention = 12;
const syncEveryMs = 200;
const trimEveryMs = 5_000;
/** How long the alarm of the last bound stays after its last use. */
const alarmMs = 600_000;

/** The log in files that are only appended to, of which whole ones are removed. One process has the directory. */
export class SegmentStorage implements LogStorage {
  readonly driver = "segments";
  readonly #options: SegmentStorageOptions;
  readonly #dependencies: SegmentStorageDependencies;
  readonly #receiver: RecordReceiver;
  readonly #lock: Disposable;
  readonly #writer: SegmentWriter;
  /** Oldest first; the last one is written to. */
  readonly #segments: Segment[] = [];
  readonly #trims = new Serial();
  readonly #timers: Timer[];
  #chain: ChainIdentity;
  #watermark = 0n;
  #floor = 0n as Slot;
  #overBoundMs = Number.NEGATIVE_INFINITY;
  #beganMs = 0;

  private constructor(
    options: SegmentStorageOptions,
    dependencies: SegmentStorageDependencies & { receiver: RecordReceiver; held: Disposable },
  ) {
    this.#options = options;
    this.#chain = options.chain;
    this.#dependencies = dependencies;
    this.#receiver = dependencies.receiver;
    this.#lock = dependencies.held;
    const { clock } = dependencies;
    this.#writer = new SegmentWriter(
      {
        syncsEach: options.sync === "block",
        segmentBytesMax: Math.min(segmentBytes, Math.ceil(options.bytesMax / segmentsOfBytesMax)),
      },
      {
        nextFile: () => this.#nextFile(),
        onWritten: (path, fileBytes, written) => this.#wrote(path, fileBytes, written),
        dataSync: dependencies.dataSync ?? ((file) => file.datasync()),
      },
    );
    this.#timers = [
      clock.every(trimEveryMs, () => this.#trimSoon()),
      ...(options.sync === "interval" ? [clock.every(syncEveryMs, () => this.#syncSoon())] : []),
    ];
  }

  /** @throws {LogError} LOCKED, CHAIN_DIFFERS, or that the files cannot be read */
  static async open(
    options: SegmentStorageOptions,
    dependencies: SegmentStorageDependencies & { receiver: RecordReceiver },
  ): Promise<SegmentStorage> {
    const { directory } = options;
    let held: Disposable | null = null;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      held = dependencies.lock(join(directory, "log.lock"));
    } catch (error) {
      throw newLogFileError(`The chain's log cannot use ${directory}`, error);
    }
    if (held === null) {
      throw new LogError("LOCKED", `The chain's log in ${directory} is in use by another process.`);
    }
    const storage = new SegmentStorage(options, { ...dependencies, held });
    try {
      storage.#readAll();
    } catch (error) {
      await storage[Symbol.asyncDispose]();
      throw newLogFileError(`The chain's log in ${directory} cannot be read`, error);
    }
    return storage;
  }

  get chain(): ChainIdentity {
    return this.#chain;
  }

  get bytesHeld(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async write(
    head: StoredHead,
    packed: Uint8Array | null,
  ): Promise<{ outcome: AppendOutcome; stored: StoredBody | null }> {
    const { path, at, sum } = await this.#writer.write(encodeHead(head), packed);
    if (head.kind !== "block" || packed === null) return { outcome: "stored", stored: null };
    const segment = this.#segments.find((each) => each.path === path);
    if (segment !== undefined) noteSlot(segment, head.header.slot);
    const stored = new SegmentBody(head.rawBytes, { path, at, bytes: packed.length, sum });
    return { outcome: "stored", stored };
  }

  setWatermark(slot: Slot): void {
    if (slot > this.#watermark) this.#watermark = slot;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    try {
      await this.#trims.idle();
      await this.#writer[Symbol.asyncDispose]();
    } finally {
      this.#lock[Symbol.dispose]();
    }
  }

  #readAll(): void {
    const { directory } = this.#options;
    const names = readdirSync(directory).filter((name) => nameForm.test(name));
    names.sort();
    let floor = 0n as Slot;
    if (this.#chain.firstBlockhash === null) this.#takeName(names.map((name) => join(directory, name)));
    this.#receiver.load(() => {
      for (const [index, name] of names.entries()) {
        this.#readSegment(join(directory, name), index === names.length - 1, (head) => {
          if (head.kind === "floor" && head.slot > floor) floor = head.slot;
        });
      }
    });
    this.#floor = floor;
  }

  /** The chain is that of the newest file which names its first block, unless its genesis is another one. */
  #takeName(paths: readonly string[]): void {
    const chains = paths.flatMap((path) => chainOfSegment(path) ?? []);
    const named = chains.findLast(({ firstBlockhash }) => firstBlockhash !== null);
    if (named?.genesisHash === this.#chain.genesisHash) this.#chain = named;
  }

  #readSegment(path: string, isLast: boolean, onHead: (head: StoredHead) => void): void {
    const { network, discardsOtherChain } = this.#options;
    const chain = this.#chain;
    const { log, events } = this.#dependencies;
    const number = numberOf(path);
    const segment: Segment = { number, path, bytes: 0, slotMax: null, changedMs: 0 };
    const scanned = scanSegment({ path, chain, checksBodies: isLast }, (head, body) => {
      onHead(head);
      if (head.kind === "block") noteSlot(segment, head.header.slot);
      this.#receiver.receive(head, body, null);
    });
    const { chainHead, wholeBytes, fileBytes, changedMs } = scanned;
    if (chainHead !== null && !isSegmentOf(chainHead, chain)) {
      if (!discardsOtherChain) {
        throw new LogError("CHAIN_DIFFERS", `The chain's log in ${this.#options.directory} is of another chain.`);
      }
      log.warn({ path }, "a file of the chain's log is of another chain and is removed");
      rmSync(path);
      return;
    }
    segment.changedMs = changedMs;
    segment.bytes = fileBytes;
    if (wholeBytes < fileBytes && isLast) {
      truncateSync(path, wholeBytes);
      segment.bytes = wholeBytes;
      events.logTailTorn(network);
      log.warn({ path, bytes: fileBytes - wholeBytes }, "the torn end of the chain's log was cut off");
    } else if (wholeBytes < fileBytes) {
      events.logDamaged(network);
      log.warn({ path, bytes: fileBytes - wholeBytes }, "a file of the chain's log is damaged; its rest is not read");
    }
    if (segment.bytes === 0) rmSync(path);
    else this.#segments.push(segment);
  }

  /** A start begins a new file, so that no file is written to by two processes. */
  #nextFile(): { path: string; head: string } {
    const number = (this.#segments.at(-1)?.number ?? 0) + 1;
    const path = join(this.#options.directory, `${String(number).padStart(12, "0")}.segment`);
    return { path, head: encodeSegmentHead(this.#chain) };
  }

  #wrote(path: string, fileBytes: number, written: number): void {
    const { clock, events } = this.#dependencies;
    let segment = this.#segments.at(-1);
    if (segment === undefined || segment.path !== path) {
      const number = numberOf(path);
      segment = { number, path, bytes: 0, slotMax: null, changedMs: 0 };
      this.#segments.push(segment);
      this.#beganMs = clock.now();
      this.#trimSoon();
    }
    segment.bytes = fileBytes;
    segment.changedMs = clock.now();
    if (segment.changedMs - this.#beganMs > this.#options.retentionMs / segmentsOfRetention) this.#writer.endFile();
    events.logWritten(this.#options.network, written);
  }

  #syncSoon(): void {
    this.#writer.sync().catch((error: unknown) => {
      this.#dependencies.log.warn({ error: String(error) }, "the chain's log cannot be synced");
    });
  }

  #trimSoon(): void {
    if (this.#trims.pending > 0) return;
    void this.#trims
      .run(() => this.#trim())
      .catch((error: unknown) => {
        this.#dependencies.log.warn({ error: String(error) }, "the chain's log cannot be trimmed");
      });
  }

  async #trim(): Promise<void> {
    const { network, bytesMax, retentionMs } = this.#options;
    const { clock, events, log } = this.#dependencies;
    const nowMs = clock.now();
    if (this.#segments.length === 1 && this.bytesHeld > bytesMax) this.#writer.endFile();
    const trimmed: Segment[] = [];
    let bytes = this.bytesHeld;
    for (const segment of this.#segments.slice(0, -1)) {
      const isDone = segment.slotMax === null || segment.slotMax < this.#watermark;
      const isOld = isDone && nowMs - segment.changedMs > retentionMs;
      if (!isOld && bytes <= bytesMax) break;
      if (!isOld) {
        this.#overBoundMs = nowMs;
        log.warn({ bytesMax, slotMax: String(segment.slotMax) }, "LOG_BYTES trims blocks that are still wanted");
      }
      trimmed.push(segment);
      bytes -= segment.bytes;
      events.logTrimmed(network, isOld ? "age" : "bytes");
    }
    if (trimmed.length > 0) await this.#remove(trimmed);
    events.logOverBound(network, nowMs - this.#overBoundMs < alarmMs);
  }

  /** The floor is written first: what is left below it in later files would not be linked with what is above. */
  async #remove(segments: readonly Segment[]): Promise<void> {
    const slots = segments.flatMap(({ slotMax }) => (slotMax === null ? [] : [slotMax]));
    const slotMax = slots.toSorted((left, right) => (left < right ? -1 : 1)).at(-1);
    if (slotMax !== undefined && slotMax >= this.#floor) {
      this.#floor = (slotMax + 1n) as Slot;
      this.#receiver.raiseFloor(this.#floor);
      try {
        await this.#writer.write(encodeHead({ kind: "floor", slot: this.#floor }), null);
      } catch {
        // On a full disk the removal is what makes room; the next trim writes a higher floor.
      }
    }
    for (const segment of segments) {
      await rm(segment.path, { force: true });
      this.#segments.splice(this.#segments.indexOf(segment), 1);
    }
  }
}

const numberOf = (path: string): number => Number.parseInt(basename(path), 10);

function noteSlot(segment: Segment, slot: Slot): void {
  if (segment.slotMax === null || slot > segment.slotMax) segment.slotMax = slot;
}
