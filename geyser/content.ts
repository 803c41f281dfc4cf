import type { TokenBalance } from "@sluice/encode";
import type { AccountUpdate, EntryUpdate } from "@sluice/encode/updates";

type Balance = Pick<TokenBalance, "accountIndex" | "owner" | "amount">;

/** What an update holds: bytes that go out one after another. */
export type UpdateContent = readonly Uint8Array[];

/** A transaction of a slot: what filters ask of it, and the bytes that streams send. */
export interface FilteredTransaction {
  /** The first one, in base58. */
  readonly signature: string;
  readonly isVote: boolean;
  readonly failed: boolean;
  /** All keys in base58, loaded ones included. */
  readonly keys: ReadonlySet<string>;
  readonly preTokenBalances: readonly Balance[];
  readonly postTokenBalances: readonly Balance[];
  /** geyser.SubscribeUpdateTransactionInfo. */
  readonly packed: Uint8Array;
  /** As an update of `transactions`, and as one of `transactions_status`. */
  readonly asTransaction: UpdateContent;
  readonly asStatus: UpdateContent;
}

export interface FilteredAccount {
  readonly update: AccountUpdate;
  readonly packed: Uint8Array;
}

export interface FilteredEntry {
  readonly update: EntryUpdate;
  readonly packed: Uint8Array;
}

/** What of a block a filter shows. */
export interface BlockSelection {
  readonly transactions: readonly FilteredTransaction[];
  /** Cut down to the stream's slices. */
  readonly accounts: readonly AccountUpdate[];
  readonly entries: readonly FilteredEntry[];
}

/** All that a stream may be told of a slot at its commitment, packed once whoever receives it. */
export interface SlotContent {
  /** In the order of their write versions; at confirmed and finalized one for each account. */
  readonly accounts: readonly FilteredAccount[];
  /** In the order of execution. */
  readonly transactions: readonly FilteredTransaction[];
  readonly entries: readonly FilteredEntry[];
  /** The block without what lies in it, as an update of `blocks_meta`. */
  readonly packedMeta: Uint8Array;
  /** The block with what is selected, as an update of `blocks`. */
  packBlock(selection: BlockSelection): UpdateContent;
}
