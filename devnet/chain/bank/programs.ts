import { programs, sysvars } from "@sluice/wire";

/** The memo programs whose texts a node lists with a transaction's signature. */
export const MEMO_PROGRAMS: ReadonlySet<string> = new Set([programs.memoV1, programs.memo]);

/** Programs that run inside the node and reserve 3,000 compute units by default; all others reserve 200,000. */
export const BUILTIN_PROGRAMS: ReadonlySet<string> = new Set([
  programs.system,
  programs.computeBudget,
  programs.vote,
  programs.bpfLoaderUpgradeable,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
  programs.loaderV4,
  programs.ed25519,
  programs.secp256k1,
]);

/** Programs that check signatures of their own, which the fee counts as well. */
export const PRECOMPILES: ReadonlySet<string> = new Set([programs.ed25519, programs.secp256k1, programs.secp256r1]);

/** Owners of accounts that the machine keeps in caches: sysvars and programs. */
export const CACHED_OWNERS: ReadonlySet<string> = new Set([
  sysvars.owner,
  programs.nativeLoader,
  programs.bpfLoaderUpgradeable,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
]);
