import { optional } from "./key-definition.ts";
import { type Parser, readUrl } from "./parsers.ts";

/** Hosts that stand for every address of a machine: nobody can call them. */
const everyAddress = new Set(["0.0.0.0", "[::]"]);

/**
 * The address of an endpoint as clients know it, in its canonical form and without a trailing slash. A path is refused,
 * since clients, the console and the links of errors name paths from the root.
 */
function publicUrl(schemes: readonly [string, string], example: string): Parser<string> {
  const expects = `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")} and ends with its host or port, such as ${example}`;
  const protocols = schemes.map((scheme) => `${scheme}:`);
  return {
    expects,
    parse: (text) => {
      const url = readUrl(text.trim(), protocols);
      // What a URL says beside its origin, an empty user name, query or fragment included, is in its text alone.
      const isOrigin = url !== undefined && /^[a-z]+:\/\/[^/?#@\\\s]+\/?$/i.test(text.trim());
      if (url === undefined || !isOrigin || everyAddress.has(url.hostname)) return { ok: false, expected: expects };
      return { ok: true, value: `${url.protocol}//${url.host}` };
    },
  };
}

const http = ["http", "https"] as const;
const whose = (what: string): string => `The address of ${what} as clients know it.`;
const otherwise = "Without it, the host of `PUBLIC_URL` with the endpoint's own port.";

/** What people and clients are told of the endpoints' addresses, by the names that operators set. */
export const publicKeys = {
  PUBLIC_URL: optional(
    "Public addresses",
    "server.public_url",
    publicUrl(http, "https://rpc.example"),
    `${whose("the gateway, which serves JSON-RPC, administration, the console and the pages of errors,")} Set it behind a proxy or a balancer: the console, the log, \`sluice status\`, OpenAPI, redirects and the \`type\` of problems name it. With https the console's cookie is \`Secure\`.`,
  ),
  PUBLIC_URL_PUBSUB: optional(
    "Public addresses",
    "server.public_url_pubsub",
    publicUrl(["ws", "wss"], "wss://rpc.example"),
    `${whose("Solana PubSub")} Without it that of \`PUBLIC_URL\`, whose port takes WebSockets too.`,
  ),
  PUBLIC_URL_ORACLE: optional(
    "Public addresses",
    "server.public_url_oracle",
    publicUrl(http, "https://prices.example"),
    `${whose("the oracle")} ${otherwise}`,
  ),
  PUBLIC_URL_RESOLVER: optional(
    "Public addresses",
    "server.public_url_resolver",
    publicUrl(http, "https://names.example"),
    `${whose("the resolver")} ${otherwise}`,
  ),
  PUBLIC_URL_YELLOWSTONE: optional(
    "Public addresses",
    "server.public_url_yellowstone",
    publicUrl(http, "https://geyser.example"),
    `${whose("Yellowstone gRPC")} ${otherwise}`,
  ),
  PUBLIC_URL_ENGINE: optional(
    "Public addresses",
    "server.public_url_engine",
    publicUrl(http, "https://bundles.example"),
    `${whose("the block engine's REST and JSON-RPC")} ${otherwise}`,
  ),
  PUBLIC_URL_ENGINE_GRPC: optional(
    "Public addresses",
    "server.public_url_engine_grpc",
    publicUrl(http, "https://engine.example:7441"),
    "The address of the block engine's gRPC as searchers and validators know it; https is gRPC over TLS. Without it, the host of `PUBLIC_URL` with the endpoint's own ports. `ENGINE_URL` is another one for validators.",
  ),
} as const;

/** The addresses that were set; null for an endpoint without one. */
export interface PublicUrls {
  readonly gateway: string | null;
  readonly pubsub: string | null;
  readonly oracle: string | null;
  readonly resolver: string | null;
  readonly yellowstone: string | null;
  readonly engineRest: string | null;
  readonly engineGrpc: string | null;
}

export const publicUrlsOf = (values: Readonly<Record<keyof typeof publicKeys, string | null>>): PublicUrls => ({
  gateway: values.PUBLIC_URL,
  pubsub: values.PUBLIC_URL_PUBSUB,
  oracle: values.PUBLIC_URL_ORACLE,
  resolver: values.PUBLIC_URL_RESOLVER,
  yellowstone: values.PUBLIC_URL_YELLOWSTONE,
  engineRest: values.PUBLIC_URL_ENGINE,
  engineGrpc: values.PUBLIC_URL_ENGINE_GRPC,
});
