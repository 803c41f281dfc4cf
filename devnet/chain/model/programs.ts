import { programs, sysvars } from "@sluice/wire/programs";

/** Owners of accounts that the machine keeps in caches: sysvars and programs. */
export const cachedOwners: ReadonlySet<string> = new Set([
  sysvars.owner,
  programs.nativeLoader,
  programs.bpfLoaderUpgradeable,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
]);
