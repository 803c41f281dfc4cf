import { packPing, packPong, packSlot, packUpdate, type SlotStatus, type SlotUpdate } from "@sluice/encode/updates";
import { FilterFault, FilterSet, type SubscribeRequest } from "@sluice/geyser";
import { BoundedQueue } from "@sluice/lib";
import type { Commitment } from "../model/index.ts";
import type { StreamFaults } from "./disturbance.ts";
import type { YellowstoneLimits } from "./limits.ts";
import type { SlotRecord } from "./slot-record.ts";

/** How a stream ends, by the names of gRPC's statuses. */
export interface StreamEnd {
  readonly status: "INVALID_ARGUMENT" | "OUT_OF_RANGE" | "INTERNAL" | "UNAVAILABLE" | "RESOURCE_EXHAUSTED";
  readonly details: string;
}

/** The transport's end of a stream. */
export interface StreamSink {
  /** Takes the update in any case; false when it wants no more until it says `drained`. */
  write(update: Uint8Array): boolean;
  end(end: StreamEnd): void;
}

/** What a stream asks of its server. */
interface StreamDependencies {
  readonly faults: StreamFaults;
  /** The slots that are kept for replay, oldest first; null without replay. */
  readonly kept: () => readonly SlotRecord[] | null;
  /** Resolves when nothing holds the server up. */
  readonly pass: () => Promise<void>;
  readonly isHeld: () => boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const stages = ["processed", "confirmed", "finalized"] as const;

/** One client's stream: its filters, and the updates that it has not taken yet. */
export class YellowstoneStream {
  readonly #limits: YellowstoneLimits;
  readonly #sink: StreamSink;
  readonly #dependencies: StreamDependencies;
  readonly #waiting: BoundedQueue<Uint8Array>;
  #filters: FilterSet | null = null;
  /** An update that is sent behind the next one. */
  #late: Uint8Array | null = null;
  #flows = true;
  #pumps = false;
  #isOver = false;

  constructor(limits: YellowstoneLimits, sink: StreamSink, dependencies: StreamDependencies) {
    this.#limits = limits;
    this.#sink = sink;
    this.#dependencies = dependencies;
    this.#waiting = new BoundedQueue({ max: limits.updatesMax });
    dependencies.faults.opened(this);
    this.ping();
  }

  /** Takes a request: a ping is answered, anything else replaces all filters. */
  request(request: SubscribeRequest): void {
    if (this.#isOver) return;
    if (request.ping !== undefined && request.ping !== null) {
      this.#send([], packPong(request.ping.id));
      return;
    }
    try {
      this.#filters = new FilterSet(request, this.#limits.filters);
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      this.end({ status: "INVALID_ARGUMENT", details: error.message });
      return;
    }
    if (request.from_slot !== undefined) this.#replay(BigInt(request.from_slot));
  }

  ping(): void {
    this.#send([], packPing());
  }

  /** A slot has reached a commitment: what it holds where that is the stream's, then its status. */
  reached(record: SlotRecord, commitment: Commitment): void {
    if (this.#filters === null || this.#isOver) return;
    if (this.#filters.commitment === commitment) {
      for (const [names, [content]] of this.#filters.updates(record))
        if (content !== undefined) this.#send(names, content);
    }
    this.status({ slot: record.slot, parent: record.parent, status: commitment });
  }

  status(update: SlotUpdate): void {
    const names = this.#filters?.slotNames(update.status satisfies SlotStatus) ?? [];
    if (names.length > 0) this.#send(names, packSlot(update));
  }

  #replay(from: bigint): void {
    const kept = this.#dependencies.kept();
    if (kept === null) {
      this.end({ status: "INTERNAL", details: "from_slot is not supported" });
      return;
    }
    const first = kept[0]?.slot ?? 0n;
    if (from < first) {
      const details = `broadcast from ${from} is not available, last available: ${first}`;
      this.end({ status: "OUT_OF_RANGE", details });
      return;
    }
    for (const record of kept) {
      if (record.slot < from) continue;
      for (const stage of stages) if (record.reached.has(stage)) this.reached(record, stage);
    }
  }

  #send(names: readonly string[], content: Uint8Array): void {
    const update = packUpdate(names, content, this.#dependencies.now());
    // Pings and pongs are the transport's own.
    const fate = names.length === 0 ? null : this.#dependencies.faults.next();
    if (fate === "drop") return;
    if (fate === "reorder" && this.#late === null) {
      this.#late = update;
      return;
    }
    this.#queue(update);
    if (fate === "duplicate") this.#queue(update);
    const late = this.#late;
    this.#late = null;
    if (late !== null) this.#queue(late);
  }

  #queue(update: Uint8Array): void {
    if (this.#isOver) return;
    if (!this.#waiting.push(update)) this.end({ status: "INTERNAL", details: "lagged to send an update" });
    else if (!this.#pumps) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#pumps = true;
    try {
      while (this.#flows && this.#waiting.length > 0 && !this.#isOver) {
        if (this.#dependencies.isHeld()) await this.#dependencies.pass();
        const [update] = this.#waiting.take(1);
        if (update !== undefined && !this.#isOver) this.#flows = this.#sink.write(update);
      }
    } finally {
      this.#pumps = false;
    }
  }

  /** Called by the transport. */
  drained(): void {
    this.#flows = true;
    if (!this.#pumps) void this.#pump();
  }

  /** Ends the stream; what waits is lost, as when a server breaks off. */
  end(end: StreamEnd): void {
    if (this.#isOver) return;
    this.closed();
    this.#sink.end(end);
  }

  unavailable(): void {
    this.end({ status: "UNAVAILABLE", details: "server is shutting down try again later" });
  }

  /** Called by the transport: the client is gone. */
  closed(): void {
    this.#isOver = true;
    this.#dependencies.faults.closed(this);
    this.#waiting.take(this.#waiting.max);
  }
}
