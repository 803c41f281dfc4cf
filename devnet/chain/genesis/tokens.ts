import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { bytesOf, encodeMint } from "../model/index.ts";
import {
  editionAddress,
  encodeListing,
  encodeMasterEdition,
  encodeMetadata,
  listingAddress,
  type MetadataParts,
  marketplaceProgram,
  metadataAddress,
  metadataProgramAddress,
  tokenStandard,
} from "../programs/index.ts";
import type { CollectionEntry, GenesisFile, MintEntry, NftEntry } from "./file.ts";
import { GenesisLedger, type KnownMint, rentFree } from "./ledger.ts";

function tokenProgramOf(entry: { readonly program: "token" | "token-2022" }): string {
  return entry.program === "token" ? programs.token : programs.token2022;
}

/** Makes a mint known to those who hold its units; its account follows when its supply is known. */
export function declareMint(ledger: GenesisLedger, entry: MintEntry): void {
  const address = entry.address ?? GenesisLedger.mintKeypair(entry.name).address;
  const { decimals, authority } = entry;
  ledger.addMint(entry.name, { address, bytes: bytesOf(address), program: tokenProgramOf(entry), decimals, authority });
}

/** A mint's account, and its metadata: in the mint itself under Token-2022, else beside it. */
export function addMint(ledger: GenesisLedger, entry: MintEntry, path: string): void {
  const mint = ledger.mint(entry.name);
  if (mint === null) return;
  const authority = ledger.keyOrNull(entry.authority);
  const inMint = entry.metadata !== null && mint.program === programs.token2022;
  const data = encodeMint({
    mint: mint.bytes,
    authority,
    freezeAuthority: ledger.keyOrNull(entry.freezeAuthority),
    supply: ledger.supply(mint),
    decimals: mint.decimals,
    metadata: inMint && entry.metadata !== null ? { authority, ...entry.metadata } : null,
  });
  ledger.add(path, mint.address, rentFree(mint.program, data));
  if (entry.metadata === null || inMint) return;
  addMetadata(ledger, path, {
    updateAuthority: authority ?? new Uint8Array(32),
    mint: mint.bytes,
    ...entry.metadata,
    sellerFeeBasisPoints: 0,
    creators: [],
    editionBump: null,
    tokenStandard: tokenStandard.fungible,
    collection: null,
    collectionSize: null,
  });
}

function addMetadata(ledger: GenesisLedger, path: string, parts: MetadataParts): void {
  const at = metadataAddress(parts.mint).address;
  ledger.add(path, at, rentFree(metadataProgramAddress, encodeMetadata(parts)));
}

/** A mint of one unit, which only its master edition could mint more of, and never does. */
function addMaster(
  ledger: GenesisLedger,
  path: string,
  name: string,
  parts: Omit<MetadataParts, "mint" | "editionBump" | "tokenStandard">,
): KnownMint {
  const keypair = GenesisLedger.mintKeypair(name);
  const bytes = keypair.publicKey;
  const edition = editionAddress(bytes);
  const units = { mint: bytes, authority: edition.bytes, freezeAuthority: edition.bytes, supply: 1n, decimals: 0 };
  ledger.add(path, keypair.address, rentFree(programs.token, encodeMint({ ...units, metadata: null })));
  ledger.add(path, encodeBase58(edition.bytes), rentFree(metadataProgramAddress, encodeMasterEdition()));
  const standard = { tokenStandard: tokenStandard.nonFungible, editionBump: edition.bump };
  addMetadata(ledger, path, { ...parts, ...standard, mint: bytes });
  return { address: keypair.address, bytes, program: programs.token, decimals: 0, authority: null };
}

export function addCollection(ledger: GenesisLedger, entry: CollectionEntry, size: bigint, path: string): KnownMint {
  const authority = ledger.key(entry.authority);
  const mint = addMaster(ledger, path, entry.name, {
    updateAuthority: authority,
    name: entry.title,
    symbol: entry.symbol,
    uri: entry.uri,
    sellerFeeBasisPoints: 0,
    creators: [{ address: authority, verified: true, share: 100 }],
    collection: null,
    collectionSize: size,
  });
  ledger.addHolding(path, mint, authority, 1n);
  return mint;
}

/** A token's own entry combined with its collection's. */
interface NftContext {
  readonly file: GenesisFile;
  /** The price of its listing, in lamports; null when it is not listed. */
  readonly price: bigint | null;
}

export function addNft(ledger: GenesisLedger, entry: NftEntry, { file, price }: NftContext, path: string): KnownMint {
  const collection = file.collections.find(({ name }) => name === entry.collection) ?? null;
  const authority = ledger.key(entry.authority ?? collection?.authority ?? entry.owner);
  const owner = ledger.key(entry.owner);
  if (entry.program === "token-2022") return addNft2022(ledger, entry, authority, owner, path);
  const creators = entry.creators.map(({ address, share }) => {
    const bytes = ledger.key(address);
    return { address: bytes, verified: Buffer.compare(bytes, authority) === 0, share };
  });
  const mint = addMaster(ledger, path, entry.name, {
    updateAuthority: authority,
    name: entry.title,
    symbol: entry.symbol,
    uri: entry.uri,
    sellerFeeBasisPoints: entry.royaltyBasisPoints,
    creators: creators.length > 0 ? creators : [{ address: authority, verified: true, share: 100 }],
    collection:
      collection === null ? null : { mint: GenesisLedger.mintKeypair(collection.name).publicKey, verified: true },
    collectionSize: null,
  });
  if (price === null) {
    ledger.addHolding(path, mint, owner, 1n);
    return mint;
  }
  const listing = listingAddress(mint.bytes);
  const data = encodeListing({ bump: listing.bump, owner, mint: mint.bytes, amount: price });
  ledger.add(path, encodeBase58(listing.bytes), rentFree(marketplaceProgram, data));
  ledger.addHolding(path, mint, listing.bytes, 1n);
  return mint;
}

function addNft2022(
  ledger: GenesisLedger,
  entry: NftEntry,
  authority: Uint8Array,
  owner: Uint8Array,
  path: string,
): KnownMint {
  const keypair = GenesisLedger.mintKeypair(entry.name);
  const mint = { address: keypair.address, bytes: keypair.publicKey, program: programs.token2022, decimals: 0 };
  const collection = entry.collection === null ? null : GenesisLedger.mintKeypair(entry.collection).address;
  const additional = new Map(collection === null ? [] : [["collection", collection] as const]);
  const metadata = { authority, name: entry.title, symbol: entry.symbol, uri: entry.uri, additional };
  const units = { mint: mint.bytes, authority: null, freezeAuthority: null, supply: 1n, decimals: 0 };
  ledger.add(path, mint.address, rentFree(mint.program, encodeMint({ ...units, metadata })));
  const known = { ...mint, authority: null };
  ledger.addHolding(path, known, owner, 1n);
  return known;
}
