import { decodeMetaplexMetadata, tokenMetadataProgram } from "@sluice/wire/accounts/metaplex";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import { decodeMint, decodeTokenAccount } from "@sluice/wire/accounts/token";
import { programs, sysvars } from "@sluice/wire/programs";
import type { ShownAccount } from "../node-accounts.ts";

/** Programs whose calls may change an asset, with all of their accounts. */
export const assetPrograms: readonly string[] = [tokenMetadataProgram, mplCoreProgram];
/** The programs of mints and token accounts. */
export const tokenPrograms: readonly string[] = [programs.token, programs.token2022];

/** Addresses that stand in many calls and are no assets. */
const neverAssets: ReadonlySet<string> = new Set<string>([
  ...Object.values(programs),
  ...Object.values(sysvars),
  ...assetPrograms,
]);

export const mayBeAsset = (address: string): boolean => !neverAssets.has(address);

/** Which assets some addresses belong to. */
export interface TouchedAssets {
  /** With the address by which each was found first. */
  readonly ids: ReadonlyMap<string, string>;
  /** Token accounts that hold a unit, by mint. */
  readonly holders: ReadonlyMap<string, readonly string[]>;
  /** Addresses where no asset is now: some of them may have been one. */
  readonly gone: readonly string[];
}

/** The first byte of an account of MPL Core that is an asset, or a collection. */
const coreKeys = { asset: 1, collection: 5 } as const;

/** Tells assets by the accounts that were read. */
export function assetsOfAccounts(accounts: ReadonlyMap<string, ShownAccount | null>): TouchedAssets {
  const ids = new Map<string, string>();
  const holders = new Map<string, string[]>();
  const gone: string[] = [];
  const add = (id: string, address: string): void => {
    if (!ids.has(id)) ids.set(id, address);
  };
  for (const [address, account] of accounts) {
    if (account === null) gone.push(address);
    else if (account.program === mplCoreProgram) {
      const [key] = account.data;
      if (key === coreKeys.asset || key === coreKeys.collection) add(address, address);
      else gone.push(address);
    } else if (account.program === tokenMetadataProgram) {
      const metadata = decodeMetaplexMetadata(account.data);
      if (metadata !== null) add(metadata.mint, address);
    } else if (tokenPrograms.includes(account.program)) {
      if (decodeMint(account.data)?.isInitialized === true) add(address, address);
      else addHolder({ add, holders }, address, account);
    }
  }
  return { ids, holders, gone };
}

function addHolder(
  to: { readonly add: (id: string, address: string) => void; readonly holders: Map<string, string[]> },
  address: string,
  { data }: ShownAccount,
): void {
  const held = decodeTokenAccount(data);
  if (held === null) return;
  to.add(held.mint, address);
  if (held.amount !== 1n) return;
  to.holders.set(held.mint, [...(to.holders.get(held.mint) ?? []), address]);
}
