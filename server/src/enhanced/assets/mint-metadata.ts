import {
  decodeMetadataPointer,
  decodeTokenMetadata,
  type TokenExtension,
  type TokenMetadata,
} from "@sluice/wire/accounts/token-extensions";
import { nonZeroAddressAt } from "@sluice/wire/bytes";
import type { AssetCollection } from "./asset.ts";

/** Metadata that a mint carries count only when its pointer names the mint. */
export function ownMetadata(mint: string, extensions: readonly TokenExtension[]): TokenMetadata | null {
  const pointer = extensions.find(({ name }) => name === "metadataPointer");
  if (pointer === undefined || decodeMetadataPointer(pointer.value)?.address !== mint) return null;
  const metadata = extensions.find(({ name }) => name === "tokenMetadata");
  return metadata === undefined ? null : decodeTokenMetadata(metadata.value);
}

/**
 * The group that a mint of Token-2022 is a member of. The program writes the member's extension only with the signature
 * of the group's authority, so that it is verified.
 */
export function groupOf(extensions: readonly TokenExtension[]): AssetCollection | null {
  const member = extensions.find(({ name }) => name === "tokenGroupMember");
  const address = member === undefined ? null : nonZeroAddressAt(member.value, 32);
  return address === null ? null : { address, isVerified: true };
}
