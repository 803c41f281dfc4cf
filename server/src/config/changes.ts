import type { Config } from "./config.ts";
import { type KeyName, keyNames } from "./keys.ts";

/** The part of a configuration that each key sets. The settings file by itself sets nothing. */
const partOf: Readonly<Record<KeyName, (config: Config) => unknown>> = {
  SLUICE_CONFIG: () => null,
  ROLES: ({ roles }) => roles,
  BIND: ({ bind }) => bind,
  PORT_OFFSET: ({ portOffset }) => portOffset,
  TRUSTED_PROXIES: ({ trustedProxies }) => trustedProxies,
  MAX_CONNECTIONS: ({ connectionsMax }) => connectionsMax,
  DRAIN_DELAY_MS: ({ drain }) => drain.delayMs,
  DRAIN_MS: ({ drain }) => drain.deadlineMs,
  MASTER_KEY: ({ masterKey }) => masterKey,
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
  CLICKHOUSE_URL: ({ stores }) => stores.clickhouseUrl,
  CLICKHOUSE_CLUSTER: ({ stores }) => stores.clickhouseCluster,
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
  ENGINE_TLS_CERT: ({ engine }) => engine.tlsCert,
  ENGINE_TLS_KEY: ({ engine }) => engine.tlsKey,
  LOG_LEVEL: ({ logLevel }) => logLevel,
  METRICS_BIND: ({ metrics, portOffset }) => [metrics.host, metrics.port - portOffset],
  OTEL_EXPORTER_OTLP_ENDPOINT: ({ otlpEndpoint }) => otlpEndpoint,
};

/** The keys by which two configurations differ, in the order of the reference; secrets are compared and never shown. */
export function changedKeys(before: Config, after: Config): KeyName[] {
  return keyNames.filter((name) => JSON.stringify(partOf[name](before)) !== JSON.stringify(partOf[name](after)));
}
