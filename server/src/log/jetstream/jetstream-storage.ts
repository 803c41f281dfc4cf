import { createHash } from "node:crypto";
import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  StorageType,
  type StreamInfo,
} from "@nats-io/jetstream";
import { type NatsConnection, headers as newHeaders } from "@nats-io/transport-node";
import type { Network } from "@sluice/contract/tiers";
import { BoundedMap, type Clock, type Log, SingleFlight, type Timer } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { LogAddress } from "../../config/index.ts";
import type { StoredBody } from "../chain-index.ts";
import { LogError } from "../errors.ts";
import type { LogEvents } from "../events.ts";
import { decodeChain, decodeHead, encodeChain, encodeHead, type StoredHead } from "../head-codec.ts";
import { unpack } from "../packing.ts";
import { type AppendOutcome, type ChainIdentity, isSameChain } from "../records.ts";
import type { LogStorage, RecordReceiver } from "../storage.ts";
import { connectToNats } from "./nats-connection.ts";
import { headers, layoutOf, partIn, partSubject, partsSubject, type StreamLayout, subjectOf } from "./stream-layout.ts";
import { StreamReader, type StreamReading } from "./stream-reader.ts";

export interface JetStreamOptions {
  readonly network: Network;
  readonly chain: ChainIdentity;
  readonly address: LogAddress;
  readonly discardsOtherChain: boolean;
  readonly retentionMs: number;
  readonly bytesMax: number;
}

export interface JetStreamDependencies {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  readonly events: LogEvents;
  readonly receiver: RecordReceiver;
}

/** What a server needs no longer than; a leader's death takes 4 to 9 seconds (measured on three servers). */
const publishMs = 5_000;
const checkEveryMs = 2_000;
/** A stream that gives nothing for so long while it is read at a start is away, or was emptied meanwhile. */
const loadSilenceMs = 20_000;
const alarmMs = 600_000;
/** Bytes that a message may have beside its body. */
const headRoomBytes = 8_192;
const ownMax = 512;
/** Bodies in parts of which it is remembered where they begin: more than a stream of 20 GB has. */
const dividedMax = 32_768;
/** "wrong last sequence": the subject has a message already, whichever was last. */
const repeatCodes = new Set([10_071, 10_164]);

/** A block's record, by the order in which the stream has it. */
interface PlacedBlock {
  /** Of the first message of it: the first part of its body, else its head. 0 when that was trimmed already. */
  readonly sequence: number;
  readonly slot: Slot;
  readonly atMs: number;
}

/** The log in a stream of NATS JetStream, which several processes write and read. */
export class JetStreamStorage implements LogStorage {
  readonly driver = "jetstream";
  readonly #options: JetStreamOptions;
  readonly #dependencies: JetStreamDependencies;
  readonly #connection: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #layout: StreamLayout;
  readonly #reader: StreamReader;
  readonly #checks = new SingleFlight(() => this.#check());
  /** Blocks whose body this process has, so that it need not unpack what it has published. */
  readonly #own = new BoundedMap<string, true>({ max: ownMax });
  /** The sequence of the first part of each body in parts, by the subject of its parts. */
  readonly #divided = new BoundedMap<string, number>({ max: dividedMax });
  #chain: ChainIdentity;
  #placed: PlacedBlock[] = [];
  #consuming: Promise<void> | null = null;
  #timer: Timer | null = null;
  #created = "";
  #lastSequence = 0;
  #floor = 0n as Slot;
  #watermark = 0n;
  #overBoundMs = Number.NEGATIVE_INFINITY;
  #bytes = 0;

  private constructor(
    options: JetStreamOptions,
    dependencies: JetStreamDependencies,
    connected: { connection: NatsConnection; manager: JetStreamManager },
  ) {
    this.#options = options;
    this.#chain = options.chain;
    this.#dependencies = dependencies;
    this.#connection = connected.connection;
    this.#manager = connected.manager;
    this.#client = jetstream(connected.connection, { timeout: publishMs });
    this.#layout = layoutOf(options.network, options.address.prefix);
    this.#reader = this.#readerOf({ from: () => this.#lastSequence + 1, headersOnly: false, ahead: 8 });
  }

  /** @throws {LogError} UNAVAILABLE, CHAIN_DIFFERS */
  static async open(options: JetStreamOptions, dependencies: JetStreamDependencies): Promise<JetStreamStorage> {
    const connection = await connectToNats(options.address);
    try {
      const manager = await jetstreamManager(connection, { timeout: publishMs });
      const storage = new JetStreamStorage(options, dependencies, { connection, manager });
      await storage.#start();
      return storage;
    } catch (error) {
      await connection.close();
      if (error instanceof LogError) throw error;
      throw new LogError("UNAVAILABLE", `The stream of the chain's log cannot be opened: ${String(error)}`, error);
    }
  }

  get chain(): ChainIdentity {
    return this.#chain;
  }

  get bytesHeld(): number {
    return this.#bytes;
  }

  async write(
    head: StoredHead,
    packed: Uint8Array | null,
  ): Promise<{ outcome: AppendOutcome; stored: StoredBody | null }> {
    const subject = subjectOf(this.#layout, head);
    const message = newHeaders();
    message.set(headers.head, encodeHead(head));
    let payload = packed ?? new Uint8Array(0);
    if (head.kind === "block") this.#own.set(head.header.blockhash, true);
    try {
      const partBytes = (this.#connection.info?.max_payload ?? 1024 * 1024) - headRoomBytes;
      if (payload.length > partBytes) {
        // The head is published last, when all that it names is stored.
        message.set(headers.parts, await this.#publishParts(subject, payload, partBytes));
        payload = new Uint8Array(0);
      }
      const outcome = await this.#publish(subject, payload, message);
      if (outcome === "stored") this.#dependencies.events.logWritten(this.#options.network, packed?.length ?? 0);
      const stored = head.kind === "block" ? this.#bodyOf(subject, head.rawBytes) : null;
      return { outcome, stored };
    } catch (error) {
      if (error instanceof LogError) throw error;
      const code = error instanceof JetStreamApiError && error.code === 10_047 ? "DISK_FULL" : "UNAVAILABLE";
      throw new LogError(code, `The stream of the chain's log took no record: ${String(error)}`, error);
    }
  }

  setWatermark(slot: Slot): void {
    if (slot > this.#watermark) this.#watermark = slot;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    this.#reader.end();
    await this.#connection.close();
    await Promise.allSettled([this.#consuming, this.#checks.running]);
  }

  async #publishParts(subject: string, payload: Uint8Array, partBytes: number): Promise<string> {
    const digest = createHash("sha256").update(payload).digest("hex").slice(0, 16);
    let parts = 0;
    for (let at = 0; at < payload.length; at += partBytes) {
      const part = payload.subarray(at, at + partBytes);
      await this.#publish(partSubject(subject, digest, parts), part, newHeaders());
      parts += 1;
    }
    return `${digest} ${parts}`;
  }

  /** A subject takes one message, so that a repeat is refused also after the window of message ids. */
  async #publish(subject: string, payload: Uint8Array, message: ReturnType<typeof newHeaders>): Promise<AppendOutcome> {
    try {
      const expect = { lastSubjectSequence: 0 };
      await this.#client.publish(subject, payload, { headers: message, expect, timeout: publishMs, retries: 0 });
      return "stored";
    } catch (error) {
      if (error instanceof JetStreamApiError && repeatCodes.has(error.code)) return "repeat";
      throw error;
    }
  }

  async #start(): Promise<void> {
    const info = await this.#stream();
    this.#created = info.created;
    this.#bytes = info.state.bytes;
    await this.#load(info);
    this.#consuming = this.#consume();
    this.#timer = this.#dependencies.clock.every(checkEveryMs, () => {
      this.#checks.run().catch((error: unknown) => {
        this.#dependencies.log.warn({ error: String(error) }, "the stream of the chain's log cannot be checked");
      });
    });
  }

  /** The stream of this chain, made when there is none. */
  async #stream(): Promise<StreamInfo> {
    const { bytesMax, address, discardsOtherChain } = this.#options;
    const settings = {
      name: this.#layout.stream,
      subjects: [`${this.#layout.root}.>`],
      description: encodeChain(this.#chain),
      storage: StorageType.File,
      num_replicas: address.replicas,
      max_bytes: bytesMax,
      discard: DiscardPolicy.Old,
      allow_direct: true,
    };
    const found = await this.#manager.streams.info(this.#layout.stream).catch((error: unknown) => {
      if (error instanceof JetStreamApiError && error.status === 404) return null;
      throw error;
    });
    if (found === null) return this.#manager.streams.add(settings);
    const stored = decodeChain(found.config.description ?? "");
    if (stored !== null && isSameChain(stored, this.#chain)) {
      // A name that was given once stays.
      if (this.#chain.firstBlockhash === null) this.#chain = stored;
      const description = encodeChain(this.#chain);
      const isAsWanted = found.config.description === description && found.config.max_bytes === bytesMax;
      return isAsWanted ? found : this.#manager.streams.update(settings.name, { ...settings, description });
    }
    if (!discardsOtherChain) {
      throw new LogError("CHAIN_DIFFERS", `The stream ${settings.name} is of another chain.`);
    }
    this.#dependencies.log.warn({ stream: settings.name }, "the chain's log is of another chain and is removed");
    await this.#manager.streams.delete(settings.name);
    return this.#manager.streams.add(settings);
  }

  /**
   * Heads alone, as far as the stream goes now.
   * @throws {LogError} UNAVAILABLE when the stream goes silent before its end: who opens asks again
   */
  async #load(info: StreamInfo): Promise<void> {
    const { last_seq: last, messages } = info.state;
    if (messages === 0) {
      this.#lastSequence = last;
      return;
    }
    const received: JsMsg[] = [];
    const from = (): number => (received.at(-1)?.seq ?? 0) + 1;
    const reader = this.#readerOf({ from, headersOnly: true, ahead: 1_000 });
    const endWhenSilent = (): Timer => this.#dependencies.clock.after(loadSilenceMs, () => reader.end());
    let silence = endWhenSilent();
    let isWhole = false;
    for await (const message of reader.messages()) {
      silence.cancel();
      received.push(message);
      isWhole = message.seq >= last || message.info.pending === 0;
      if (isWhole) break;
      silence = endWhenSilent();
    }
    silence.cancel();
    reader.end();
    if (!isWhole) throw new LogError("UNAVAILABLE", "The stream of the chain's log went silent while it was read.");
    this.#dependencies.receiver.load(() => {
      for (const message of received) this.#receive(message, null);
    });
    this.#lastSequence = Math.max(this.#lastSequence, last);
    // Of the first block the server may have trimmed a part of the body, and the head not yet.
    this.#raiseFloor(floorAbove(this.#placed.filter(({ sequence }) => sequence === 0)));
  }

  /** Goes on from what was received last. */
  async #consume(): Promise<void> {
    for await (const message of this.#reader.messages()) await this.#receiveWhole(message);
  }

  #readerOf(reading: Omit<StreamReading, "stream">): StreamReader {
    const { clock, log } = this.#dependencies;
    const dependencies = { connection: this.#connection, client: this.#client, clock, log };
    return new StreamReader(dependencies, { ...reading, stream: this.#layout.stream });
  }

  async #receiveWhole(message: JsMsg): Promise<void> {
    const head = this.#headOf(message);
    let body: Uint8Array | null = null;
    // A body that is not at hand in one message is read when a follower comes to it.
    if (
      head?.kind === "block" &&
      !this.#own.has(head.header.blockhash) &&
      message.headers?.has(headers.parts) !== true
    ) {
      body = await unpack(message.data, head.rawBytes);
    }
    this.#receive(message, body);
  }

  #headOf(message: JsMsg): StoredHead | null {
    return decodeHead(message.headers?.get(headers.head) ?? "", this.#chain);
  }

  #receive(message: JsMsg, body: Uint8Array | null): void {
    const { receiver, events } = this.#dependencies;
    this.#lastSequence = Math.max(this.#lastSequence, message.seq);
    const head = this.#headOf(message);
    if (head === null) {
      const part = partIn(this.#layout, message.subject);
      if (part === null) events.logDamaged(this.#options.network);
      else if (part.number === 0) this.#divided.set(part.body, message.seq);
      return;
    }
    if (head.kind === "floor") this.#raiseFloor(head.slot);
    else if (head.kind === "block") {
      const atMs = message.info.timestampNanos / 1e6;
      this.#placed.push({ sequence: this.#beginOf(message), slot: head.header.slot, atMs });
      receiver.receive(head, this.#bodyOf(message.subject, head.rawBytes), body);
    } else receiver.receive(head, null, null);
  }

  #beginOf({ subject, headers: own, seq }: JsMsg): number {
    const [digest = ""] = own?.get(headers.parts).split(" ") ?? [];
    return digest === "" ? seq : (this.#divided.get(partsSubject(subject, digest)) ?? 0);
  }

  #bodyOf(subject: string, rawBytes: number): StoredBody {
    return { rawBytes, read: () => this.#read(subject, rawBytes) };
  }

  async #read(subject: string, rawBytes: number): Promise<Uint8Array | null> {
    try {
      const message = await this.#manager.streams.getMessage(this.#layout.stream, { last_by_subj: subject });
      if (message === null) return null;
      const [digest = "", parts = "0"] = message.header.get(headers.parts).split(" ");
      if (digest === "") return await unpack(message.data, rawBytes);
      const read: Uint8Array[] = [];
      for (let part = 0; part < Number(parts); part += 1) {
        const by = { last_by_subj: partSubject(subject, digest, part) };
        const each = await this.#manager.streams.getMessage(this.#layout.stream, by);
        if (each === null) return null;
        read.push(each.data);
      }
      return await unpack(Buffer.concat(read), rawBytes);
    } catch (error) {
      throw new LogError("UNAVAILABLE", `The stream of the chain's log cannot be read: ${String(error)}`, error);
    }
  }

  #raiseFloor(slot: Slot): void {
    if (slot <= this.#floor) return;
    this.#floor = slot;
    this.#dependencies.receiver.raiseFloor(slot);
  }

  /** What the stream has let go, and what it may let go. */
  async #check(): Promise<void> {
    const { clock, events } = this.#dependencies;
    const { network } = this.#options;
    const info = await this.#manager.streams.info(this.#layout.stream);
    this.#bytes = info.state.bytes;
    if (info.created !== this.#created) return this.#madeAnew(info);
    const gone = this.#placed.filter(({ sequence }) => sequence < info.state.first_seq);
    const floor = floorAbove(gone);
    if (floor > this.#floor) {
      // The server trims without a word, by its bound of bytes: what others trim is told by a floor.
      this.#overBoundMs = clock.now();
      events.logTrimmed(network, "bytes");
      this.#dependencies.log.warn({ floor: String(floor) }, "LOG_BYTES trims blocks that are still wanted");
      this.#raiseFloor(floor);
      await this.write({ kind: "floor", slot: floor }, null);
    }
    this.#placed = this.#placed.slice(gone.length);
    events.logOverBound(network, clock.now() - this.#overBoundMs < alarmMs);
    await this.#purge();
  }

  /** Purges what is old and in the ledger; the floor is written first, so that every process learns of it. */
  async #purge(): Promise<void> {
    const oldMs = this.#dependencies.clock.now() - this.#options.retentionMs;
    const end = this.#placed.findIndex(({ slot, atMs }) => slot >= this.#watermark || atMs > oldMs);
    const old = end < 0 ? this.#placed : this.#placed.slice(0, end);
    const last = old.at(-1);
    if (last === undefined) return;
    const floor = floorAbove(old);
    await this.write({ kind: "floor", slot: floor }, null);
    this.#raiseFloor(floor);
    await this.#manager.streams.purge(this.#layout.stream, { seq: last.sequence + 1 });
    this.#placed = this.#placed.slice(old.length);
    this.#dependencies.events.logTrimmed(this.#options.network, "age");
  }

  /** The stream was deleted and made again: nothing that was known is held, and sequences begin anew. */
  async #madeAnew(info: StreamInfo): Promise<void> {
    this.#dependencies.log.warn({ created: info.created }, "the stream of the chain's log was made anew");
    this.#created = info.created;
    this.#raiseFloor(floorAbove(this.#placed));
    this.#placed = [];
    this.#lastSequence = 0;
    this.#reader.restart();
  }
}

function floorAbove(blocks: readonly PlacedBlock[]): Slot {
  let highest = -1n;
  for (const { slot } of blocks) if (slot > highest) highest = slot;
  return (highest + 1n) as Slot;
}
