import { programs, sysvars } from "@sluice/wire/programs";

/** The memo programs whose texts a node lists with a transaction's signature. */
export const memoPrograms: ReadonlySet<string> = new Set([programs.memoV1, programs.memo]);

/** Owners of accounts that the machine keeps in caches: sysvars and programs. */
export const cachedOwners: ReadonlySet<string> = new Set([
  sysvars.owner,
  programs.nativeLoader,
  programs.bpfLoaderUpgradeable,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
]);
