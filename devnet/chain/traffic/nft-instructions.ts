import { ByteWriter } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import { instructionTag, marketplaceProgram, metadataProgramAddress, metadataTags } from "../programs/index.ts";
import { type MintParty, reads, signs, signsAndPays, writes } from "./instructions.ts";
import { type Party, partyOf, type TrafficInstruction } from "./message.ts";
import type { ClassicNft, NftHolder, TrafficCollection } from "./nft-roster.ts";

const system = partyOf(programs.system);
const token = partyOf(programs.token);
const associatedToken = partyOf(programs.associatedToken);
const metadataProgram = partyOf(metadataProgramAddress);
const marketplace = partyOf(marketplaceProgram);
/** spl_token_metadata_interface:initialize_account, as SHA-256 begins. */
const initializeMetadataTag = Uint8Array.of(210, 225, 30, 162, 88, 184, 77, 141);

const utf8 = new TextEncoder();

function text(writer: ByteWriter, value: string): ByteWriter {
  const bytes = utf8.encode(value);
  return writer.u32(bytes.length).bytes(bytes);
}

/** The name of a token; short, so that its minting fits into one transaction. */
export interface NftTexts {
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
}

export function createMetadata(
  nft: ClassicNft,
  owner: Party,
  texts: NftTexts,
  collection: Party | null,
): TrafficInstruction {
  const data = new ByteWriter().u8(metadataTags.createMetadata);
  for (const value of [texts.name, texts.symbol, texts.uri]) text(data, value);
  // Five percent to its one creator, who is verified since he signs.
  data.u16(500).u8(1).u32(1).bytes(owner.bytes).u8(1).u8(100);
  if (collection === null) data.u8(0);
  else data.u8(1).u8(0).bytes(collection.bytes);
  return {
    program: metadataProgram,
    accounts: [writes(nft.metadata), reads(nft.mint), signs(owner), signsAndPays(owner), signs(owner), reads(system)],
    data: data.u8(0).u8(1).u8(0).finish(),
  };
}

export function createMasterEdition(nft: ClassicNft, owner: Party): TrafficInstruction {
  return {
    program: metadataProgram,
    accounts: [
      writes(nft.edition),
      writes(nft.mint),
      signs(owner),
      signs(owner),
      signsAndPays(owner),
      writes(nft.metadata),
      reads(token),
      reads(system),
    ],
    data: new ByteWriter().u8(metadataTags.createMasterEdition).u8(1).u64(0n).finish(),
  };
}

export function verifyCollection(nft: ClassicNft, collection: TrafficCollection, payer: Party): TrafficInstruction {
  const { authority, mint, metadata, edition } = collection;
  return {
    program: metadataProgram,
    accounts: [
      writes(nft.metadata),
      signs(authority),
      signsAndPays(payer),
      reads(mint),
      reads(metadata),
      reads(edition),
    ],
    data: Uint8Array.of(metadataTags.verifyCollection),
  };
}

export function burnNft(nft: ClassicNft, holder: NftHolder): TrafficInstruction {
  const accounts = [writes(nft.metadata), signsAndPays(holder.owner), writes(nft.mint), writes(holder)];
  return {
    program: metadataProgram,
    accounts: [...accounts, writes(nft.edition), reads(token)],
    data: Uint8Array.of(metadataTags.burnNft),
  };
}

export function listNft(nft: ClassicNft, holder: NftHolder, lamports: bigint): TrafficInstruction {
  const { owner } = holder;
  const accounts = [signs(owner), writes(holder), writes(nft.listing), writes(nft.escrow), reads(nft.mint)];
  const known = [reads(token), reads(associatedToken), reads(marketplace), reads(system)];
  return {
    program: marketplace,
    accounts: [...accounts, signsAndPays(owner), ...known],
    data: new ByteWriter().bytes(instructionTag("list_legacy")).u64(lamports).finish(),
  };
}

export function delistNft(nft: ClassicNft, holder: NftHolder): TrafficInstruction {
  const { owner } = holder;
  const accounts = [signsAndPays(owner), writes(holder), writes(nft.listing), writes(nft.escrow), reads(nft.mint)];
  const known = [reads(token), reads(associatedToken), reads(system), reads(marketplace)];
  return {
    program: marketplace,
    accounts: [...accounts, writes(owner), ...known],
    data: instructionTag("delist_legacy"),
  };
}

/** `seller` is who listed it and gets lamports and rent. */
export function buyNft(nft: ClassicNft, holder: NftHolder, seller: Party, most: bigint): TrafficInstruction {
  const { owner } = holder;
  return {
    program: marketplace,
    accounts: [
      reads(marketplace),
      signs(owner),
      writes(holder),
      writes(nft.listing),
      writes(nft.escrow),
      reads(nft.mint),
      writes(seller),
      signsAndPays(owner),
      reads(marketplace),
      writes(seller),
      reads(token),
      reads(associatedToken),
      reads(marketplace),
      reads(system),
    ],
    data: new ByteWriter().bytes(instructionTag("buy_legacy")).u64(most).finish(),
  };
}

/** Freeze authority included, which a master edition takes over as well. */
export function initializeNftMint(mint: MintParty, owner: Party): TrafficInstruction {
  const data = new ByteWriter().u8(20).u8(0).bytes(owner.bytes).u8(1).bytes(owner.bytes).finish();
  return { program: mint.program, accounts: [writes(mint)], data };
}

/** What must be said of a Token-2022 mint before it is one: who closes it, and that its metadata is its own. */
export function extendMint(mint: MintParty, owner: Party): readonly TrafficInstruction[] {
  const accounts = [writes(mint)];
  return [
    { program: mint.program, accounts, data: new ByteWriter().u8(25).u8(1).bytes(owner.bytes).finish() },
    {
      program: mint.program,
      accounts,
      data: new ByteWriter().u8(39).u8(0).bytes(owner.bytes).bytes(mint.bytes).finish(),
    },
  ];
}

export function initializeMetadata(mint: MintParty, owner: Party, texts: NftTexts): TrafficInstruction {
  const data = new ByteWriter().bytes(initializeMetadataTag);
  for (const value of [texts.name, texts.symbol, texts.uri]) text(data, value);
  return {
    program: mint.program,
    accounts: [writes(mint), reads(owner), reads(mint), signs(owner)],
    data: data.finish(),
  };
}

/** Takes the authority over units away, so that there is one for ever, or until it is burned. */
export function endMinting(mint: MintParty, owner: Party): TrafficInstruction {
  return { program: mint.program, accounts: [writes(mint), signs(owner)], data: Uint8Array.of(6, 0, 0) };
}

/** Closes a Token-2022 mint without units. */
export function closeMint(mint: MintParty, to: Party, authority: Party): TrafficInstruction {
  return { program: mint.program, accounts: [writes(mint), writes(to), signs(authority)], data: Uint8Array.of(9) };
}
