/** Epochs of one length from slot 0 on, without warm-up. */
export class EpochSchedule {
  readonly slotsPerEpoch: bigint;

  constructor(slotsPerEpoch: bigint) {
    this.slotsPerEpoch = slotsPerEpoch;
  }

  epochOf(slot: bigint): bigint {
    return slot / this.slotsPerEpoch;
  }

  slotIndex(slot: bigint): bigint {
    return slot % this.slotsPerEpoch;
  }

  firstSlot(epoch: bigint): bigint {
    return epoch * this.slotsPerEpoch;
  }

  /** The last epoch whose leader schedule is known at a slot: that of the next epoch. */
  lastScheduledEpoch(slot: bigint): bigint {
    return this.epochOf(slot) + 1n;
  }
}
