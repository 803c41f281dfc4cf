import { systemClock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { createMetrics } from "../../observe/index.ts";
import { createLogEvents } from "../events.ts";
import type { ChainIdentity, ChainLog } from "../index.ts";
import { unpack } from "../packing.ts";
import type { RecordReceiver } from "../storage.ts";
import { StoredChainLog } from "../stored-chain-log.ts";

/** A log whose records go with the process, for simulations of those who follow one. */
export interface MemoryLog {
  readonly log: ChainLog;
  /** Nothing below the slot is held any more, as after a trim. */
  trimBelow(slot: Slot): void;
}

const bytesMax = 256 * 1024 * 1024;

export async function openMemoryLog(chain: ChainIdentity): Promise<MemoryLog> {
  let held: RecordReceiver | null = null;
  const log = await StoredChainLog.open(
    { network: "devnet", chain, tailBytesMax: bytesMax, pendingBytesMax: bytesMax },
    {
      clock: systemClock,
      events: createLogEvents({ metrics: createMetrics() }),
      openStorage: async (receiver) => {
        held = receiver;
        return {
          driver: "segments",
          chain,
          bytesHeld: 0,
          write: async (head, packed) => {
            if (head.kind !== "block" || packed === null) return { outcome: "stored", stored: null };
            const { rawBytes } = head;
            return { outcome: "stored", stored: { rawBytes, read: () => unpack(packed, rawBytes) } };
          },
          setWatermark: () => undefined,
          [Symbol.asyncDispose]: async () => undefined,
        };
      },
    },
  );
  return { log, trimBelow: (slot) => held?.raiseFloor(slot) };
}
