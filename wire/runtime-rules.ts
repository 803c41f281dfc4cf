import type { Address } from "./identifiers.ts";
import { programs, sysvars } from "./programs.ts";

/** Programs that run inside the node and reserve 3,000 compute units by default; all others reserve 200,000. */
export const builtInPrograms: readonly Address[] = [
  programs.system,
  programs.computeBudget,
  programs.vote,
  programs.bpfLoaderUpgradeable,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
  programs.loaderV4,
  programs.ed25519,
  programs.secp256k1,
];

/** Programs that check signatures of their own, which the fee counts as well. */
export const precompiles: readonly Address[] = [programs.ed25519, programs.secp256k1, programs.secp256r1];

/** Keys that the runtime never locks for writing, whatever a message asks. Source: agave, reserved_account_keys. */
export const reservedKeys: readonly Address[] = [
  programs.system,
  programs.addressLookupTable,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
  programs.bpfLoaderUpgradeable,
  programs.computeBudget,
  programs.config,
  programs.ed25519,
  programs.featureGate,
  programs.secp256k1,
  programs.loaderV4,
  programs.nativeLoader,
  programs.secp256r1,
  programs.stake,
  programs.stakeConfig,
  programs.vote,
  programs.zkElGamalProof,
  "ZkTokenProof1111111111111111111111111111111" as Address,
  ...Object.values(sysvars),
  "SysvarFees111111111111111111111111111111111" as Address,
  "SysvarRewards111111111111111111111111111111" as Address,
];

/** What transactions pay and reserve: lamports a signature, and compute units. Source: agave, compute budget. */
export const feeRules = {
  lamportsPerSignature: 5_000n,
  unitsMax: 1_400_000,
  unitsBuiltIn: 3_000,
  unitsProgram: 200_000,
} as const;

/** Costs of a block's cost model, in cost units; sizes in bytes. Sources: solana-cost-model, SIMD-0186 (overhead). */
export const costModel = {
  signature: 720,
  writeLock: 300,
  instructionBytesPerUnit: 4,
  pageBytes: 32_768,
  page: 8,
  /** Each account counts this many bytes beside its data towards a transaction's loaded size. */
  accountOverheadBytes: 64,
} as const;
