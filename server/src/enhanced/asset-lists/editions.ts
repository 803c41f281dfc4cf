import type { JsonObject } from "@sluice/encode";
import { editionAddress } from "@sluice/wire/accounts/metaplex-editions";
import { anyAsset, type LedgerAssetReads } from "../../ledger/index.ts";
import { assetOfIndex } from "../asset-index/indexed-asset.ts";
import type { AssetReader } from "../assets/asset-reader.ts";
import { masterEditionOf } from "../assets/editions.ts";
import { sha256 } from "../node-accounts.ts";
import type { Asking } from "../node-calls.ts";
import { type IndexCoverage, indexRecord } from "./coverage.ts";
import { type DasInput, InvalidInput } from "./das-input.ts";
import { ListRefusal } from "./list-refusal.ts";

const limitMax = 1_000;
/** Prints that a page may pass over. */
const skippedMax = 100_000;

/**
 * getNftEditions: the prints of a master edition that the index has, the first made first. The master is read from
 * nodes, so that its counts are those of the chain. Source: helius-sdk 3.2.
 */
export async function nftEditions(
  { assets, reads }: { readonly assets: Pick<AssetReader, "read">; readonly reads: Pick<LedgerAssetReads, "list"> },
  asking: Asking,
  { input, coverage }: { readonly input: DasInput; readonly coverage: IndexCoverage },
): Promise<JsonObject> {
  input.allow(["mint", "page", "limit"]);
  const mint = input.requiredAddress("mint");
  const limit = input.whole("limit", 1, limitMax) ?? limitMax;
  const page = input.whole("page", 1, skippedMax + 1) ?? 1;
  const skip = (page - 1) * limit;
  if (skip > skippedMax) throw new InvalidInput(`page must not pass over more than ${skippedMax} prints`);
  const read = await assets.read(asking, [mint]);
  if (!read.ok) throw new ListRefusal(read.code, "The nodes do not tell the master edition");
  const master = read.assets.get(mint);
  const account = master === undefined ? null : masterEditionOf(master);
  if (master?.edition?.kind !== "master" || account === null) throw new InvalidInput("mint must be a master edition");
  const filter = { ...anyAsset, printOf: account };
  const order = { sort: "created", order: "asc", after: null, before: null, skip, limit } as const;
  const found = await reads.list(asking.network, filter, order);
  const editions = found.flatMap((indexed): JsonObject[] => {
    const print = assetOfIndex(indexed);
    if (print?.edition?.kind !== "print" || print.edition.parent !== account) return [];
    // Of MPL Core an asset's edition is in its own account.
    const address = print.source === "mpl_core" ? print.id : editionAddress(print.id, sha256);
    return [{ mint: print.id, edition_address: address, edition: print.edition.number, burnt: print.isBurnt }];
  });
  return {
    last_indexed_slot: coverage.lastSlot ?? 0n,
    ...{ total: editions.length, limit, page },
    master_edition_address: account,
    supply: master.edition.supply,
    max_supply: master.edition.maxSupply,
    editions,
    index: indexRecord(coverage, 0),
  };
}
