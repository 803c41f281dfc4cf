import { type Clock, sleep } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { createMetrics } from "../../observe/index.ts";
import type { StoredBody } from "../chain-index.ts";
import { LogError } from "../errors.ts";
import { createLogEvents } from "../events.ts";
import { encodeHead, type StoredHead } from "../head-codec.ts";
import { unpack } from "../packing.ts";
import type { ChainIdentity, ChainLog } from "../records.ts";
import type { LogStorage, RecordReceiver } from "../storage.ts";
import { StoredChainLog } from "../stored-chain-log.ts";

interface Held {
  readonly head: StoredHead;
  readonly stored: StoredBody | null;
}

/** A process's connection to a memory. */
interface Connection {
  readonly receiver: RecordReceiver;
  isAlive: boolean;
}

const bytesMax = 64 * 1024 * 1024;

/**
 * Records in memory, as a disk or a server has them: they outlast the processes that write, which may be several.
 * Writes take time by the clock, may fail, and are lost with the process that waits for them.
 */
export class SharedMemory {
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();
  readonly #connections = new Set<Connection>();
  #floor: Slot | null = null;
  /** Milliseconds that the next write takes. */
  writeMs: () => number = () => 0;
  /** While set, writes fail with this code. */
  fault: "DISK_FULL" | "UNAVAILABLE" | null = null;
  /** Writes that wait for the clock. */
  waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  fail(fault: SharedMemory["fault"]): void {
    this.fault = fault;
  }

  /** Nothing below the slot is held any more, as after a trim. */
  trimBelow(slot: Slot): void {
    if (this.#floor !== null && slot <= this.#floor) return;
    this.#floor = slot;
    for (const [key, { head }] of this.#held) {
      const isBelow = head.kind === "gap" ? head.to < slot : head.kind !== "floor" && head.header.slot < slot;
      if (isBelow) this.#held.delete(key);
    }
    for (const { receiver, isAlive } of this.#connections) if (isAlive) receiver.raiseFloor(slot);
  }

  /** Opens the log as one process has it; `kill` ends it without a word. */
  async open(chain: ChainIdentity): Promise<{ readonly log: ChainLog; readonly kill: () => void }> {
    let connection: Connection | null = null;
    const log = await StoredChainLog.open(
      { network: "devnet", chain, tailBytesMax: bytesMax, pendingBytesMax: bytesMax },
      {
        clock: this.#clock,
        events: createLogEvents({ metrics: createMetrics({}, { clock: this.#clock }) }),
        openStorage: async (receiver) => {
          connection = { receiver, isAlive: true };
          return this.#connect(connection, chain);
        },
      },
    );
    return {
      log,
      kill: () => {
        if (connection !== null) connection.isAlive = false;
      },
    };
  }

  #connect(connection: Connection, chain: ChainIdentity): LogStorage {
    this.#connections.add(connection);
    const { receiver } = connection;
    receiver.load(() => {
      if (this.#floor !== null) receiver.raiseFloor(this.#floor);
      for (const { head, stored } of this.#held.values()) receiver.receive(head, stored, null);
    });
    return {
      driver: "segments",
      chain,
      bytesHeld: 0,
      write: (head, packed) => this.#write(connection, head, packed),
      setWatermark: () => undefined,
      [Symbol.asyncDispose]: async () => void this.#connections.delete(connection),
    };
  }

  async #write(connection: Connection, head: StoredHead, packed: Uint8Array | null) {
    const writeMs = this.writeMs();
    if (writeMs > 0) {
      this.waiting += 1;
      await sleep(this.#clock, writeMs);
      this.waiting -= 1;
    }
    if (!connection.isAlive) throw new LogError("CLOSED", "The process has ended.");
    if (this.fault !== null) throw new LogError(this.fault, "The test says so.");
    const key = encodeHead(head.kind === "block" ? { ...head, rawBytes: 0 } : head);
    const known = this.#held.get(key);
    if (known !== undefined) return { outcome: "repeat", stored: known.stored } as const;
    const rawBytes = head.kind === "block" ? head.rawBytes : 0;
    const stored = packed === null ? null : { rawBytes, read: () => unpack(packed, rawBytes) };
    this.#held.set(key, { head, stored });
    for (const other of this.#connections) {
      if (other !== connection && other.isAlive) other.receiver.receive(head, stored, null);
    }
    return { outcome: "stored", stored } as const;
  }
}
