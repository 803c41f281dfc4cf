import { always, optional } from "./key-definition.ts";
import { cidrList, oneOf, urlOf } from "./parsers.ts";

const gatewayUrl = urlOf(["https", "http"]);

/** Where documents of tokens and NFTs are fetched. */
export const metadataKeys = {
  METADATA_FETCH: always(
    "Token metadata",
    "metadata.fetch",
    { dev: "off", serve: "on" },
    oneOf(["on", "off"]),
    "Whether the enhanced API fetches the documents behind the URIs of tokens and NFTs (description, image, attributes). Anybody may write such a URI on the chain; it is called at public addresses alone.",
  ),
  METADATA_IPFS_GATEWAY: always(
    "Token metadata",
    "metadata.ipfs_gateway",
    "https://ipfs.io/ipfs",
    gatewayUrl,
    "What stands before the content id of an `ipfs://` URI. It may be a gateway at a private address, since the operator names it.",
  ),
  METADATA_ARWEAVE_GATEWAY: always(
    "Token metadata",
    "metadata.arweave_gateway",
    "https://arweave.net",
    gatewayUrl,
    "What stands before the transaction of an `ar://` URI.",
  ),
  METADATA_ALLOW_HTTP: always(
    "Token metadata",
    "metadata.allow_http",
    "0",
    oneOf(["0", "1"]),
    "`1` lets documents be fetched from plain `http://` as well; for development and tests.",
  ),
  METADATA_ALLOW_PRIVATE_CIDRS: optional(
    "Token metadata",
    "metadata.allow_private_cidrs",
    cidrList,
    "Ranges of private addresses from which documents may be fetched, for development and tests: whoever may write a URI on the chain reaches them.",
  ),
} as const;
