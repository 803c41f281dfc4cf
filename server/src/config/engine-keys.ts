import { always, optional } from "./key-definition.ts";
import { addressList, bareName, filePath, integer, programId, urlOf } from "./parsers.ts";

/** What operators decide about the block engine. */
export const engineKeys = {
  ENGINE_BUILDER: optional(
    "Block engine",
    "engine.builder",
    programId,
    "The account that the block builder's share of tips goes to. Without it no block engine is opened.",
    { defaults: { dev: "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf", serve: null } },
  ),
  ENGINE_COMMISSION: always(
    "Block engine",
    "engine.commission",
    "5",
    integer(0, 100),
    "The block builder's share of tips, in percent.",
  ),
  ENGINE_TICK_MS: always(
    "Block engine",
    "engine.tick_ms",
    "50",
    integer(5, 1_000),
    "Milliseconds from one auction to the next.",
  ),
  ENGINE_SIMULATORS: always(
    "Block engine",
    "engine.simulators",
    "2",
    integer(1, 64),
    "Processes that verify and simulate bundles.",
  ),
  ENGINE_VALIDATORS: optional(
    "Block engine",
    "engine.validators",
    addressList,
    "The only identities that may connect as validators. Without it every leader of this and the next epoch may.",
  ),
  ENGINE_URL: optional(
    "Block engine",
    "engine.url",
    urlOf(["http", "https"]),
    "The address of the gRPC endpoint that is reported to validators. Without it the address that they connected to.",
  ),
  ENGINE_REGION: always(
    "Block engine",
    "engine.region",
    "local",
    bareName,
    "The region that is reported to searchers.",
  ),
  ENGINE_TLS_CERT: optional(
    "Block engine",
    "engine.tls_cert",
    filePath,
    "The certificate chain, PEM, of the gRPC endpoint with TLS. `dev` creates one under its own authority.",
  ),
  ENGINE_TLS_KEY: optional("Block engine", "engine.tls_key", filePath, "The private key, PEM, of that certificate."),
} as const;
