import { metaplexMetadataAddress } from "@sluice/wire/accounts/metaplex";
import { editionAddress, tokenRecordAddress } from "@sluice/wire/accounts/metaplex-editions";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import type { Asset } from "../assets/asset.ts";
import { coreAsset, coreCollectionOf } from "../assets/core-asset.ts";
import { isOfOneUnit, isProgrammable, readToken, type TokenAccounts, tokenAsset } from "../assets/token-asset.ts";
import { type ShownAccount, sha256 } from "../node-accounts.ts";
import { type AssetNodes, NodeReads, type ReadingTerms } from "./node-reads.ts";

/** What is read of some assets: null for one that is not there. */
export interface AssetReadings {
  /** All of them hold what had happened by this slot. */
  readonly slot: bigint;
  readonly assets: ReadonlyMap<string, Asset | null>;
  /** Assets of one unit of which the nodes refuse to tell the holder: they are without an owner here. */
  readonly unheld: ReadonlySet<string>;
}

/**
 * Reads assets from their accounts.
 *
 * @param holders - token accounts that may hold an asset's only unit, by asset; where none does the nodes are asked
 * @throws {Error} when no node answers; that holders of single assets are refused is told in `unheld`
 */
export async function readAssets(
  nodes: AssetNodes,
  ids: readonly string[],
  { holders, ...terms }: ReadingTerms & { readonly holders: ReadonlyMap<string, readonly string[]> },
): Promise<AssetReadings> {
  const reads = new NodeReads(nodes, terms);
  const accounts = await reads.accounts(ids.flatMap(accountsOfAsset));
  const cores = ids.filter((id) => accounts.get(id)?.program === mplCoreProgram);
  const others = ids.filter((id) => accounts.get(id)?.program !== mplCoreProgram);
  const assets = new Map<string, Asset | null>();
  for (const [id, asset] of await coreAssets(reads, cores, accounts)) assets.set(id, asset);
  const tokens = await tokenAssets(reads, others, { accounts, holders });
  for (const [id, asset] of tokens.assets) assets.set(id, asset);
  return { slot: reads.slot ?? terms.minimumSlot, assets, unheld: tokens.unheld };
}

type Accounts = ReadonlyMap<string, ShownAccount | null>;

const metadataOf = (id: string): string => metaplexMetadataAddress(id, sha256) ?? id;
const editionOf = (id: string): string => editionAddress(id, sha256) ?? id;
const accountsOfAsset = (id: string): string[] => [id, metadataOf(id), editionOf(id)];

async function coreAssets(
  reads: NodeReads,
  ids: readonly string[],
  accounts: Accounts,
): Promise<readonly [string, Asset | null][]> {
  const dataOf = (id: string): Uint8Array => accounts.get(id)?.data ?? new Uint8Array();
  const collections = await reads.accounts(ids.flatMap((id) => coreCollectionOf(dataOf(id)) ?? []));
  return ids.map((id) => {
    const above = collections.get(coreCollectionOf(dataOf(id)) ?? "") ?? null;
    return [id, coreAsset(id, dataOf(id), above?.program === mplCoreProgram ? above.data : null)];
  });
}

async function tokenAssets(
  reads: NodeReads,
  ids: readonly string[],
  { accounts, holders }: { readonly accounts: Accounts; readonly holders: ReadonlyMap<string, readonly string[]> },
): Promise<{ readonly assets: readonly [string, Asset | null][]; readonly unheld: ReadonlySet<string> }> {
  const parts = new Map(ids.map((id) => [id, partsOf(id, accounts)]));
  const held = ids.filter((id) => {
    const told = readToken(parts.get(id) ?? noAccounts);
    return told !== null && isOfOneUnit(told);
  });
  const { found, unheld } = await holdersOf(reads, held, { parts, holders });
  const assetOf = (id: string) => tokenAsset(id, parts.get(id) ?? noAccounts, found.get(id) ?? null);
  return { assets: ids.map((id) => [id, assetOf(id)]), unheld };
}

const noAccounts: TokenAccounts = { mint: null, metadata: null, edition: null };

function partsOf(id: string, accounts: Accounts): TokenAccounts {
  const of = (address: string): ShownAccount | null => accounts.get(address) ?? null;
  return { mint: of(id), metadata: of(metadataOf(id)), edition: of(editionOf(id)) };
}

interface Candidate {
  readonly id: string;
  readonly address: string;
  /** Null where the asset is not programmable. */
  readonly record: string | null;
}

/** Who holds each asset: one of the known token accounts, else the one that nodes name. */
async function holdersOf(
  reads: NodeReads,
  ids: readonly string[],
  {
    parts,
    holders,
  }: { readonly parts: ReadonlyMap<string, TokenAccounts>; readonly holders: ReadonlyMap<string, readonly string[]> },
) {
  const candidate = (id: string, address: string): Candidate => {
    const told = readToken(parts.get(id) ?? noAccounts);
    const record = told !== null && isProgrammable(told) ? tokenRecordAddress(id, address, sha256) : null;
    return { id, address, record };
  };
  const known = ids.flatMap((id) => (holders.get(id) ?? []).map((address) => candidate(id, address)));
  const found = new Map<string, { address: string; account: ShownAccount | null; record: ShownAccount | null }>();
  const look = async (candidates: readonly Candidate[]): Promise<void> => {
    const read = await reads.accounts(candidates.flatMap(({ address, record }) => [address, record ?? address]));
    for (const { id, address, record } of candidates) {
      const holder = { address, account: read.get(address) ?? null, record: read.get(record ?? "") ?? null };
      const asset = tokenAsset(id, parts.get(id) ?? noAccounts, holder);
      if (asset !== null && asset.ownership.owner !== null) found.set(id, holder);
    }
  };
  await look(known);
  const named: Candidate[] = [];
  const unheld = new Set<string>();
  for (const id of ids) {
    if (found.has(id)) continue;
    const holder = await reads.holder(id);
    if (holder === "refused") unheld.add(id);
    else if (holder !== null) named.push(candidate(id, holder.address));
  }
  await look(named);
  return { found, unheld };
}
