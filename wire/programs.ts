import type { Address } from "./identifiers.ts";

/**
 * Ids of the programs, sysvars and loaders that every Solana-VM chain has. The test decodes each to 32 bytes and, where
 * @solana/kit or a program's own client names one, compares.
 */
const id = (text: string): Address => text as Address;

/** Program ids by name. Source: Agave `solana-sdk-ids`, SPL. */
export const programs = {
  system: id("11111111111111111111111111111111"),
  token: id("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
  token2022: id("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"),
  associatedToken: id("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
  memoV1: id("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo"),
  memo: id("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  stake: id("Stake11111111111111111111111111111111111111"),
  vote: id("Vote111111111111111111111111111111111111111"),
  addressLookupTable: id("AddressLookupTab1e1111111111111111111111111"),
  computeBudget: id("ComputeBudget111111111111111111111111111111"),
  config: id("Config1111111111111111111111111111111111111"),
  featureGate: id("Feature111111111111111111111111111111111111"),
  stakeConfig: id("StakeConfig11111111111111111111111111111111"),
  nativeLoader: id("NativeLoader1111111111111111111111111111111"),
  bpfLoaderDeprecated: id("BPFLoader1111111111111111111111111111111111"),
  bpfLoader: id("BPFLoader2111111111111111111111111111111111"),
  bpfLoaderUpgradeable: id("BPFLoaderUpgradeab1e11111111111111111111111"),
  loaderV4: id("LoaderV411111111111111111111111111111111111"),
  ed25519: id("Ed25519SigVerify111111111111111111111111111"),
  secp256k1: id("KeccakSecp256k11111111111111111111111111111"),
  secp256r1: id("Secp256r1SigVerify1111111111111111111111111"),
  zkElGamalProof: id("ZkE1Gama1Proof11111111111111111111111111111"),
  noop: id("noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV"),
  nameService: id("namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX"),
} as const;

/** Ids of the sysvar accounts. Source: Agave `solana-sdk-ids`. */
export const sysvars = {
  /** Owner of all the others. */
  owner: id("Sysvar1111111111111111111111111111111111111"),
  clock: id("SysvarC1ock11111111111111111111111111111111"),
  epochRewards: id("SysvarEpochRewards1111111111111111111111111"),
  epochSchedule: id("SysvarEpochSchedu1e111111111111111111111111"),
  instructions: id("Sysvar1nstructions1111111111111111111111111"),
  lastRestartSlot: id("SysvarLastRestartS1ot1111111111111111111111"),
  recentBlockhashes: id("SysvarRecentB1ockHashes11111111111111111111"),
  rent: id("SysvarRent111111111111111111111111111111111"),
  slotHashes: id("SysvarS1otHashes111111111111111111111111111"),
  slotHistory: id("SysvarS1otHistory11111111111111111111111111"),
  stakeHistory: id("SysvarStakeHistory1111111111111111111111111"),
} as const;

/** Mints of wrapped native currency, and the address without a key. */
export const wellKnownAddresses = {
  wrappedNativeMint: id("So11111111111111111111111111111111111111112"),
  wrappedNativeMint2022: id("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9"),
  incinerator: id("1nc1nerator11111111111111111111111111111111"),
} as const;
