import type { Address } from "@sluice/wire/identifiers";
import type { RawAccount } from "../simulation.ts";

/** What is known of one address. Machines know it by its handle, and whether they have its newest form by its version. */
export interface AccountEntry {
  readonly address: Address;
  /** Its 32 bytes, and the same as text of one character a byte, the name it is found by. */
  readonly key: Uint8Array;
  readonly name: string;
  readonly handle: number;
  /** Moves when the account changes; 0 until it was read once. */
  version: number;
  account: RawAccount | null;
  /** The slot as of which `account` is right, as far as anybody can tell; -1 before it was read. */
  slot: bigint;
  /** The slot that the node was at which `account` comes from; -1 before it was read. What is older never replaces it. */
  readSlot: bigint;
  /** Whether it never changes in a way that matters, so that it is read once. */
  isConstant: boolean;
  /** Whether no machine is told of it, since each brings its own. */
  isBuiltIn: boolean;
  /** Whether it holds the code of an upgradeable program: only its head is read again. */
  isProgramData: boolean;
  /** The key of the account with the code of the upgradeable program that this is; null for anything else. */
  programData: Uint8Array | null;
  /** Bytes of its data when it was last seen, even where they were too many to be read at once. */
  space: number;
  /** The read that is under way; false where it failed. */
  reading: Promise<boolean> | null;
  /** Bundles and sessions that hold it; it is not forgotten meanwhile. */
  pins: number;
  /** Whether it was used since the sweep last came by. */
  used: boolean;
}
