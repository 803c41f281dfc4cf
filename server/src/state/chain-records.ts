import type { Network } from "@sluice/contract/tiers";

/** Which chain a network is: its genesis, and a block, since a chain may be started anew with the same genesis. */
export interface ChainRecord {
  /** The genesis hash in base58. */
  readonly genesis: string;
  /** The first block after the genesis that nodes had, at most 2^63-1; null before one was seen. */
  readonly first: { readonly slot: bigint; readonly blockhash: string } | null;
}

/** The chain that each network was seen to be. Every method throws SluiceError. */
export interface ChainStore {
  find(network: Network): Promise<ChainRecord | null>;
  /** In place of what was stored for the network. */
  put(network: Network, chain: ChainRecord): Promise<void>;
}
