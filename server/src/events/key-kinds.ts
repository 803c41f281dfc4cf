/** As what a key is there in a transaction or an event: bits, several of which one key may have. */

/** An account: one of a transaction's, or the one that an event is about. */
export const accountKind = 1;
/** An owner of token balances. */
export const ownerKind = 2;
/** An owner of token balances that changed. */
export const changedOwnerKind = 4;
/** A program: one that a transaction calls, or the owner of an account. All others are kinds of accounts. */
export const programKind = 8;

/** Keys of 32 bytes one after another, and of each the kinds; one without a kind is not there. */
export interface KindedKeys {
  readonly bytes: Uint8Array;
  readonly kinds: Uint8Array;
}
