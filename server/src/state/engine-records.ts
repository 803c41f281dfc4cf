import type { Page, PageRequest } from "./page.ts";
import type { BundleStore } from "./bundle-records.ts";

/** A public key by which its account is known as a searcher. */
export interface SearcherLink {
  /** Base58 text. */
  readonly pubkey: string;
  readonly accountId: string;
  readonly linkedAt: number;
}

/** What an operator has set in place of a tier's limit. */
export interface SearcherLimit {
  /** An account's id, or `pubkey:` and a public key. */
  readonly searcherId: string;
  readonly bundlesPerSecond: number;
  readonly burst: number;
  readonly setAt: number;
}

export interface SearcherStore {
  /** A key that is linked to this account already stays as it is; CONFLICT where it is another's, NOT_FOUND without it. */
  link(pubkey: string, accountId: string): Promise<SearcherLink>;
  /** Whether it was linked. */
  unlink(pubkey: string): Promise<boolean>;
  find(pubkey: string): Promise<SearcherLink | null>;
  /** By public key; of one account when given. */
  list(page: PageRequest & { readonly accountId?: string }): Promise<Page<SearcherLink>>;
  /** In place of what was set before; both are whole numbers of at least 1. */
  setLimit(searcherId: string, limit: Pick<SearcherLimit, "bundlesPerSecond" | "burst">): Promise<SearcherLimit>;
  /** Whether there was one. */
  clearLimit(searcherId: string): Promise<boolean>;
  limitOf(searcherId: string): Promise<SearcherLimit | null>;
  /** By searcher's id. */
  limits(page: PageRequest): Promise<Page<SearcherLimit>>;
}

/** `maintenance` refuses submissions and follows what is in flight; `halted` hands nothing to leaders either. */
export const engineSwitches = ["maintenance", "halted"] as const;
export type EngineSwitch = (typeof engineSwitches)[number];

export interface EngineSwitchRecord {
  readonly name: EngineSwitch;
  readonly isOn: boolean;
  readonly setAt: number;
}

export interface EngineSwitchStore {
  set(name: EngineSwitch, isOn: boolean): Promise<EngineSwitchRecord>;
  /** All of them; one that was never set is off, at 0. */
  all(): Promise<readonly EngineSwitchRecord[]>;
}

export interface ReputationRecord {
  readonly searcherId: string;
  /** Of the form of `value`, which is its owner's. */
  readonly version: number;
  /** JSON of at most 16,384 characters. */
  readonly value: unknown;
}

export interface ReputationStore {
  /** In place of what was there; of two for one searcher the later stands. At most 10,000, all of them or none. */
  put(records: readonly ReputationRecord[]): Promise<void>;
  get(searcherId: string): Promise<ReputationRecord | null>;
  /** By searcher's id, those after `after`. Limit 1 to 1000. */
  list(after: string | null, limit: number): Promise<readonly ReputationRecord[]>;
}

/** A key pair for sealed bundles; its bytes mean nothing here. */
export interface EncryptionKeyRecord {
  readonly id: string;
  readonly createdAt: number;
  /** The first and the last slot at which bundles may be sealed with it. */
  readonly validFrom: bigint;
  readonly validUntil: bigint;
  readonly publicKey: Uint8Array;
  /** Encrypted by its owner. */
  readonly privateKey: Uint8Array;
}

export interface EncryptionKeyStore {
  /** CONFLICT when the id is taken. */
  insert(key: EncryptionKeyRecord): Promise<void>;
  /** Those that are valid at this slot or will be, the first to begin first, at most 1000. */
  since(slot: bigint): Promise<readonly EncryptionKeyRecord[]>;
  /** Forgets up to 1000 that ended before this slot, and says how many. */
  forget(before: bigint): Promise<number>;
}

/** Which envelope came first with an encapsulated key, so that none is taken for a second bundle. */
export interface ReplayStore {
  /** The holder that came first: `holder` itself, or another, and then nothing is changed. Shares its commit. */
  claim(claim: { readonly enc: Uint8Array; readonly holder: string; readonly expiresAt: number }): Promise<string>;
  /** Removes up to 1000 expired claims and says how many. */
  forgetExpired(): Promise<number>;
}

/** How far somebody has read something, by the reader's name. */
export interface CursorStore {
  get(name: string): Promise<string | null>;
  /** At most 1000 characters. */
  set(name: string, value: string): Promise<void>;
}

/** Who keeps something that one process at a time may keep. */
export interface LeaseRecord {
  readonly name: string;
  /** Goes up with each holder. */
  readonly epoch: bigint;
  /** Goes up each time the holder says that it lives. */
  readonly beats: bigint;
  /** Empty where its last holder gave it up. */
  readonly holder: string;
}

/**
 * Leases without clocks: a holder beats, and who sees no beat for as long as holders have may take over. A wrong guess does
 * no harm, since what is written under a lease that has gone on is refused.
 */
export interface LeaseStore {
  /** Whether other processes can be at this database; where not, a holder that is not this process is dead. */
  readonly isShared: boolean;
  /** Null where nobody ever held it. */
  find(name: string): Promise<LeaseRecord | null>;
  /**
   * Takes it in a new epoch, if it stands as it was seen; null where it has moved since. Waits for writes of the holder
   * before that are under way, so that whatever the new holder then reads is whole.
   */
  take(name: string, holder: string, seen: LeaseRecord | null): Promise<LeaseRecord | null>;
  /** Says that the holder lives; false where its epoch is over. */
  beat(lease: Pick<LeaseRecord, "name" | "epoch">): Promise<boolean>;
  /** Gives it up, so that nobody waits; nothing where its epoch is over. */
  release(lease: Pick<LeaseRecord, "name" | "epoch">): Promise<void>;
}

/** What the block engine remembers. */
export interface EngineStores {
  readonly bundles: BundleStore;
  readonly searchers: SearcherStore;
  readonly switches: EngineSwitchStore;
  readonly reputations: ReputationStore;
  readonly encryptionKeys: EncryptionKeyStore;
  readonly replays: ReplayStore;
  readonly cursors: CursorStore;
}

/** The engine's memory, and who may write it. */
export interface EngineState extends EngineStores {
  readonly leases: LeaseStore;
  /**
   * The same memory for the holder of a lease: once another holds it, every write is refused with OVERLOADED, of which
   * `stateFaultOf` says FENCED, in the same transaction that would have made it. What operators write (searchers, switches)
   * is under no lease.
   */
  under(lease: Pick<LeaseRecord, "name" | "epoch">): EngineStores;
}
