import { packBlocksRequest, packPingRequest, type ReadUpdate, readUpdate } from "@sluice/encode/updates";
import { backoffDelayMs, type Clock, type Random, type Timer } from "@sluice/lib";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { Slot } from "@sluice/wire/identifiers";
import { bodyBytesMax } from "../../../log/index.ts";
import type { BlockSource, SourceSink } from "../../source.ts";
import { slotOf } from "../../source-block.ts";
import type { NodeBlocks } from "../node-blocks.ts";
import { type GeyserEnd, type GeyserStream, openGeyserStream } from "./grpc.ts";
import type { ReadBodies } from "./read-bodies.ts";

export interface YellowstoneOptions {
  readonly node: string;
  /** http or https with a host and a port alone. */
  readonly url: string;
  /** Secret; null sends none. */
  readonly token: string | null;
  /** Bytes of one update. */
  readonly updateBytesMax?: number;
}

interface YellowstoneDependencies {
  readonly clock: Pick<Clock, "after" | "every" | "monotonic">;
  readonly random: Random;
  /** The node's answers for single slots: what the stream leaves out is asked for there. */
  readonly blocks: NodeBlocks;
  /** Shared by the sources of a network. */
  readonly bodies: Pick<ReadBodies, "read">;
  readonly openStream?: typeof openGeyserStream;
}

/** A block as large as the log takes one, and what an update has beside it. */
const updateBytesMaxDefault = bodyBytesMax + 64 * 1024;
const slotEnd = 2n ** 63n;
const backoff = { baseMs: 100, maxMs: 10_000 } as const;
const pingMs = 10_000;
/** A server sends a sign of life every ten to fifteen seconds. */
const silenceMs = 45_000;
/** A stream of which so many updates on end cannot be read is not one. */
const malformedMax = 16;

/**
 * The stream of a node's Yellowstone server: the statuses of all slots, and every confirmed block as the bytes that the
 * log keeps. A stream that ends is opened again from the last slot that was whole, where the server repeats.
 */
export class YellowstoneSource implements BlockSource {
  readonly name: string;
  readonly node: string;
  readonly kind = "yellowstone";
  readonly bringsBlocks = true;
  readonly fetchBlock: BlockSource["fetchBlock"];
  readonly fetchDigest: BlockSource["fetchDigest"];
  readonly fetchSlots: BlockSource["fetchSlots"];
  readonly #options: YellowstoneOptions;
  readonly #dependencies: YellowstoneDependencies;
  #sink: SourceSink | null = null;
  #stream: GeyserStream | null = null;
  #retry: Timer | null = null;
  #pings: Timer | null = null;
  #attempt = 0;
  #isUp = false;
  #malformed = 0;
  #heardMs = 0;
  /** The slot that was confirmed last, its block before it. */
  #whole: Slot | null = null;
  #repeats = true;
  #nextPing = 1;

  constructor(options: YellowstoneOptions, dependencies: YellowstoneDependencies) {
    const { blocks } = dependencies;
    this.name = `${options.node}:yellowstone`;
    this.node = options.node;
    this.#options = options;
    this.#dependencies = dependencies;
    this.fetchBlock = (slot, signal) => blocks.fetchBlock(slot, signal);
    this.fetchDigest = (slot, commitment, signal) => blocks.fetchDigest(slot, commitment, signal);
    this.fetchSlots = (from, to, signal) => blocks.fetchSlots(from, to, signal);
  }

  start(sink: SourceSink): void {
    if (this.#sink !== null) return;
    this.#sink = sink;
    this.#pings = this.#dependencies.clock.every(pingMs, () => this.#keepAlive());
    this.#open();
  }

  #open(): void {
    const { url, token, updateBytesMax = updateBytesMaxDefault } = this.#options;
    const { openStream = openGeyserStream, clock } = this.#dependencies;
    this.#heardMs = clock.monotonic();
    this.#malformed = 0;
    const handlers = {
      update: (bytes: Uint8Array) => this.#updated(bytes),
      ended: (end: GeyserEnd) => this.#ended(end),
    };
    this.#stream = openStream({ url, token, updateBytesMax }, handlers);
    this.#stream.request(packBlocksRequest(this.#repeats ? this.#whole : null));
  }

  #updated(bytes: Uint8Array): void {
    const sink = this.#sink;
    if (sink === null) return;
    this.#heardMs = this.#dependencies.clock.monotonic();
    try {
      this.#tell(sink, readUpdate(bytes));
      this.#malformed = 0;
    } catch (error) {
      if (!(error instanceof MalformedBytes)) throw error;
      sink.malformed(this);
      this.#malformed += 1;
      if (this.#malformed >= malformedMax) this.#giveUp("malformed updates");
    }
  }

  #tell(sink: SourceSink, update: ReadUpdate): void {
    if (!this.#isUp) {
      this.#isUp = true;
      sink.up(this);
    }
    if (update.kind === "block") {
      const block = this.#dependencies.bodies.read(update.body);
      // What the stream leaves out is asked for when its slot is told.
      if (block !== null) sink.block(this, { block, stage: "confirmed", arrivedMs: this.#heardMs });
      else sink.malformed(this);
    } else if (update.kind === "slot") {
      const stage = stageOf(update.status);
      if (stage === null) return;
      if (update.slot >= slotEnd) throw new MalformedBytes("a slot is out of range");
      const slot = slotOf(update.slot);
      const parent = update.parent === null || update.parent >= update.slot ? null : slotOf(update.parent);
      sink.slot(this, { slot, parent, stage });
      if (stage === "confirmed") this.#confirmed(slot);
    }
  }

  #confirmed(slot: Slot): void {
    this.#attempt = 0;
    this.#repeats = true;
    // Also a lower one: the chain may have begun anew.
    this.#whole = slot;
  }

  #keepAlive(): void {
    const stream = this.#stream;
    if (stream === null) return;
    if (this.#dependencies.clock.monotonic() - this.#heardMs > silenceMs) {
      this.#giveUp("silent");
      return;
    }
    stream.request(packPingRequest(this.#nextPing));
    this.#nextPing = (this.#nextPing % 0x7fff_ffff) + 1;
  }

  #giveUp(reason: string): void {
    this.#stream?.close();
    this.#fell(reason);
  }

  #ended({ status, cannotRepeat }: GeyserEnd): void {
    // The next stream begins with what comes then; pipelines ask for what lies between.
    if (cannotRepeat) this.#repeats = false;
    this.#fell(status);
  }

  #fell(reason: string): void {
    this.#stream = null;
    if (this.#isUp) {
      this.#isUp = false;
      this.#sink?.down(this, reason);
    }
    if (this.#sink === null) return;
    const { clock, random } = this.#dependencies;
    this.#retry = clock.after(backoffDelayMs(this.#attempt, backoff, random), () => this.#open());
    this.#attempt += 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sink = null;
    this.#retry?.cancel();
    this.#pings?.cancel();
    this.#stream?.close();
    this.#stream = null;
  }
}

function stageOf(status: Extract<ReadUpdate, { kind: "slot" }>["status"]) {
  return status === "processed" || status === "confirmed" || status === "finalized" || status === "dead"
    ? status
    : null;
}
