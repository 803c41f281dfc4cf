import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import { BoundedMap } from "@sluice/lib";
import { decodeMetaplexMetadata, metaplexMetadataAddress, tokenMetadataProgram } from "@sluice/wire/accounts/metaplex";
import { decodeMplCore, mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import type { AccountAnswer, AccountReads } from "./account-reads.ts";

/** NFTs whose collection is remembered. */
const knownMax = 20_000;
const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

interface NftQuestion {
  readonly network: Network;
  readonly mint: string;
  /** A node that has not reached it is not asked. */
  readonly slot: bigint;
}

/**
 * The verified collections of NFTs, read from the accounts of the chain. What an NFT belongs to is set when it is made
 * and hardly ever changed, so it is read once.
 */
export class NftCollections {
  readonly #reads: Pick<AccountReads, "read">;
  readonly #known = new BoundedMap<string, string | null>({ max: knownMax, evicts: "least-recently-used" });

  constructor(reads: Pick<AccountReads, "read">) {
    this.#reads = reads;
  }

  /** Null for an NFT of no collection; undefined where no node told it in time. Never rejects. */
  async of({ network, mint, slot }: NftQuestion): Promise<string | null | undefined> {
    const key = `${network} ${mint}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const metadata = metaplexMetadataAddress(mint, sha256);
    const read = (account: string) => this.#reads.read({ network, account, slot, form: "base64" });
    const [asset, described] = await Promise.all([read(mint), metadata === null ? null : read(metadata)]);
    if (asset === null || (metadata !== null && described === null)) return undefined;
    const collection = collectionOfAsset(asset) ?? collectionOf(described);
    // An NFT that is not there any more, or not yet, is looked at again.
    if (collection !== null || asset.account !== null) this.#known.set(key, collection);
    return collection;
  }
}

/** An asset of MPL Core is of the collection that may change it. */
function collectionOfAsset(asset: AccountAnswer): string | null {
  const data = dataOf(asset, mplCoreProgram);
  const decoded = data === null ? null : decodeMplCore(data);
  if (decoded?.kind !== "asset" || decoded.updateAuthority.kind !== "collection") return null;
  return decoded.updateAuthority.address;
}

function collectionOf(metadata: AccountAnswer | null): string | null {
  const data = dataOf(metadata, tokenMetadataProgram);
  const collection = data === null ? null : (decodeMetaplexMetadata(data)?.collection ?? null);
  return collection?.isVerified === true ? collection.key : null;
}

/** The data of an account of a program; null for another one, or none. */
function dataOf(answer: AccountAnswer | null, owner: string): Uint8Array | null {
  const account = answer?.account ?? null;
  const [text] = account !== null && Array.isArray(account["data"]) ? (account["data"] as readonly unknown[]) : [];
  if (account?.["owner"] !== owner || typeof text !== "string") return null;
  return Buffer.from(text, "base64");
}
