/** The holder of a role that one process at a time may have. */
export interface LeaseRecord {
  readonly name: string;
  /** Increases with each holder. */
  readonly epoch: bigint;
  /** Increases with each heartbeat of the holder. */
  readonly beats: bigint;
  /** Empty after its last holder released it. */
  readonly holder: string;
}

/**
 * Leases without clocks: a holder beats, and a process that sees no beat for the time that holders have may take over.
 * A wrong guess is harmless, since writes under a lease that has passed on are refused.
 */
export interface LeaseStore {
  /** Whether other processes can use this database; if not, a holder other than this process is dead. */
  readonly isShared: boolean;
  /** Null for a lease without a holder so far. */
  find(name: string): Promise<LeaseRecord | null>;
  /**
   * Takes it in a new epoch, if it is unchanged since `seen`; null if it has changed. Waits for pending writes of the
   * former holder, so that the new holder reads complete data.
   */
  take(name: string, holder: string, seen: LeaseRecord | null): Promise<LeaseRecord | null>;
  /** Records a heartbeat of the holder; false when its epoch is over. */
  beat(lease: Pick<LeaseRecord, "name" | "epoch">): Promise<boolean>;
  /** Releases it, so that no process waits; does nothing when its epoch is over. */
  release(lease: Pick<LeaseRecord, "name" | "epoch">): Promise<void>;
}
