import type { Config, Setting } from "./config.ts";
import type { ConfigFault } from "./faults.ts";
import { type KeyName, type KeyValues, keyNames, keys, type Mode } from "./keys.ts";
import { show } from "./masking.ts";
import { publicUrlsOf } from "./public-keys.ts";
import { retentionOf } from "./retention-keys.ts";
import { checkRules, endpointPorts } from "./rules.ts";
import {
  type FlagValues,
  readEnvironmentValues,
  readFlagValues,
  readTomlValues,
  type WrittenValue,
  type WrittenValues,
} from "./sources.ts";
import { tlsOf } from "./tls-keys.ts";
import { showUpstreams } from "./upstreams.ts";

export interface ConfigInput {
  readonly mode: Mode;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The content of the file of settings. */
  readonly tomlText?: string;
  /** Where that file was found, when nothing named it. */
  readonly foundFile?: string | null;
  /** By flag name without dashes, `port-offset` or `portOffset`. */
  readonly flags?: FlagValues;
}

export type ConfigOutcome =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** More faults than anybody reads at once; the rest shows when these are mended. */
const faultsMax = 100;

function showValue(name: KeyName, text: string): string {
  const { secrecy } = keys[name];
  return secrecy === "nodes" ? showUpstreams(text) : show(text, secrecy);
}

/** Parses one key; undefined when its text is wrong, which adds a fault. */
function readKey(name: KeyName, written: WrittenValue | undefined, mode: Mode, faults: ConfigFault[]): unknown {
  const definition = keys[name];
  const text = written?.text ?? definition.defaults[mode];
  if (text === null) return null;
  const parsed = definition.parser.parse(text);
  if (parsed.ok) return parsed.value;
  faults.push({
    key: written?.writtenAs ?? name,
    source: written?.source ?? "default",
    given: showValue(name, text),
    expected: parsed.expected,
    suggestion: null,
  });
  return undefined;
}

function readKeys(written: WrittenValues, mode: Mode, faults: ConfigFault[]): Partial<KeyValues> {
  const values: Partial<Record<KeyName, unknown>> = {};
  for (const name of keyNames) {
    const value = readKey(name, written.get(name), mode, faults);
    if (value !== undefined) values[name] = value;
  }
  // Each value comes from the parser of its own key, which is what KeyValues says.
  return values as Partial<KeyValues>;
}

function settingsOf(written: WrittenValues, mode: Mode): Setting[] {
  return keyNames.map((name) => {
    const one = written.get(name);
    const text = one?.text ?? keys[name].defaults[mode];
    return { name, shown: text === null ? null : showValue(name, text), source: one?.source ?? "default" };
  });
}

function databaseOf(values: KeyValues): Config["stores"]["database"] {
  return {
    connections: {
      general: values.DATABASE_POOL,
      engine: values.DATABASE_POOL_ENGINE,
      leases: values.DATABASE_POOL_LEASES,
      keys: values.DATABASE_POOL_KEYS,
      unknownKeys: values.DATABASE_POOL_UNKNOWN_KEYS,
    },
    connectTimeoutMs: values.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: values.DATABASE_STATEMENT_TIMEOUT_MS,
    lookupTimeoutMs: values.DATABASE_LOOKUP_TIMEOUT_MS,
  };
}

function engineOf(values: KeyValues): Config["engine"] {
  return {
    builder: values.ENGINE_BUILDER,
    commission: values.ENGINE_COMMISSION,
    tickMs: values.ENGINE_TICK_MS,
    simulators: values.ENGINE_SIMULATORS,
    validators: values.ENGINE_VALIDATORS,
    url: values.ENGINE_URL,
    region: values.ENGINE_REGION,
  };
}

const stakePoolOf = (values: KeyValues): Config["stakePool"] => ({
  address: values.STAKE_POOL,
  program: values.STAKE_POOL_PROGRAM,
  tipProgram: values.TIP_DISTRIBUTION_PROGRAM,
});

function assemble(mode: Mode, values: KeyValues, settings: readonly Setting[]): Config {
  const ports = endpointPorts(values);
  return {
    mode,
    roles: values.ROLES,
    bind: values.BIND,
    ports,
    portOffset: values.PORT_OFFSET,
    publicUrls: publicUrlsOf(values),
    resolver: {
      host: values.API_BIND?.host ?? values.BIND,
      port: ports.resolver,
      chainRpcUrl: values.CHAIN_RPC_URL,
      nameProgram: values.NAME_PROGRAM,
      handleProgram: values.HANDLE_PROGRAM,
      commitment: values.NAME_COMMITMENT,
    },
    oracle: {
      prices: values.ORACLE,
      endpoints: values.ORACLE_ENDPOINTS ?? {},
      pools: values.ORACLE_POOLS ?? [],
      tickLogBytes: values.ORACLE_TICK_LOG_MB * 1_000_000,
      sunsetMs: values.ORACLE_SUNSET,
      successorUrl: values.ORACLE_SUCCESSOR,
    },
    engine: engineOf(values),
    webhooks: {
      allowHttp: values.WEBHOOK_ALLOW_HTTP === "1",
      allowPrivateCidrs: values.WEBHOOK_ALLOW_PRIVATE_CIDRS ?? [],
      shards: values.WEBHOOK_SHARDS,
    },
    metadata: {
      fetches: values.METADATA_FETCH === "on",
      ipfsGateway: values.METADATA_IPFS_GATEWAY,
      arweaveGateway: values.METADATA_ARWEAVE_GATEWAY,
      allowHttp: values.METADATA_ALLOW_HTTP === "1",
      allowPrivateCidrs: values.METADATA_ALLOW_PRIVATE_CIDRS ?? [],
    },
    stakePool: stakePoolOf(values),
    tls: tlsOf(values),
    metrics: { host: values.METRICS_BIND.host, port: ports.metrics },
    ...chainsOf(values),
    upstreamTimeoutMs: values.UPSTREAM_TIMEOUT_MS,
    nodeBodyBytesMax: values.MAX_NODE_BODY,
    cordonSlots: values.CORDON_SLOTS,
    unknownMethods: values.UNKNOWN_METHODS,
    cacheBytes: values.CACHE_BYTES,
    stores: storesOf(values),
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    proxyProtocol: values.PROXY_PROTOCOL,
    connectionsMax: values.MAX_CONNECTIONS,
    workers: values.WORKERS,
    drain: { delayMs: values.DRAIN_DELAY_MS, deadlineMs: values.DRAIN_MS },
    masterKey: values.MASTER_KEY,
    masterKeysPrevious: values.MASTER_KEY_PREVIOUS ?? [],
    logLevel: values.LOG_LEVEL,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    settings,
  };
}

function chainsOf(
  values: KeyValues,
): Pick<Config, "upstreams" | "genesis" | "programIdls" | "nativeSymbol" | "networkDefault"> {
  return {
    upstreams: {
      mainnet: values.UPSTREAMS_MAINNET ?? [],
      devnet: values.UPSTREAMS_DEVNET ?? [],
      testnet: values.UPSTREAMS_TESTNET ?? [],
    },
    genesis: {
      hashes: { mainnet: values.GENESIS_MAINNET, devnet: values.GENESIS_DEVNET, testnet: values.GENESIS_TESTNET },
      allowUnknown: values.GENESIS_ALLOW_UNKNOWN ?? [],
    },
    programIdls: values.PROGRAM_IDLS,
    nativeSymbol: values.NATIVE_SYMBOL,
    networkDefault: values.NETWORK_DEFAULT,
  };
}

function storesOf(values: KeyValues): Config["stores"] {
  return {
    directory: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL,
    database: databaseOf(values),
    clickhouseUrl: values.CLICKHOUSE_URL,
    clickhouseCluster: values.CLICKHOUSE_CLUSTER,
    ledgerQueueBytes: values.LEDGER_QUEUE_BYTES,
    ledgerRetentions: retentionOf(values),
    ledgerVotes: values.LEDGER_VOTES,
    ledgerConfinement: values.LEDGER_CONFINEMENT,
    leaseMs: values.LEASE_MS,
    log: {
      url: values.LOG_URL,
      retentionMs: values.LOG_RETENTION,
      bytesMax: values.LOG_BYTES,
      accountBytesMax: values.ACCOUNT_LOG_BYTES,
      sync: values.LOG_SYNC,
      gapAfterMs: values.GAP_AFTER,
    },
    redisUrl: values.REDIS_URL,
    redisPrefix: values.REDIS_PREFIX,
  };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}

function isComplete(values: Partial<KeyValues>): values is KeyValues {
  return keyNames.every((name) => values[name] !== undefined);
}

/**
 * Makes the configuration of environment, file and flags; flags win over the environment, which wins over the file.
 * Pure: reads nothing but its argument. Reports every fault at once, and never throws for anything that was typed.
 */
export function loadConfig(input: ConfigInput): ConfigOutcome {
  const faults: ConfigFault[] = [];
  const written: WrittenValues = new Map();
  const { foundFile = null } = input;
  if (foundFile !== null) {
    written.set("SLUICE_CONFIG", { text: foundFile, source: "file", writtenAs: "SLUICE_CONFIG" });
  }
  if (input.tomlText !== undefined) readTomlValues(input.tomlText, written, faults);
  readEnvironmentValues(input.env, written, faults);
  if (input.flags !== undefined) readFlagValues(input.flags, written, faults);
  const values = readKeys(written, input.mode, faults);
  faults.push(...checkRules(input.mode, values));
  if (faults.length > 0 || !isComplete(values)) return { ok: false, faults: faults.slice(0, faultsMax) };
  return { ok: true, config: freeze(assemble(input.mode, values, settingsOf(written, input.mode))) };
}
