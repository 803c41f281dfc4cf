import type { Slot } from "@sluice/wire/identifiers";
import type { StoredBody } from "./chain-index.ts";
import type { StoredHead } from "./head-codec.ts";
import type { AppendOutcome, ChainIdentity, ChainLog } from "./records.ts";

/** Where the records of one chain are kept: what a driver is. */
export interface LogStorage extends AsyncDisposable {
  readonly driver: ChainLog["driver"];
  /** As it is named from now on: by what was given, and where that has no first block by what is stored. */
  readonly chain: ChainIdentity;
  readonly bytesHeld: number;
  /**
   * Resolves when the record is stored; of a block also says how its body is read again. `packed` is the body as
   * `pack` makes it. Records that are handed over together wait for one sync.
   *
   * @throws {LogError} when it was not stored
   */
  write(head: StoredHead, packed: Uint8Array | null): Promise<{ outcome: AppendOutcome; stored: StoredBody | null }>;
  /** The ledger holds all below. */
  setWatermark(slot: Slot): void;
}

/** Receives what a storage holds: all of it at the start, later what other processes bring. */
export interface RecordReceiver {
  /** `body` is the block's body where it is at hand. */
  receive(head: StoredHead, stored: StoredBody | null, body: Uint8Array | null): void;
  /** Many records in one piece of work. */
  load(work: () => void): void;
  /** Nothing below the slot is held any more. */
  raiseFloor(slot: Slot): void;
}
