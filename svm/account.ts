/** An account as the chain writes it. u64 values are bigint, addresses base58 text. */
export interface ChainAccount {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly owner: string;
  readonly executable: boolean;
  readonly rentEpoch: bigint;
}

/** The rent epoch that a node writes for every account that pays no rent, which is every account today. */
export const rentExemptEpoch = 0xffff_ffff_ffff_ffffn;
