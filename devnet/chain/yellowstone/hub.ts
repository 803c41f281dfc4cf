import type { SlotUpdate } from "@sluice/encode/updates";
import type { Log } from "@sluice/lib";
import type { BankSlot, Commitment } from "../model/index.ts";
import type { ChainEvent } from "../pubsub/index.ts";
import type { RpcNode } from "../rpc/index.ts";
import { StreamFaults } from "./disturbance.ts";
import type { YellowstoneLimits } from "./limits.ts";
import { recordSlot, type SlotRecord } from "./slot-record.ts";
import { type StreamSink, YellowstoneStream } from "./stream.ts";

interface HubDependencies {
  readonly node: Pick<RpcNode, "chain" | "now"> & { readonly log: Pick<Log, "error"> };
  /** Holds everything up while it is shut. */
  readonly gate: { readonly isShut: boolean; pass(): Promise<void> };
}

/** Slots that are kept although no replay is asked for: longer than until they are finalized. */
const keptMin = 150;
/** Transactions of kept slots, 6 KB each; beyond them the oldest slots go that are finalized. */
const keptTransactionsMax = 40_000;

/** All streams of a node, and the slots that they may still be told of. */
export class YellowstoneHub {
  readonly faults = new StreamFaults();
  readonly limits: YellowstoneLimits;
  readonly #dependencies: HubDependencies;
  readonly #streams = new Set<YellowstoneStream>();
  /** By subscriber. */
  readonly #counts = new Map<string, number>();
  /** Oldest first. */
  readonly #records = new Map<bigint, SlotRecord>();
  #writeVersion = 0n;

  constructor(limits: YellowstoneLimits, dependencies: HubDependencies) {
    this.limits = limits;
    this.#dependencies = dependencies;
  }

  /** Opens a stream for a subscriber; null when it has too many. */
  open(subscriber: string, sink: StreamSink): YellowstoneStream | null {
    const count = this.#counts.get(subscriber) ?? 0;
    if (count >= this.limits.streamsMax) return null;
    const { gate, node } = this.#dependencies;
    const stream = new YellowstoneStream(this.limits, sink, {
      faults: this.faults,
      kept: () => this.#kept(),
      pass: () => gate.pass(),
      isHeld: () => gate.isShut,
      now: node.now,
    });
    this.#streams.add(stream);
    this.#counts.set(subscriber, count + 1);
    return stream;
  }

  left(subscriber: string, stream: YellowstoneStream): void {
    if (!this.#streams.delete(stream)) return;
    stream.closed();
    const count = (this.#counts.get(subscriber) ?? 1) - 1;
    if (count === 0) this.#counts.delete(subscriber);
    else this.#counts.set(subscriber, count);
  }

  ping(): void {
    if (this.#dependencies.gate.isShut) return;
    for (const stream of this.#streams) stream.ping();
  }

  #kept(): readonly SlotRecord[] | null {
    return this.limits.replaySlots === 0 ? null : [...this.#records.values()].slice(-this.limits.replaySlots);
  }

  /** The first slot that `from_slot` may ask for; null without replay. */
  get firstAvailable(): bigint | null {
    return this.#kept()?.[0]?.slot ?? null;
  }

  at(commitment: Commitment): BankSlot {
    return this.#dependencies.node.chain.at(commitment);
  }

  isBlockhashValid(blockhash: string, bank: BankSlot): boolean {
    return this.#dependencies.node.chain.blockhashes.isValid(blockhash, bank.blockHeight);
  }

  pass(): Promise<void> {
    return this.#dependencies.gate.pass();
  }

  /** Tells every stream of an event; one that fails is logged, and the others are told all the same. */
  publish(event: ChainEvent): void {
    switch (event.kind) {
      case "received":
        return;
      case "opened":
        this.#status({ slot: event.slot, parent: event.parent, status: "firstShredReceived" });
        this.#status({ slot: event.slot, parent: event.parent, status: "createdBank" });
        return;
      case "abandoned":
        for (const slot of event.slots) {
          const parent = this.#records.get(slot)?.parent ?? null;
          this.#records.delete(slot);
          this.#status({ slot, parent, status: "dead", deadError: "abandoned fork" });
        }
        return;
      default:
        this.#reached(event);
    }
  }

  #reached({ bank, block, commitment }: ChainEvent & { readonly kind: "reached" }): void {
    const { slot } = bank;
    if (commitment === "processed") {
      const { accounts } = this.#dependencies.node.chain;
      const written = [...accounts.written(slot)].map((address) => [address, accounts.get(address, slot)] as const);
      const nextWriteVersion = () => {
        this.#writeVersion += 1n;
        return this.#writeVersion;
      };
      this.#records.set(slot, recordSlot({ bank, block, written, nextWriteVersion }));
      this.#status({ slot, parent: bank.parent, status: "completed" });
    }
    const record = this.#records.get(slot);
    if (record === undefined) return;
    record.reached.add(commitment);
    this.#each((stream) => stream.reached(record, commitment));
    this.#trim();
  }

  #trim(): void {
    const keptMax = Math.max(this.limits.replaySlots, keptMin);
    const records = [...this.#records.values()];
    let transactions = records.reduce((total, record) => total + record.transactions.length, 0);
    for (const [index, oldest] of records.entries()) {
      const isWithin = records.length - index <= keptMax && transactions <= keptTransactionsMax;
      if (isWithin || !oldest.reached.has("finalized")) return;
      transactions -= oldest.transactions.length;
      this.#records.delete(oldest.slot);
    }
  }

  #status(update: SlotUpdate): void {
    this.#each((stream) => stream.status(update));
  }

  #each(tell: (stream: YellowstoneStream) => void): void {
    for (const stream of this.#streams) {
      try {
        tell(stream);
      } catch (error) {
        this.#dependencies.node.log.error({ error }, "a stream is not told of an event");
        stream.end({ status: "INTERNAL", details: "internal error" });
      }
    }
  }

  /** Ends all streams; for the end of the node. */
  end(): void {
    for (const stream of this.#streams) stream.unavailable();
  }
}
