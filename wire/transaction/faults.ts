/** Why bytes are no canonical transaction. Codes are append-only: callers map them to answers and counters. */
export const transactionFaults = {
  TOO_LARGE: "more bytes than a transaction of this version may have",
  TRUNCATED: "the bytes end inside a field, or a count is larger than what the bytes can hold",
  TRAILING_BYTES: "bytes follow the end",
  NON_CANONICAL_LENGTH: "a compact-u16 length is padded, longer than three bytes, or above 65535",
  UNSUPPORTED_VERSION: "a version that does not exist, or in the framing of another version",
  NO_SIGNERS: "the header requires no signature, so nobody pays the fee",
  TOO_MANY_SIGNERS: "the header requires more signatures than there are keys, or than the version allows",
  FEE_PAYER_READONLY: "every signer is readonly, so the fee payer is not writable",
  READONLY_OVERLAP: "more readonly keys without signature than keys without signature",
  SIGNATURE_COUNT_MISMATCH: "the number of signatures is not what the header requires",
  TOO_MANY_KEYS: "more keys than an index can address, or than the version allows",
  DUPLICATE_KEY: "a key is listed twice",
  TOO_MANY_INSTRUCTIONS: "more instructions than the version allows",
  PROGRAM_INDEX_OUT_OF_RANGE: "an instruction's program is not among the static keys",
  PROGRAM_IS_FEE_PAYER: "an instruction calls the fee payer as a program",
  ACCOUNT_INDEX_OUT_OF_RANGE: "an instruction names an account that does not exist",
  EMPTY_LOOKUP: "a lookup table is named without any index",
  INVALID_CONFIG_MASK: "the v1 configuration mask has unknown bits or half of the priority fee's pair",
  INVALID_HEAP_SIZE: "the v1 heap size is no multiple of 1 KiB from 32 to 256 KiB",
} as const;

export type TransactionFault = keyof typeof transactionFaults;

/** `offset` is where in the given bytes the fault was seen. */
export interface TransactionRefusal {
  readonly ok: false;
  readonly fault: TransactionFault;
  readonly offset: number;
}

/** Bounds of the chain's own; sizes in bytes. v1's are SIMD-0385's, Transaction Constraints. */
export const transactionLimits = {
  legacyBytes: 1232,
  v1Bytes: 4096,
  totalKeys: 256,
  v1Signatures: 12,
  v1Keys: 64,
  v1Instructions: 64,
  v1HeapSizeMin: 32 * 1024,
  v1HeapSizeMax: 256 * 1024,
} as const;
