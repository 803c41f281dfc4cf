import { ByteWriter } from "@sluice/wire/bytes";
import { type DerivedAddress, derive } from "../../model/index.ts";
import { accountTag } from "../runtime.ts";

/** A listing as the marketplace program keeps it, in the form of Tensor's marketplace, whose id it stands under. */

export const marketplaceProgram = "TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp";
export const listingSeed = "list_state";
export const listingBytes = 317;

/** Offsets of a listing without currency, private taker and maker broker, as all of this program are. */
export const listingOffsets = {
  version: 8,
  bump: 9,
  owner: 10,
  mint: 42,
  amount: 74,
  expiry: 83,
  rentPayer: 93,
} as const;

export const marketplaceErrors = {
  /** The listing asks for more than the buyer allows. */
  priceMismatch: 6_001n,
  /** The account is not the listing of this mint and owner. */
  wrongListing: 6_002n,
} as const;

/** The address of a mint's listing. */
export function listingAddress(mint: Uint8Array): DerivedAddress {
  return derive([new TextEncoder().encode(listingSeed), mint], marketplaceProgram);
}

export function encodeListing(listing: {
  readonly bump: number;
  readonly owner: Uint8Array;
  readonly mint: Uint8Array;
  readonly amount: bigint;
}): Uint8Array {
  return new ByteWriter()
    .bytes(accountTag("ListState"))
    .u8(1)
    .u8(listing.bump)
    .bytes(listing.owner)
    .bytes(listing.mint)
    .u64(listing.amount)
    .u8(0)
    .i64(0x7fff_ffff_ffff_ffffn)
    .u8(0)
    .u8(0)
    .bytes(listing.owner)
    .finish(listingBytes);
}
