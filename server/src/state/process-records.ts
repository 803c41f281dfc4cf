/** A process that runs on this database. */
export interface ProcessRecord {
  readonly id: string;
  readonly roles: readonly string[];
  readonly version: string;
  /** Whether it counts calls: rates, credits, usage. */
  readonly meters: boolean;
  /** Whether other processes can share its ledger and its hot store. */
  readonly sharesLedger: boolean;
  readonly sharesHot: boolean;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Increases with each heartbeat. */
  readonly beats: number;
}

/** A process as it registers. */
export type NewProcess = Omit<ProcessRecord, "startedAt" | "beats">;

/**
 * Who runs on this database. A registration is a lease that ends by the database's own clock unless its process beats,
 * so that a process that was killed is forgotten. Every method throws SluiceError.
 */
export interface ProcessStore {
  /**
   * Registers this process, for `ttlMs` from now, and gives the others that are registered. Of two that join at once
   * one sees the other.
   */
  join(process: NewProcess, ttlMs: number): Promise<readonly ProcessRecord[]>;
  /** Extends the registration; false when it has ended. */
  beat(id: string, ttlMs: number): Promise<boolean>;
  leave(id: string): Promise<void>;
  /** The longest registered first. */
  list(): Promise<readonly ProcessRecord[]>;
}
