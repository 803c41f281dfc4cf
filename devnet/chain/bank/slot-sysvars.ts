import type { AccountWrite } from "@sluice/svm/bank";
import { addressBytes } from "@sluice/wire/base58";
import type { EpochSchedule } from "../consensus/index.ts";
import {
  type BankSlot,
  clockSysvar,
  recentBlockhashesSysvar,
  type SlotHash,
  SlotHistory,
  type StakeHistoryEntry,
  slotHashesSysvar,
  stakeHistorySysvar,
} from "../model/index.ts";
import type { BlockhashQueue } from "./recent-blocks.ts";

const recentBlockhashesMax = 150;
const slotHashesMax = 512;
const stakeHistoryMax = 512;
/** Hashes kept beyond those that the sysvar shows, so that it is full again when the newest slots are abandoned. */
const spareSlotHashes = 128;

interface SlotSysvarsOptions {
  readonly epochs: EpochSchedule;
  /** The stake history's entry of an epoch that ends before `slot`, by the entries before it. */
  readonly historyEntry: (epoch: bigint, slot: bigint, before: readonly StakeHistoryEntry[]) => StakeHistoryEntry;
}

/**
 * Writes the sysvars that move with every slot: clock, slot hashes, recent blockhashes, slot history, stake history.
 */
export class SlotSysvars {
  readonly #options: SlotSysvarsOptions;
  readonly #history = new SlotHistory();
  #hashes: SlotHash[] = [];
  #recent = new Set<bigint>();
  #epochStart = 0n;
  #stakeHistory: StakeHistoryEntry[] = [];
  /** Newest first: what fell out of the sysvar last. */
  #spare: SlotHash[] = [];
  /** What the first slots of epochs replaced, oldest first: as many as can be abandoned. */
  #before: { slot: bigint; epochStart: bigint; stakeHistory: StakeHistoryEntry[] }[] = [];

  constructor(options: SlotSysvarsOptions) {
    this.#options = options;
  }

  /** Newest first. */
  get stakeHistory(): readonly StakeHistoryEntry[] {
    return this.#stakeHistory;
  }

  /** Whether a slot is among the last 512 that have a hash. */
  isRecentSlot(slot: bigint): boolean {
    return this.#recent.has(slot);
  }

  /** Takes back what was opened after `parent`, so that another slot may open after it. */
  rollback(parent: BankSlot): void {
    const kept = this.#hashes.findIndex(({ slot }) => slot < parent.slot);
    const dropped = this.#hashes.splice(0, kept < 0 ? this.#hashes.length : kept);
    for (const { slot } of dropped) this.#recent.delete(slot);
    for (const hash of this.#spare.splice(0, slotHashesMax - this.#hashes.length)) {
      this.#hashes.push(hash);
      this.#recent.add(hash.slot);
    }
    this.#history.rollback(parent.slot);
    for (let last = this.#before.at(-1); last !== undefined && last.slot > parent.slot; last = this.#before.at(-1)) {
      this.#epochStart = last.epochStart;
      this.#stakeHistory = last.stakeHistory;
      this.#before.pop();
    }
  }

  /** The sysvars of a slot that opens after `parent`, at a time in Unix seconds. */
  open(slot: bigint, time: bigint, parent: BankSlot, blockhashes: BlockhashQueue): AccountWrite[] {
    const { epochs, historyEntry } = this.#options;
    this.#hashes.unshift({ slot: parent.slot, hash: addressBytes(parent.blockhash) });
    this.#recent.add(parent.slot);
    for (const dropped of this.#hashes.splice(slotHashesMax)) {
      this.#recent.delete(dropped.slot);
      this.#spare.unshift(dropped);
    }
    this.#spare.splice(spareSlotHashes);
    this.#history.add(parent.slot);
    const [ended, epoch] = [epochs.epochOf(parent.slot), epochs.epochOf(slot)];
    const newEpoch = parent.slot === 0n || ended !== epoch;
    if (newEpoch) {
      this.#before.push({ slot, epochStart: this.#epochStart, stakeHistory: this.#stakeHistory });
      if (this.#before.length > spareSlotHashes) this.#before.shift();
      this.#epochStart = time;
      if (ended !== epoch) {
        const entry = historyEntry(ended, parent.slot, this.#stakeHistory);
        this.#stakeHistory = [entry, ...this.#stakeHistory].slice(0, stakeHistoryMax);
      }
    }
    const recent = blockhashes.newest(recentBlockhashesMax).map((hash) => addressBytes(hash));
    const writes = [
      clockSysvar({
        slot,
        epochStartTimestamp: this.#epochStart,
        epoch,
        leaderScheduleEpoch: epoch + 1n,
        unixTimestamp: time,
      }),
      slotHashesSysvar(this.#hashes),
      recentBlockhashesSysvar(recent),
      this.#history.sysvar(slot),
    ];
    if (newEpoch) writes.push(stakeHistorySysvar(this.#stakeHistory));
    return writes;
  }
}
