/** The block engine's rows, as both drivers give them; bytes are a Uint8Array or a subclass of it. */
export interface BundleRow {
  id: string;
  searcher_id: string;
  door: string;
  /** Base58 texts with commas between. */
  signatures: string;
  tip: bigint;
  mev_type: string;
  target_slot: bigint | null;
  received_at: bigint;
  accepted_slot: bigint;
  last_valid_block_height: bigint | null;
  expires_at: bigint;
  state: string;
  reason: string | null;
  detail: string | null;
  landed_slot: bigint | null;
  landed_blockhash: string | null;
  /** Null while it is in no block, and for what landed before this was kept. */
  landed_index: bigint | null;
  forwarded_times: bigint;
  forwarded_slot: bigint | null;
  forwarded_leader: string | null;
  tip_seen: bigint | null;
  compute_units: bigint | null;
  changed_at: bigint;
  /** Null while it can still change. */
  ended_at: bigint | null;
  /** Ids with commas between; null for none. */
  followers: string | null;
  network: string;
  /** The hash of the chain's genesis; null where it was not known. */
  chain: string | null;
}

/** Apart from the bundle, so that a step does not write it anew, and gone when the bundle has ended. */
export interface BundleContentRow {
  bundle_id: string;
  transactions: Uint8Array;
  sealed: Uint8Array | null;
  /** Null in rows of versions that did not write it, as below. */
  network: string | null;
}

/** Outcomes that are not in the ledger yet. */
export interface BundleOutcomeRow {
  bundle_id: string;
  ended_at: bigint;
  network: string | null;
}

export interface SearcherRow {
  pubkey: string;
  account_id: string;
  linked_at: bigint;
}

export interface SearcherLimitRow {
  searcher_id: string;
  bundles_per_second: bigint;
  burst: bigint;
  set_at: bigint;
}

interface EngineSwitchRow {
  name: string;
  is_on: bigint;
  set_at: bigint;
}

export interface ReputationRow {
  network: string;
  searcher_id: string;
  version: bigint;
  value: string;
}

export interface EncryptionKeyRow {
  id: string;
  created_at: bigint;
  valid_from: bigint;
  valid_until: bigint;
  public_key: Uint8Array;
  private_key: Uint8Array;
  network: string;
}

export interface ReplayRow {
  /** 64 hexadecimal digits. */
  enc: string;
  holder: string;
  expires_at: bigint;
}

interface EngineCursorRow {
  /** The network, a colon and the reader's name. */
  name: string;
  value: string;
}

export interface EngineTables {
  bundles: BundleRow;
  bundle_contents: BundleContentRow;
  bundle_outcomes: BundleOutcomeRow;
  searchers: SearcherRow;
  searcher_limits: SearcherLimitRow;
  engine_switches: EngineSwitchRow;
  searcher_reputations: ReputationRow;
  encryption_keys: EncryptionKeyRow;
  replays: ReplayRow;
  engine_cursors: EngineCursorRow;
}
