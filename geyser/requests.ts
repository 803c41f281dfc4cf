/**
 * The requests of geyser.proto as they are when loaded with `protoLoading` of contract. 64-bit numbers are decimal
 * text.
 */

/** An enumeration: its name, or the number where it has none. */
type EnumValue = string | number;

/** Data, the shape of its buckets, and the seed of its hashes. */
export interface CuckooRequest {
  readonly data: Uint8Array;
  readonly bucket_count: number;
  readonly entries_per_bucket: number;
  readonly fingerprint_bits: number;
  readonly hash_seed: string;
  readonly hash_algorithm: EnumValue;
}

export interface AccountsRequest {
  readonly account: readonly string[];
  readonly owner: readonly string[];
  readonly filters: readonly AccountsFilterRequest[];
  readonly nonempty_txn_signature?: boolean;
  readonly cuckoo_accounts_filter?: CuckooRequest | null;
}

/** One of its members is there, or none. */
export interface AccountsFilterRequest {
  readonly memcmp?: {
    readonly offset: string;
    readonly bytes?: Uint8Array;
    readonly base58?: string;
    readonly base64?: string;
  } | null;
  readonly datasize?: string;
  readonly token_account_state?: boolean;
  readonly lamports?: { readonly [comparison in "eq" | "ne" | "lt" | "gt"]?: string } | null;
}

export interface SlotsRequest {
  readonly filter_by_commitment?: boolean;
  readonly interslot_updates?: boolean;
}

export interface TransactionsRequest {
  readonly vote?: boolean;
  readonly failed?: boolean;
  readonly signature?: string;
  readonly account_include: readonly string[];
  readonly account_exclude: readonly string[];
  readonly account_required: readonly string[];
  readonly cuckoo_account_include?: CuckooRequest | null;
  readonly token_accounts?: EnumValue;
}

export interface BlocksRequest {
  readonly account_include: readonly string[];
  readonly include_transactions?: boolean;
  readonly include_accounts?: boolean;
  readonly include_entries?: boolean;
  readonly cuckoo_account_include?: CuckooRequest | null;
}

export interface SliceRequest {
  readonly offset: string;
  readonly length: string;
}

type Named<T> = { readonly [name: string]: T };

export interface SubscribeRequest {
  readonly accounts: Named<AccountsRequest>;
  readonly slots: Named<SlotsRequest>;
  readonly transactions: Named<TransactionsRequest>;
  readonly transactions_status: Named<TransactionsRequest>;
  readonly blocks: Named<BlocksRequest>;
  readonly blocks_meta: Named<object>;
  readonly entry: Named<object>;
  readonly commitment?: EnumValue;
  readonly accounts_data_slice: readonly SliceRequest[];
  readonly ping?: { readonly id: number } | null;
  readonly from_slot?: string;
}
