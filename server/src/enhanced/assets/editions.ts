import type { Network } from "@sluice/contract/tiers";
import { editionAddress } from "@sluice/wire/accounts/metaplex-editions";
import type { LedgerAssetReads } from "../../ledger/index.ts";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import { sha256 } from "../node-accounts.ts";
import type { Asset } from "./asset.ts";

/**
 * The account of the master edition that an asset is, or of which it is a print; null for others. Of MPL Core a
 * collection is the master.
 */
export function masterEditionOf({ id, source, edition }: Pick<Asset, "id" | "source" | "edition">): string | null {
  if (edition === null) return null;
  if (edition.kind === "print") return edition.parent;
  return source === "mpl_core" ? id : editionAddress(id, sha256);
}

/** Mints of the masters of prints, by the masters' accounts. */
export type MasterMints = ReadonlyMap<string, string>;

/**
 * The mints of the masters of which some assets are prints, as far as the index has them: a print names its master's
 * account alone, of which no mint follows.
 */
export async function mastersOf(
  reads: Pick<LedgerAssetReads, "masters">,
  network: Network,
  assets: Iterable<Asset>,
): Promise<MasterMints> {
  const prints = [...assets].filter(({ edition }) => edition?.kind === "print");
  const found = new Map<string, string>();
  const accounts = new Set<string>();
  for (const asset of prints) {
    const account = masterEditionOf(asset);
    if (account === null) continue;
    if (asset.source === "mpl_core") found.set(account, account);
    else accounts.add(account);
  }
  try {
    for (const [account, mint] of await reads.masters(network, [...accounts])) {
      // What the index says of an account is believed where the account follows from the mint.
      if (editionAddress(mint, sha256) === account) found.set(account, mint);
    }
  } catch (error) {
    // An asset is told without its master while the ledger is away.
    if (!(error instanceof LedgerUnavailableError)) throw error;
  }
  return found;
}
