import type { JsonObject } from "@sluice/encode";
import type { Asset } from "../assets/asset.ts";
import type { MasterMints } from "../assets/editions.ts";
import type { DocumentRead } from "../off-chain/documents.ts";
import { contentOf } from "./content.ts";
import { dasAsset } from "./das-asset.ts";
import { mintExtensionsOf } from "./mint-extensions.ts";

/** What a caller wants to see. Source: helius-sdk 3.2, DisplayOptions. */
export interface Display {
  readonly showUnverifiedCollections: boolean;
  readonly showCollectionMetadata: boolean;
}

/** What is told beside an asset's own facts. */
export interface Beside {
  readonly document: DocumentRead;
  /** The collection's own asset and document, where they are asked for and there. */
  readonly collection: { readonly asset: Asset; readonly document: DocumentRead } | null;
  /** Of the masters of prints. */
  readonly masters: MasterMints;
  /** The slot that the facts are from. */
  readonly slot: bigint | null;
}

/** An asset by itself, as lists have it and with what its document, its mint's extensions and its plugins say. */
export function presentAsset(asset: Asset, display: Display, beside: Beside): JsonObject {
  const { document, collection, masters, slot } = beside;
  const { showUnverifiedCollections } = display;
  const extensions = mintExtensionsOf(asset.token);
  return {
    ...(slot === null ? {} : { last_indexed_slot: slot }),
    ...dasAsset(asset, { showUnverifiedCollections, collectionMetadata: collectionMetadataOf(collection), masters }),
    content: contentOf(asset, document),
    ...(extensions === null ? {} : { mint_extensions: extensions }),
    ...(asset.plugins.length === 0 ? {} : { plugins: asset.plugins }),
  };
}

function collectionMetadataOf(above: Beside["collection"]): JsonObject | null {
  if (above === null) return null;
  const { description = null, image = null, externalUrl = null } = above.document.document ?? {};
  const { name, symbol } = above.asset;
  return { name, symbol, image: image ?? "", description: description ?? "", external_url: externalUrl ?? "" };
}
