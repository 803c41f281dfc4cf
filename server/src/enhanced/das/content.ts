import type { JsonObject } from "@sluice/encode";
import type { Asset } from "../assets/asset.ts";
import type { DocumentRead } from "../off-chain/documents.ts";

/** The `content` of an asset in DAS: what the chain says, and what its document says beside it. */
export function contentOf(asset: Asset, { state, document }: DocumentRead): JsonObject {
  const { name, symbol, uri, tokenStandard } = asset;
  const onChain = asset.attributes.map(({ key, value }) => ({ trait_type: key, value }));
  const told = (document?.attributes ?? []).map(({ traitType, value }) => ({ trait_type: traitType, value }));
  const files = document?.files.map(({ uri: file, mime }) => ({ uri: file, ...(mime === null ? {} : { mime }) })) ?? [];
  const image = document?.image ?? null;
  const isListed = image === null || files.some((file) => file.uri === image);
  return {
    $schema: "https://schema.metaplex.com/nft1.0.json",
    json_uri: uri,
    files: isListed ? files : [{ uri: image }, ...files],
    metadata: {
      attributes: [...onChain, ...told],
      description: document?.description ?? "",
      name,
      symbol,
      ...(tokenStandard === null ? {} : { token_standard: tokenStandard }),
    },
    links: linksOf(document),
    // Beside what DAS has: whether the document was read, so that a missing description is not taken for none.
    off_chain: state,
  };
}

function linksOf(document: DocumentRead["document"]): JsonObject {
  const { image = null, animationUrl = null, externalUrl = null } = document ?? {};
  return {
    ...(image === null ? {} : { image }),
    ...(animationUrl === null ? {} : { animation_url: animationUrl }),
    ...(externalUrl === null ? {} : { external_url: externalUrl }),
  };
}
