import type { Network } from "@sluice/contract/tiers";
import type { BundleStore } from "./bundle-records.ts";
import type { LeaseRecord } from "./lease-records.ts";
import type { PageRequest, RecordPage } from "./page.ts";

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

/** Limits and links of searchers, set by operators. */
export interface SearcherStore {
  /**
   * A key that is linked to this account already stays as it is; CONFLICT where it is another's, NOT_FOUND without it.
   */
  link(pubkey: string, accountId: string): Promise<SearcherLink>;
  /** Whether it was linked. */
  unlink(pubkey: string): Promise<boolean>;
  find(pubkey: string): Promise<SearcherLink | null>;
  /** By public key; of one account when given. */
  list(page: PageRequest & { readonly accountId?: string }): Promise<RecordPage<SearcherLink>>;
  /** In place of what was set before; both are whole numbers of at least 1. */
  setLimit(searcherId: string, limit: Pick<SearcherLimit, "bundlesPerSecond" | "burst">): Promise<SearcherLimit>;
  /** Whether there was one. */
  clearLimit(searcherId: string): Promise<boolean>;
  limitOf(searcherId: string): Promise<SearcherLimit | null>;
  /** By searcher's id. */
  limits(page: PageRequest): Promise<RecordPage<SearcherLimit>>;
}

/** `maintenance` refuses submissions and follows what is in flight; `halted` hands nothing to leaders either. */
export const engineSwitches = ["maintenance", "halted"] as const;
export type EngineSwitch = (typeof engineSwitches)[number];

/** A switch that operators have set. */
export interface EngineSwitchRecord {
  readonly name: EngineSwitch;
  readonly isOn: boolean;
  readonly setAt: number;
}

/** The switches of the block engine. */
export interface EngineSwitchStore {
  set(name: EngineSwitch, isOn: boolean): Promise<EngineSwitchRecord>;
  /** All of them; one that was never set is off, at 0. */
  all(): Promise<readonly EngineSwitchRecord[]>;
}

/** A searcher's counters, in the form of its owner. */
export interface ReputationRecord {
  readonly searcherId: string;
  /** Of the form of `value`, which is its owner's. */
  readonly version: number;
  /** JSON of at most 16,384 characters. */
  readonly value: unknown;
}

/** The reputations of searchers. */
export interface ReputationStore {
  /** Replaces what is stored; of two for one searcher the later one wins. At most 10,000, all of them or none. */
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

/** The keys to which bundles are sealed. */
export interface EncryptionKeyStore {
  /** CONFLICT when the id is taken. */
  insert(key: EncryptionKeyRecord): Promise<void>;
  /** Those that are valid at this slot or will be, the first to begin first, at most 1000. */
  since(slot: bigint): Promise<readonly EncryptionKeyRecord[]>;
  /** Deletes up to 1000 that ended before this slot; gives their number. */
  forget(before: bigint): Promise<number>;
}

/** The first envelope with each encapsulated key, so that none counts as a second bundle. */
export interface ReplayStore {
  /** The first holder: `holder` itself, or another one, and then nothing is changed. Shares its commit. */
  claim(claim: { readonly enc: Uint8Array; readonly holder: string; readonly expiresAt: number }): Promise<string>;
  /** Removes up to 1000 expired claims; gives their number. */
  forgetExpired(): Promise<number>;
}

/** How far each reader has read, by the reader's name. */
export interface CursorStore {
  get(name: string): Promise<string | null>;
  /** At most 1000 characters. */
  set(name: string, value: string): Promise<void>;
}

/** The stores of the block engine of one network: what speaks of a chain is that network's alone. */
export interface EngineStores {
  readonly bundles: BundleStore;
  readonly searchers: SearcherStore;
  readonly switches: EngineSwitchStore;
  readonly reputations: ReputationStore;
  readonly encryptionKeys: EncryptionKeyStore;
  readonly replays: ReplayStore;
  readonly cursors: CursorStore;
}

/** The stores of one network's engine, with or without a lease that fences writes to them. */
export interface NetworkEngineStores extends EngineStores {
  /**
   * The same memory for the holder of a lease: once another holds it, every write is refused with OVERLOADED, of which
   * `stateErrorCodeOf` gives FENCED, in the same transaction that would have made it. What operators write (searchers,
   * switches) is under no lease.
   */
  under(lease: Pick<LeaseRecord, "name" | "epoch">): EngineStores;
}

/** What the engines of all networks share (whom keys belong to, operators' switches), and the stores of each. */
export interface EngineState extends Pick<EngineStores, "searchers" | "switches"> {
  of(network: Network): NetworkEngineStores;
}
