import { metaplexMetadataAddress, tokenMetadataProgram } from "@sluice/wire/accounts/metaplex";
import { editionAddress, tokenRecordAddress } from "@sluice/wire/accounts/metaplex-editions";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import { ByteWriter } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { type ShownAccount, sha256 } from "../node-accounts.ts";

/** Accounts of assets, byte by byte as the programs write them. */
export type Accounts = Map<string, ShownAccount>;

/** An address that a test names by a number. */
export const addressOf = (number: number): string =>
  addressOfBytes(sha256(new TextEncoder().encode(`address ${number}`)));

export interface NftShape {
  readonly mint: string;
  readonly owner?: string;
  /** The number of the token standard; null is metadata older than standards. */
  readonly standard?: number | null;
  readonly uri?: string;
  readonly decimals?: number;
  readonly supply?: bigint;
  readonly collection?: { readonly address: string; readonly isVerified: boolean };
  readonly edition?: "master" | "print" | null;
  /** The account of a print's master. */
  readonly printOf?: string;
  /** State of a programmable NFT's record. */
  readonly record?: { readonly state: number; readonly delegate: string };
  readonly delegate?: string;
  readonly isFrozen?: boolean;
}

const paddedText = (writer: ByteWriter, text: string, length: number): ByteWriter => {
  const bytes = new Uint8Array(length);
  bytes.set(new TextEncoder().encode(text));
  return writer.u32(length).bytes(bytes);
};

/** A mint without extensions, nobody's to mint. */
export function mintBytes(supply: bigint, decimals: number): Uint8Array {
  return new ByteWriter().u32(0).bytes(new Uint8Array(32)).u64(supply).u8(decimals).u8(1).finish(82);
}

export function tokenAccountBytes(mint: string, owner: string, amount: bigint, changes: Partial<NftShape> = {}) {
  const writer = new ByteWriter().address(mint).address(owner).u64(amount);
  const { delegate, isFrozen = false } = changes;
  writer.u32(delegate === undefined ? 0 : 1);
  if (delegate === undefined) writer.bytes(new Uint8Array(32));
  else writer.address(delegate);
  writer.u8(isFrozen ? 2 : 1).bytes(new Uint8Array(12));
  return writer.u64(delegate === undefined ? 0n : amount).finish(165);
}

function metadataBytes({ mint, uri = "https://meta.example/1.json", standard = 0, collection }: NftShape): Uint8Array {
  const writer = new ByteWriter().u8(4).address(addressOf(90)).address(mint);
  paddedText(writer, "Ape 1", 32);
  paddedText(writer, "APE", 10);
  paddedText(writer, uri, 200);
  writer.u16(550).u8(1).u32(2);
  writer.address(addressOf(91)).u8(1).u8(75).address(addressOf(92)).u8(0).u8(25);
  writer.u8(1).u8(1).u8(1).u8(255);
  writer.option(standard, (value) => void writer.u8(value));
  writer.option(collection ?? null, ({ address, isVerified }) => void writer.u8(isVerified ? 1 : 0).address(address));
  return writer.finish(607);
}

const required = (address: string | null): string => {
  if (address === null) throw new TypeError("a test names no address");
  return address;
};

/** Adds all accounts of an NFT, or of a token of Token Metadata; gives the address of the account that holds it. */
export function addNft(accounts: Accounts, shape: NftShape): string {
  const { mint, owner = addressOf(80), decimals = 0, supply = 1n, edition = "master", record } = shape;
  const [ofToken, ofMetadata] = [programs.token, tokenMetadataProgram];
  const holder = addressOfBytes(sha256(new TextEncoder().encode(`holder of ${mint}`)));
  accounts.set(mint, { program: ofToken, data: mintBytes(supply, decimals) });
  accounts.set(required(metaplexMetadataAddress(mint, sha256)), { program: ofMetadata, data: metadataBytes(shape) });
  if (edition !== null) {
    const data =
      edition === "master"
        ? new ByteWriter().u8(6).u64(2n).u8(1).u64(10n).finish(282)
        : new ByteWriter()
            .u8(1)
            .address(shape.printOf ?? addressOf(93))
            .u64(3n)
            .finish(241);
    accounts.set(required(editionAddress(mint, sha256)), { program: ofMetadata, data });
  }
  accounts.set(holder, { program: ofToken, data: tokenAccountBytes(mint, owner, supply, shape) });
  if (record !== undefined) {
    const data = new ByteWriter().u8(11).u8(255).u8(record.state).u8(0).u8(1).address(record.delegate).finish(80);
    accounts.set(required(tokenRecordAddress(mint, holder, sha256)), { program: ofMetadata, data });
  }
  return holder;
}

/** A mint of Token-2022 of one unit that describes itself, with a group. */
export function addSelfDescribed(accounts: Accounts, mint: string, owner: string): void {
  const metadata = new ByteWriter().address(addressOf(90)).address(mint);
  metadata.sizedText("Self").sizedText("SLF").sizedText("https://meta.example/self.json");
  metadata.u32(1).sizedText("hat").sizedText("red");
  const value = metadata.finish();
  const writer = new ByteWriter()
    .bytes(mintBytes(1n, 0))
    .bytes(new Uint8Array(165 - 82))
    .u8(1);
  writer.u16(18).u16(64).bytes(new Uint8Array(32)).address(mint);
  writer.u16(19).u16(value.length).bytes(value);
  writer.u16(23).u16(72).address(mint).address(addressOf(94)).u64(1n);
  accounts.set(mint, { program: programs.token2022, data: writer.finish() });
  const holder = addressOfBytes(sha256(new TextEncoder().encode(`holder of ${mint}`)));
  accounts.set(holder, { program: programs.token2022, data: tokenAccountBytes(mint, owner, 1n) });
}

/** An asset of MPL Core without plugins, in a collection that has royalties. */
export function addCoreAsset(
  accounts: Accounts,
  id: string,
  owner: string,
  collection: string,
  basisPoints = 250,
): void {
  const asset = new ByteWriter().u8(1).address(owner).u8(2).address(collection);
  asset.sizedText("Core 1").sizedText("https://meta.example/core.json").u8(0);
  accounts.set(id, { program: mplCoreProgram, data: asset.finish() });
  const own = new ByteWriter()
    .u8(5)
    .address(addressOf(95))
    .sizedText("Cores")
    .sizedText("https://meta.example/cores.json");
  const head = own.u32(4).u32(3).finish();
  const plugin = new ByteWriter().u8(0).u16(basisPoints).u32(1).address(addressOf(95)).u8(100).u8(0).finish();
  const at = head.length + 9;
  const registry = new ByteWriter().u8(4).u32(1).u8(0).u8(2).u64(BigInt(at)).u32(0).finish();
  const data = new ByteWriter()
    .bytes(head)
    .u8(3)
    .u64(BigInt(at + plugin.length))
    .bytes(plugin)
    .bytes(registry);
  accounts.set(collection, { program: mplCoreProgram, data: data.finish() });
}
