import { limits } from "@sluice/contract/limits";
import { networks } from "@sluice/contract/tiers";
import { databaseKeys } from "./database-keys.ts";
import { drainKeys } from "./drain-keys.ts";
import { engineKeys } from "./engine-keys.ts";
import { genesisKeys } from "./genesis-keys.ts";
import { type Always, always, optional, type Sometimes } from "./key-definition.ts";
import { logKeys } from "./log-keys.ts";
import { metadataKeys } from "./metadata-keys.ts";
import {
  bareName,
  byteSize,
  cidrList,
  filePath,
  hostName,
  integer,
  moment,
  oneOf,
  programId,
  secretKey,
  secretKeys,
  socketAddress,
  someOf,
  sourceEndpoints,
  tokenSymbol,
  urlOf,
} from "./parsers.ts";
import { poolKeys } from "./pool-keys.ts";
import { poolList } from "./pools.ts";
import { publicKeys } from "./public-keys.ts";
import { retentionKeys } from "./retention-keys.ts";
import { clickhouseUrl, keyPrefix, postgresUrl, redisUrl } from "./store-parsers.ts";
import { tlsKeys } from "./tls-keys.ts";
import { upstreamList } from "./upstreams.ts";
import { webhookKeys } from "./webhook-keys.ts";
import { workerKeys } from "./worker-keys.ts";

export const roles = ["gateway", "resolver", "oracle", "engine", "ingest", "streams", "webhooks"] as const;
/** A part of the server that can run alone, on a separate host. */
export type Role = (typeof roles)[number];

export { type Mode, modes } from "./key-definition.ts";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

const http = ["http", "https"];
const mebibyte = 1024 ** 2;

/**
 * Every key that an operator can set, in the order of the reference page. The parser, the page and `sluice config
 * check` derive from this table alone.
 */
export const keys = {
  SLUICE_CONFIG: optional("Server", null, filePath, "A TOML file with any of these keys."),
  ROLES: always(
    "Server",
    "server.roles",
    { dev: "all", serve: "gateway,oracle,engine" },
    someOf(roles),
    "The parts that this process runs; `all` is every one of them. `gateway` is JSON-RPC, PubSub, administration and the console; `ingest` reads the blocks of every network that has nodes into the log of the chain; `streams` tells clients what happens on the chains as it happens, and needs `ingest` beside it or `LOG_URL`; `webhooks` sends the same to addresses of owners, and needs the same. A part that is not named opens no port.",
  ),
  BIND: always(
    "Server",
    "server.bind",
    { dev: "127.0.0.1", serve: "0.0.0.0" },
    hostName,
    "The address that the endpoints listen on. `0.0.0.0` is every IPv4 address, `::` every address.",
  ),
  PORT_OFFSET: always(
    "Server",
    "server.port_offset",
    "0",
    integer(0, 50_000),
    "Added to the port of every endpoint, so that several servers can share a machine.",
  ),
  TRUSTED_PROXIES: optional(
    "Server",
    "server.trusted_proxies",
    cidrList,
    "Proxies whose `X-Forwarded-For` is believed. From any other address the header is ignored.",
  ),
  PROXY_PROTOCOL: always(
    "Server",
    "server.proxy_protocol",
    "off",
    oneOf(["off", "v1v2"]),
    "`v1v2`: connections from `TRUSTED_PROXIES` begin with a header of the PROXY protocol, version 1 or 2, on every port of customers, before TLS; its address is the client's. Without a valid one they are closed. Connections from elsewhere have none.",
  ),
  MAX_CONNECTIONS: optional(
    "Server",
    "server.max_connections",
    integer(1, 1_000_000),
    "Client connections that the gateway's port and the PubSub port take together, over all workers. One more ends the connection that waited longest for a request, or is answered 503. Unless set, three quarters of the process's limit of open files, at most 65,536.",
  ),
  ...workerKeys,
  ...drainKeys,
  ...publicKeys,
  MASTER_KEY: optional(
    "Server",
    "server.master_key",
    secretKey,
    "Encrypts secrets at rest. `serve` does not start without it; keep a copy, since nothing else can decrypt them.",
    { secrecy: "hidden" },
  ),
  MASTER_KEY_PREVIOUS: optional(
    "Server",
    "server.master_key_previous",
    secretKeys,
    "Further master keys that open what was encrypted with them and encrypt nothing, while `MASTER_KEY` is replaced (`sluice secrets rotate`).",
    { secrecy: "hidden" },
  ),
  UPSTREAMS_MAINNET: optional("Nodes", "upstreams.mainnet", upstreamList, "The nodes of mainnet.", {
    secrecy: "nodes",
  }),
  UPSTREAMS_DEVNET: optional(
    "Nodes",
    "upstreams.devnet",
    upstreamList,
    "The nodes of devnet. `dev` uses its own chain when none is named.",
    { secrecy: "nodes" },
  ),
  UPSTREAMS_TESTNET: optional("Nodes", "upstreams.testnet", upstreamList, "The nodes of testnet.", {
    secrecy: "nodes",
  }),
  ...genesisKeys,
  PROGRAM_IDLS: optional(
    "Nodes",
    "upstreams.program_idls",
    filePath,
    "A directory of IDL files (`*.json`, of Anchor or Codama) of programs that Sluice does not know: their instructions get names, named arguments and named accounts. A file that does not name its program is called `<address>.json`. One that cannot be read ends the start.",
  ),
  NATIVE_SYMBOL: always(
    "Nodes",
    "upstreams.native_symbol",
    "SOL",
    tokenSymbol,
    "What the native currency of the chains is called in sentences and in wallets' figures, such as `XNT` on X1.",
  ),
  NETWORK_DEFAULT: always(
    "Nodes",
    "upstreams.network_default",
    { dev: "devnet", serve: "mainnet" },
    oneOf(networks),
    "The network of a call that names none.",
  ),
  UPSTREAM_TIMEOUT_MS: always(
    "Nodes",
    "upstreams.timeout_ms",
    String(limits.gatewayTimeoutMs),
    integer(100, limits.gatewayTimeoutMs),
    "Milliseconds that a call to a node may take, retries included.",
  ),
  MAX_NODE_BODY: always(
    "Nodes",
    "upstreams.max_node_body",
    "50KiB",
    byteSize(4 * 1024, limits.rpcBodyBytes),
    "The largest call that nodes take (Agave's own bound by default). A larger one is refused without asking a node.",
  ),
  CORDON_SLOTS: always(
    "Nodes",
    "upstreams.cordon_slots",
    "50",
    integer(1, 10_000),
    "A node this many slots behind the best of its network gets no calls while another is nearer.",
  ),
  UNKNOWN_METHODS: always(
    "Nodes",
    "upstreams.unknown_methods",
    "refuse",
    oneOf(["pass", "refuse"]),
    "Whether a JSON-RPC method that is not in the reference is passed to a node or refused with -32601.",
  ),
  CACHE_BYTES: always(
    "Nodes",
    "upstreams.cache_bytes",
    "64MiB",
    byteSize(mebibyte, 64 * 1024 * mebibyte),
    "Memory that kept answers may take.",
  ),
  DATA_DIR: always("Stores", "stores.data_dir", ".sluice", filePath, "The directory of the embedded stores."),
  DATABASE_URL: optional(
    "Stores",
    "stores.database_url",
    postgresUrl,
    "PostgreSQL for accounts, keys and all that changes: one server, or several of which the one that takes writes is used. Without it SQLite in `DATA_DIR` is used.",
    { secrecy: "address" },
  ),
  ...databaseKeys,
  CLICKHOUSE_URL: optional(
    "Stores",
    "stores.clickhouse_url",
    clickhouseUrl,
    "ClickHouse for blocks, transactions and requests served: one server, or several of one cluster. Without it the embedded engine in `DATA_DIR` is used.",
    { secrecy: "address" },
  ),
  CLICKHOUSE_CLUSTER: optional(
    "Stores",
    "stores.clickhouse_cluster",
    bareName,
    "The cluster, by its name in ClickHouse, over which tables are replicated and distributed. Needs `CLICKHOUSE_URL`.",
  ),
  LEDGER_QUEUE_BYTES: always(
    "Stores",
    "stores.ledger_queue_bytes",
    "1GiB",
    byteSize(0, 1024 * 1024 * mebibyte),
    "Disk in `DATA_DIR` on which records of requests may wait while ClickHouse takes none; what comes beyond is dropped and counted.",
  ),
  LEDGER_CONFINEMENT: always(
    "Stores",
    "stores.ledger_confinement",
    "auto",
    oneOf(["auto", "required", "off"]),
    "Whether Linux refuses to the process of the embedded engine, which runs SQL of customers, all files but its own, connections and programs: `auto` as far as the kernel can, with a line in the log where it cannot; `required` wholly, or the server does not start; `off` not at all.",
  ),
  ...logKeys,
  REDIS_URL: optional(
    "Stores",
    "stores.redis_url",
    redisUrl,
    "Redis or Valkey for what replicas share: one server, a cluster, or a server that sentinels watch. Without it memory is used, which is right for one process.",
    { secrecy: "address" },
  ),
  REDIS_PREFIX: always(
    "Stores",
    "stores.redis_prefix",
    "sluice:",
    keyPrefix,
    "Begins every key and channel in Redis. Replicas of one installation have the same; several installations on one Redis have different ones, or different databases.",
  ),
  ...retentionKeys,
  API_BIND: optional(
    "Resolver",
    "resolver.bind",
    socketAddress,
    "Where the name resolver listens, in place of `BIND` and port 8691. `PORT_OFFSET` is added.",
  ),
  CHAIN_RPC_URL: optional(
    "Resolver",
    "resolver.chain_rpc_url",
    urlOf(http),
    "The node that names are read from. Without it the nodes of `NETWORK_DEFAULT` are asked; `dev` uses its own chain.",
    { secrecy: "address" },
  ),
  NAME_PROGRAM: optional(
    "Resolver",
    "resolver.name_program",
    programId,
    "The name service whose domains are resolved. Without it the chain is asked which of the known ones it carries.",
  ),
  HANDLE_PROGRAM: optional(
    "Resolver",
    "resolver.handle_program",
    programId,
    "The program that keeps handles. Without it the chain is asked for the known one.",
  ),
  NAME_COMMITMENT: always(
    "Resolver",
    "resolver.commitment",
    "confirmed",
    oneOf(["confirmed", "finalized"]),
    "How settled the view of the chain is that names are read from.",
  ),
  ORACLE: always(
    "Oracle",
    "oracle.prices",
    { dev: "market", serve: "live" },
    oneOf(["market", "live", "off"]),
    "Where prices come from: `live` asks the exchanges, `market` the market that `dev` brings, `off` opens no oracle.",
  ),
  ORACLE_ENDPOINTS: optional(
    "Oracle",
    "oracle.endpoints",
    sourceEndpoints,
    "Addresses that stand in for those of exchanges, as a mirror or a proxy has them.",
    { secrecy: "hidden" },
  ),
  ORACLE_POOLS: optional(
    "Oracle",
    "oracle.pools",
    poolList,
    "Pools of the default network's chain, for symbols that exchanges lack: XNT/USDC;base=vault:mint:9;quote=vault:mint:6.",
  ),
  ORACLE_TICK_LOG_MB: always(
    "Oracle",
    "oracle.tick_log_mb",
    "256",
    integer(0, 1_000_000),
    "Megabytes of `DATA_DIR` for the log of all ticks, from which `sluice oracle replay` computes prices again; 0 keeps none.",
  ),
  ORACLE_SUNSET: optional("Oracle", "oracle.sunset", moment, "The end of the oracle, sent in the header `Sunset`."),
  ORACLE_SUCCESSOR: optional(
    "Oracle",
    "oracle.successor",
    urlOf(http),
    "The description of the product that replaces the oracle, sent in the header `Link`.",
  ),
  ...engineKeys,
  ...webhookKeys,
  ...metadataKeys,
  ...poolKeys,
  ...tlsKeys,
  LOG_LEVEL: always("Observation", "observe.log_level", "info", oneOf(logLevels), "The least severe lines to write."),
  METRICS_BIND: always(
    "Observation",
    "observe.metrics_bind",
    "127.0.0.1:9464",
    socketAddress,
    "The address that serves metrics and the health of the process. `PORT_OFFSET` is added.",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    "Observation",
    "observe.otlp_endpoint",
    urlOf(http),
    "The collector of an OpenTelemetry SDK loaded into the process. Without an SDK no traces are recorded.",
    { secrecy: "address" },
  ),
} as const satisfies Record<string, Always<unknown> | Sometimes<unknown>>;

export type KeyName = keyof typeof keys;

/** The parsed value of each key. */
export type KeyValues = {
  readonly [K in KeyName]: (typeof keys)[K] extends Always<infer T>
    ? T
    : (typeof keys)[K] extends Sometimes<infer T>
      ? T | null
      : never;
};

export const keyNames: readonly KeyName[] = Object.keys(keys).filter((name): name is KeyName => name in keys);

/** `PORT_OFFSET` is `--port-offset` on the command line; the file itself is `--config`. */
export function flagName(name: KeyName): string {
  return name === "SLUICE_CONFIG" ? "config" : name.toLowerCase().replaceAll("_", "-");
}
