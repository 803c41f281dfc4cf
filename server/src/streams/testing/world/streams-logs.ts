import type { Clock, Random } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { ChainIdentity } from "../../../log/index.ts";
import { SharedMemory } from "../../../log/testing/shared-memory.ts";
import type { OpenedLog } from "./streams-host.ts";

/** The log of one chain, which the hosts of a world open. */
export interface WorldLog extends AsyncDisposable {
  open(): Promise<OpenedLog>;
  /** Whether all that is under way has come as far as it can without the clock. */
  readonly waiting: number;
  stall(fault: "DISK_FULL" | "UNAVAILABLE" | null): void;
  /** Nothing below the slot is held any more; false where the log cannot be told so. */
  trimBelow(slot: Slot): boolean;
}

export interface LogDriver {
  /** Whether its work takes time that is not the clock's. */
  readonly isReal: boolean;
  create(chain: ChainIdentity, writeMsMax: number): Promise<WorldLog>;
}

/** Logs in memory, by the clock of the world alone. */
export function memoryLogs(clock: Clock, random: Random): LogDriver {
  return {
    isReal: false,
    create: async (chain, writeMsMax) => {
      const memory = new SharedMemory(clock);
      if (writeMsMax > 0) memory.writeMs = () => random.next() * writeMsMax;
      return {
        open: () => memory.open(chain),
        get waiting() {
          return memory.waiting;
        },
        stall: (fault) => memory.fail(fault),
        trimBelow: (slot) => {
          memory.trimBelow(slot);
          return true;
        },
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  };
}
