import type { Svm } from "@sluice/svm/bank";
import type { BankSlot, Block } from "../model/index.ts";
import type { RevertedAddresses } from "./abandoned-fork.ts";

export interface ChainOptions {
  /** Nominal length of a slot; the chain's own clock is whoever closes its slots. */
  readonly slotMs: number;
  readonly slotsPerEpoch: bigint;
  /** Slots after which a frozen slot is confirmed, and finalized. */
  readonly confirmedAfter: number;
  readonly finalizedAfter: number;
  readonly slotsMax: number;
  readonly transactionsMax: number;
  /** Whether the validators' votes are transactions. */
  readonly votes: boolean;
  /** Transactions that may wait for the machine; more are dropped, as a full leader drops them. */
  readonly pendingMax: number;
}

export interface ChainDependencies {
  readonly svm: Svm;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What the chain tells those who watch it, in the order in which it happens. */
export interface ChainListener {
  received(signature: string): void;
  opened(slot: bigint, parent: bigint): void;
  frozen(bank: BankSlot, block: Block): void;
  confirmed(bank: BankSlot): void;
  finalized(bank: BankSlot): void;
  /**
   * Slots after `parent`, oldest first, the open one last, are no longer part of the chain, nor is what was written in
   * those that were frozen.
   */
  abandoned?(parent: BankSlot, slots: readonly bigint[], reverted: RevertedAddresses): void;
}

/** The commitment that a fork leaves as it is; what is below it may be abandoned. */
export type ForkKeeps = "confirmed" | "finalized";
