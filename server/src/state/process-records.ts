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
  /** The number of the newest migration that it knows; null for a version that did not tell. */
  readonly schema: number | null;
  /** The ids that its ledger and its hot store hold; null where they are not shared or not known. */
  readonly ledgerId: string | null;
  readonly hotId: string | null;
  /** The ids of the master keys that open what it reads; null for a version that did not tell. */
  readonly masterKeys: readonly string[] | null;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Increases with each heartbeat. */
  readonly beats: number;
}

/** What processes that are not registered any more hold: they were killed, and nobody settled it or took it over. */
export interface LeftBehind {
  readonly leases: number;
  /** By what is counted: how many processes hold how much of accounts' months. */
  readonly books: Readonly<Record<BookMeter, { readonly processes: number; readonly amount: bigint }>>;
}

/** What is leased to a process by accounts. */
export type BookMeter = "credits" | "oracle" | "oracle-v2" | "served";

/** A process as it registers. */
export type NewProcess = Omit<ProcessRecord, "startedAt" | "beats" | "schema">;

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
  /** Notes which ledger and which hot store a registered process uses. */
  identify(id: string, stores: Pick<ProcessRecord, "ledgerId" | "hotId">): Promise<void>;
  leave(id: string): Promise<void>;
  /** Everything that is held by others than `own` and those registered. */
  leftBehind(own: string): Promise<LeftBehind>;
  /** The longest registered first. */
  list(): Promise<readonly ProcessRecord[]>;
}
