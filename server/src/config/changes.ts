import type { Config } from "./config.ts";
import { type KeyName, keyNames } from "./keys.ts";

/** For a key whose value shows in several places of the configuration; it is no secret. */
const asWritten =
  (key: KeyName) =>
  ({ settings }: Config): unknown =>
    settings.find(({ name }) => name === key)?.shown;

/** The part of a configuration that each key sets. The settings file by itself sets nothing. */
const partOf: Readonly<Record<KeyName, (config: Config) => unknown>> = {
  SLUICE_CONFIG: () => null,
  ROLES: ({ roles }) => roles,
  BIND: ({ bind }) => bind,
  PORT_OFFSET: ({ portOffset }) => portOffset,
  TRUSTED_PROXIES: ({ trustedProxies }) => trustedProxies,
  MAX_CONNECTIONS: ({ connectionsMax }) => connectionsMax,
  WORKERS: ({ workers }) => workers,
  DRAIN_DELAY_MS: ({ drain }) => drain.delayMs,
  DRAIN_MS: ({ drain }) => drain.deadlineMs,
  PUBLIC_URL: ({ publicUrls }) => publicUrls.gateway,
  PUBLIC_URL_PUBSUB: ({ publicUrls }) => publicUrls.pubsub,
  PUBLIC_URL_ORACLE: ({ publicUrls }) => publicUrls.oracle,
  PUBLIC_URL_RESOLVER: ({ publicUrls }) => publicUrls.resolver,
  PUBLIC_URL_ENGINE: ({ publicUrls }) => publicUrls.engineRest,
  PUBLIC_URL_ENGINE_GRPC: ({ publicUrls }) => publicUrls.engineGrpc,
  MASTER_KEY: ({ masterKey }) => masterKey,
  MASTER_KEY_PREVIOUS: ({ masterKeysPrevious }) => masterKeysPrevious,
  UPSTREAMS_MAINNET: ({ upstreams }) => upstreams.mainnet,
  UPSTREAMS_DEVNET: ({ upstreams }) => upstreams.devnet,
  UPSTREAMS_TESTNET: ({ upstreams }) => upstreams.testnet,
  GENESIS_MAINNET: ({ genesis }) => genesis.hashes.mainnet,
  GENESIS_DEVNET: ({ genesis }) => genesis.hashes.devnet,
  GENESIS_TESTNET: ({ genesis }) => genesis.hashes.testnet,
  GENESIS_ALLOW_UNKNOWN: ({ genesis }) => genesis.allowUnknown,
  NETWORK_DEFAULT: ({ networkDefault }) => networkDefault,
  UPSTREAM_TIMEOUT_MS: ({ upstreamTimeoutMs }) => upstreamTimeoutMs,
  MAX_NODE_BODY: ({ nodeBodyBytesMax }) => nodeBodyBytesMax,
  CORDON_SLOTS: ({ cordonSlots }) => cordonSlots,
  UNKNOWN_METHODS: ({ unknownMethods }) => unknownMethods,
  CACHE_BYTES: ({ cacheBytes }) => cacheBytes,
  DATA_DIR: ({ stores }) => stores.directory,
  DATABASE_URL: ({ stores }) => stores.databaseUrl,
  DATABASE_POOL: ({ stores }) => stores.database.connections.general,
  DATABASE_POOL_ENGINE: ({ stores }) => stores.database.connections.engine,
  DATABASE_POOL_LEASES: ({ stores }) => stores.database.connections.leases,
  DATABASE_POOL_KEYS: ({ stores }) => stores.database.connections.keys,
  DATABASE_POOL_UNKNOWN_KEYS: ({ stores }) => stores.database.connections.unknownKeys,
  DATABASE_CONNECT_TIMEOUT_MS: ({ stores }) => stores.database.connectTimeoutMs,
  DATABASE_STATEMENT_TIMEOUT_MS: ({ stores }) => stores.database.statementTimeoutMs,
  DATABASE_LOOKUP_TIMEOUT_MS: ({ stores }) => stores.database.lookupTimeoutMs,
  CLICKHOUSE_URL: ({ stores }) => stores.clickhouseUrl,
  CLICKHOUSE_CLUSTER: ({ stores }) => stores.clickhouseCluster,
  LEASE_MS: ({ stores }) => stores.leaseMs,
  LEDGER_QUEUE_BYTES: ({ stores }) => stores.ledgerQueueBytes,
  REDIS_URL: ({ stores }) => stores.redisUrl,
  REDIS_PREFIX: ({ stores }) => stores.redisPrefix,
  // Without a value these two follow BIND and PORT_OFFSET, whose changes are reported under their own names.
  API_BIND: ({ resolver, bind, portOffset }) => [
    resolver.host === bind ? null : resolver.host,
    resolver.port - portOffset,
  ],
  CHAIN_RPC_URL: ({ resolver }) => resolver.chainRpcUrl,
  NAME_PROGRAM: ({ resolver }) => resolver.nameProgram,
  HANDLE_PROGRAM: ({ resolver }) => resolver.handleProgram,
  NAME_COMMITMENT: ({ resolver }) => resolver.commitment,
  ORACLE: ({ oracle }) => oracle.prices,
  ORACLE_ENDPOINTS: ({ oracle }) => oracle.endpoints,
  ORACLE_SUNSET: ({ oracle }) => oracle.sunsetMs,
  ORACLE_SUCCESSOR: ({ oracle }) => oracle.successorUrl,
  ORACLE_POOLS: ({ oracle }) => oracle.pools,
  ORACLE_TICK_LOG_MB: ({ oracle }) => oracle.tickLogBytes,
  ENGINE_BUILDER: ({ engine }) => engine.builder,
  ENGINE_COMMISSION: ({ engine }) => engine.commission,
  ENGINE_TICK_MS: ({ engine }) => engine.tickMs,
  ENGINE_SIMULATORS: ({ engine }) => engine.simulators,
  ENGINE_VALIDATORS: ({ engine }) => engine.validators,
  ENGINE_URL: ({ engine }) => engine.url,
  ENGINE_REGION: ({ engine }) => engine.region,
  ENGINE_TLS_CERT: asWritten("ENGINE_TLS_CERT"),
  ENGINE_TLS_KEY: asWritten("ENGINE_TLS_KEY"),
  TLS_CERT_FILE: asWritten("TLS_CERT_FILE"),
  TLS_KEY_FILE: asWritten("TLS_KEY_FILE"),
  GATEWAY_TLS_CERT_FILE: asWritten("GATEWAY_TLS_CERT_FILE"),
  GATEWAY_TLS_KEY_FILE: asWritten("GATEWAY_TLS_KEY_FILE"),
  ORACLE_TLS_CERT_FILE: asWritten("ORACLE_TLS_CERT_FILE"),
  ORACLE_TLS_KEY_FILE: asWritten("ORACLE_TLS_KEY_FILE"),
  RESOLVER_TLS_CERT_FILE: asWritten("RESOLVER_TLS_CERT_FILE"),
  RESOLVER_TLS_KEY_FILE: asWritten("RESOLVER_TLS_KEY_FILE"),
  LOG_LEVEL: ({ logLevel }) => logLevel,
  METRICS_BIND: ({ metrics, portOffset }) => [metrics.host, metrics.port - portOffset],
  OTEL_EXPORTER_OTLP_ENDPOINT: ({ otlpEndpoint }) => otlpEndpoint,
};

/** The keys by which two configurations differ, in the order of the reference; secrets are compared and never shown. */
export function changedKeys(before: Config, after: Config): KeyName[] {
  return keyNames.filter((name) => JSON.stringify(partOf[name](before)) !== JSON.stringify(partOf[name](after)));
}
