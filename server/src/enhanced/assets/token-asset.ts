import { decodeMetaplexMetadata, type MetaplexMetadata, tokenMetadataProgram } from "@sluice/wire/accounts/metaplex";
import { decodeEdition, decodeTokenRecord } from "@sluice/wire/accounts/metaplex-editions";
import { decodeMint, decodeTokenAccount, type Mint } from "@sluice/wire/accounts/token";
import { decodeTokenExtensions, type TokenExtension } from "@sluice/wire/accounts/token-extensions";
import { programs } from "@sluice/wire/programs";
import type { ShownAccount } from "../node-accounts.ts";
import { type Asset, type AssetEdition, type AssetInterface, type AssetOwnership, assetWithout } from "./asset.ts";
import { groupOf, ownMetadata } from "./mint-metadata.ts";

/** The accounts that a mint's facts are in; null for one that is not there. */
export interface TokenAccounts {
  readonly mint: ShownAccount | null;
  readonly metadata: ShownAccount | null;
  readonly edition: ShownAccount | null;
}

/** The token account with the only unit of an NFT, and its record where the NFT is programmable. */
export interface TokenHolder {
  readonly address: string;
  readonly account: ShownAccount | null;
  readonly record: ShownAccount | null;
}

interface Told {
  readonly decoded: Mint;
  readonly extensions: readonly TokenExtension[];
  readonly metadata: MetaplexMetadata | null;
  readonly edition: AssetEdition | null;
}

/** What the accounts of a mint say; null for what is no mint of a token program, or none that is in use. */
export function readToken({ mint, metadata, edition }: TokenAccounts): Told | null {
  if (mint === null || (mint.program !== programs.token && mint.program !== programs.token2022)) return null;
  const decoded = decodeMint(mint.data);
  if (decoded === null || !decoded.isInitialized) return null;
  const ofProgram = (account: ShownAccount | null): Uint8Array | null =>
    account?.program === tokenMetadataProgram ? account.data : null;
  const [metadataBytes, editionBytes] = [ofProgram(metadata), ofProgram(edition)];
  return {
    decoded,
    extensions: mint.program === programs.token2022 ? (decodeTokenExtensions(mint.data) ?? []) : [],
    metadata: metadataBytes === null ? null : decodeMetaplexMetadata(metadataBytes),
    edition: editionBytes === null ? null : decodeEdition(editionBytes),
  };
}

const single = { model: "single", owner: null, delegate: null, isFrozen: false, tokenAccount: null } as const;

/**
 * A mint as an asset.
 *
 * @param holder - who has the only unit of an NFT; null where nobody has it, or the mint is none
 * @returns null when there is no mint
 */
export function tokenAsset(id: string, accounts: TokenAccounts, holder: TokenHolder | null): Asset | null {
  const told = readToken(accounts);
  const program = accounts.mint?.program;
  if (told === null || program === undefined) return null;
  const { decoded, extensions, edition } = told;
  const { supply, decimals, mintAuthority, freezeAuthority } = decoded;
  const kind = interfaceOf(told, ownMetadata(id, extensions) !== null);
  const isFungible = kind === "FungibleAsset" || kind === "FungibleToken";
  return {
    ...assetWithout,
    ...described(id, told),
    id,
    interface: kind,
    edition,
    ownership: isFungible ? { ...single, model: "token" } : ownershipOf(id, holder),
    // The metadata of an NFT may outlive its only unit.
    isBurnt: !isFungible && supply === 0n,
    token: { program, decimals, supply, mintAuthority, freezeAuthority, extensions },
  };
}

/** Whether a mint is of one unit, so that one account holds all of it. */
export const isOfOneUnit = ({ decoded: { decimals, supply } }: Pick<Told, "decoded">): boolean =>
  decimals === 0 && supply === 1n;

/** Whether the token accounts of a mint have records. */
export const isProgrammable = ({ metadata }: Pick<Told, "metadata">): boolean =>
  metadata?.tokenStandard?.startsWith("Programmable") === true;

/**
 * By the standard that the metadata state, else by mint and edition, as metadata that are older than standards have to
 * be told. A mint of one unit that nobody can mint more of and that describes itself is an NFT as well.
 */
function interfaceOf(told: Told, describesItself: boolean): AssetInterface {
  const { decoded, metadata, edition } = told;
  const { decimals, mintAuthority } = decoded;
  switch (metadata?.tokenStandard ?? null) {
    case "ProgrammableNonFungible":
    case "ProgrammableNonFungibleEdition":
      return "ProgrammableNFT";
    case "NonFungibleEdition":
      return "V1_PRINT";
    case "NonFungible":
      return edition?.kind === "print" ? "V1_PRINT" : "V1_NFT";
    case "FungibleAsset":
      return "FungibleAsset";
    case "Fungible":
      return "FungibleToken";
    case null:
      break;
  }
  if (decimals > 0) return "FungibleToken";
  if (metadata !== null && edition !== null) return edition.kind === "print" ? "V1_PRINT" : "V1_NFT";
  const isDescribed = metadata !== null || describesItself;
  if (isDescribed && isOfOneUnit(told) && mintAuthority === null) return "V1_NFT";
  return isDescribed ? "FungibleAsset" : "FungibleToken";
}

type Described = Pick<Asset, "source" | "isMutable"> & Partial<Asset>;

/** A mint's own metadata go before those of Token Metadata. */
function described(id: string, { extensions, metadata }: Told): Described {
  const own = ownMetadata(id, extensions);
  const group = groupOf(extensions);
  const creators = metadata?.creators ?? [];
  const ofMetaplex = {
    creators,
    editionNonce: metadata?.editionNonce ?? null,
    uses: metadata?.uses ?? null,
    tokenStandard: metadata?.tokenStandard ?? null,
    royalty: {
      basisPoints: metadata?.sellerFeeBasisPoints ?? 0,
      primarySaleHappened: metadata?.primarySaleHappened ?? false,
    },
    collection: metadata?.collection
      ? { address: metadata.collection.key, isVerified: metadata.collection.isVerified }
      : group,
  };
  if (own !== null) {
    const { name, symbol, uri, updateAuthority, additional } = own;
    return {
      ...ofMetaplex,
      ...{ name, symbol, uri, updateAuthority },
      source: "token_2022",
      isMutable: updateAuthority !== null,
      attributes: additional.map(([key, value]) => ({ key, value })),
    };
  }
  if (metadata === null) return { ...ofMetaplex, source: "none", isMutable: false };
  const { name, symbol, uri, updateAuthority, isMutable } = metadata;
  return { ...ofMetaplex, name, symbol, uri, updateAuthority, isMutable, source: "token_metadata" };
}

/** What was sent elsewhere while the accounts were read has nobody for this answer. */
function ownershipOf(mint: string, holder: TokenHolder | null): AssetOwnership {
  const account = holder?.account ?? null;
  const isToken = account?.program === programs.token || account?.program === programs.token2022;
  const decoded = account === null || !isToken ? null : decodeTokenAccount(account.data);
  if (holder === null || decoded === null || decoded.mint !== mint || decoded.amount !== 1n) return single;
  const record = holder.record?.program === tokenMetadataProgram ? decodeTokenRecord(holder.record.data) : null;
  return {
    model: "single",
    owner: decoded.owner,
    delegate: record?.delegate ?? decoded.delegate,
    // The account of a programmable NFT is always frozen: whether it may be moved is in its record.
    isFrozen: record === null ? decoded.state === "frozen" : record.state !== "unlocked",
    tokenAccount: holder.address,
  };
}
