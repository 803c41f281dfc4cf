import type { Config } from "../config.ts";
import { type KeyName, roles } from "../keys.ts";
import { masterKey } from "./loaded-config.ts";

/** That of X1, which is found by itself; any id would do. */
const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const nameProgram = "nameQyUhZQQgnirGbbJRR9ECWSdq1W7mMaNUZZTBvtq";
const dayMs = 86_400_000;
const genesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

/** For each key: what is accepted with what it becomes, and what is refused. */
export const samples: Readonly<
  Record<KeyName, { good: [string, (config: Config) => unknown, unknown][]; bad: string[] }>
> = {
  SLUICE_CONFIG: { good: [["/etc/sluice.toml", (c) => c.settings[0]?.shown, "/etc/sluice.toml"]], bad: ["a\0b"] },
  ROLES: {
    good: [
      ["all", (c) => c.roles, roles],
      [" Resolver, gateway ", (c) => c.roles, ["gateway", "resolver"]],
    ],
    bad: ["gateway,rpc", ",", "gateway,"],
  },
  BIND: {
    good: [
      ["0.0.0.0", (c) => c.bind, "0.0.0.0"],
      ["[::]", (c) => c.bind, "::"],
      ["localhost", (c) => c.bind, "localhost"],
    ],
    bad: ["127.0.0.1:80", "a b", "-x", "http://localhost"],
  },
  PORT_OFFSET: {
    good: [["100", (c) => [c.ports.gateway, c.ports.metrics, c.resolver.port], [8999, 9564, 8791]]],
    bad: ["-1", "1.5", "0x10", "50001", "99999999999999999999"],
  },
  TRUSTED_PROXIES: {
    good: [["10.0.0.0/8, ::1", (c) => c.trustedProxies, ["10.0.0.0/8", "::1"]]],
    bad: ["10.0.0.0/33", "proxy.example.com", "10.0.0.0/8,,", "010.0.0.1"],
  },
  PROGRAM_IDLS: { good: [["/etc/sluice/idls", (c) => c.programIdls, "/etc/sluice/idls"]], bad: ["a\0b"] },
  PROXY_PROTOCOL: { good: [["OFF", (c) => c.proxyProtocol, "off"]], bad: ["v1", "v2", "on"] },
  MAX_CONNECTIONS: { good: [["400", (c) => c.connectionsMax, 400]], bad: ["0", "1e3", "1000001"] },
  DRAIN_DELAY_MS: { good: [["15000", (c) => c.drain.delayMs, 15_000]], bad: ["-1", "5s", "300001"] },
  WORKERS: { good: [["1", (c) => c.workers, 1]], bad: ["0", "65", "two"] },
  DRAIN_MS: { good: [["0", (c) => c.drain.deadlineMs, 0]], bad: ["-1", "5s", "300001"] },
  PUBLIC_URL: {
    good: [
      ["https://RPC.example/", (c) => c.publicUrls.gateway, "https://rpc.example"],
      ["http://10.0.0.1:80", (c) => c.publicUrls.gateway, "http://10.0.0.1"],
      [" https://[2001:db8::1]:8443", (c) => c.publicUrls.gateway, "https://[2001:db8::1]:8443"],
    ],
    bad: [
      "rpc.example",
      "ftp://rpc.example",
      "wss://rpc.example",
      "https://rpc.example/rpc",
      "https://rpc.example//",
      "https://rpc.example?",
      "https://rpc.example#a",
      "https://user@rpc.example",
      "https://@rpc.example",
      "https://rpc.example\\x",
      "https://rpc.ex\nample",
      "https://0.0.0.0",
      "http://[::]:8899",
      "https://rpc.example:70000",
    ],
  },
  PUBLIC_URL_PUBSUB: {
    good: [["wss://rpc.example", (c) => c.publicUrls.pubsub, "wss://rpc.example"]],
    bad: ["https://rpc.example", "wss://rpc.example/ws"],
  },
  PUBLIC_URL_ORACLE: {
    good: [["https://prices.example", (c) => c.publicUrls.oracle, "https://prices.example"]],
    bad: ["https://prices.example/v1"],
  },
  PUBLIC_URL_RESOLVER: {
    good: [["https://names.example", (c) => c.publicUrls.resolver, "https://names.example"]],
    bad: ["names.example"],
  },
  PUBLIC_URL_YELLOWSTONE: {
    good: [["https://geyser.example", (c) => c.publicUrls.yellowstone, "https://geyser.example"]],
    bad: ["geyser.example:10000"],
  },
  PUBLIC_URL_ENGINE: {
    good: [["https://bundles.example", (c) => c.publicUrls.engineRest, "https://bundles.example"]],
    bad: ["https://"],
  },
  PUBLIC_URL_ENGINE_GRPC: {
    good: [["https://engine.example:7441", (c) => c.publicUrls.engineGrpc, "https://engine.example:7441"]],
    bad: ["engine.example:7441"],
  },
  MASTER_KEY: {
    good: [
      [masterKey.toUpperCase(), (c) => c.masterKey, masterKey],
      [Buffer.from(masterKey, "hex").toString("base64"), (c) => c.masterKey, masterKey],
      [Buffer.from(masterKey, "hex").toString("base64url"), (c) => c.masterKey, masterKey],
    ],
    bad: ["secret", masterKey.slice(1), `${masterKey}00`],
  },
  MASTER_KEY_PREVIOUS: {
    good: [[`${masterKey}, ${"ab".repeat(32)}`, (c) => c.masterKeysPrevious, [masterKey, "ab".repeat(32)]]],
    bad: [`${masterKey},`, "ab", Array.from({ length: 9 }, () => masterKey).join(",")],
  },
  UPSTREAMS_MAINNET: {
    good: [["a=https://a.example/", (c) => c.upstreams.mainnet[0]?.label, "a"]],
    bad: ["https://a.example", "a=ftp://a.example", "a=https://a.example;color=red", ",", "a b=https://a.example"],
  },
  UPSTREAMS_DEVNET: { good: [["b=http://b:8899", (c) => c.upstreams.devnet[0]?.label, "b"]], bad: ["b="] },
  UPSTREAMS_TESTNET: { good: [["c=http://c", (c) => c.upstreams.testnet[0]?.label, "c"]], bad: ["=http://c"] },
  GENESIS_MAINNET: { good: [[genesis, (c) => c.genesis.hashes.mainnet, genesis]], bad: ["5eykt4", "0".repeat(44)] },
  GENESIS_DEVNET: { good: [[` ${genesis} `, (c) => c.genesis.hashes.devnet, genesis]], bad: [`${genesis}1`] },
  GENESIS_TESTNET: { good: [[genesis, (c) => c.genesis.hashes.testnet, genesis]], bad: ["none"] },
  GENESIS_ALLOW_UNKNOWN: {
    good: [["a, b.2", (c) => c.genesis.allowUnknown, ["a", "b.2"]]],
    bad: ["a,,b", "-a", "a b"],
  },
  NATIVE_SYMBOL: { good: [["XNT", (c) => c.nativeSymbol, "XNT"]], bad: ["X NT", "ABCDEFGHIJKLM"] },
  NETWORK_DEFAULT: { good: [["Testnet", (c) => c.networkDefault, "testnet"]], bad: ["x1"] },
  UPSTREAM_TIMEOUT_MS: { good: [["5000", (c) => c.upstreamTimeoutMs, 5000]], bad: ["99", "30001", "5s"] },
  MAX_NODE_BODY: { good: [["100KiB", (c) => c.nodeBodyBytesMax, 102_400]], bad: ["1KiB", "1MiB", "-1"] },
  CORDON_SLOTS: { good: [["10", (c) => c.cordonSlots, 10]], bad: ["0", "ten"] },
  UNKNOWN_METHODS: { good: [["pass", (c) => c.unknownMethods, "pass"]], bad: ["allow"] },
  CACHE_BYTES: {
    good: [
      ["16MiB", (c) => c.cacheBytes, 16 * 1024 * 1024],
      ["1048576", (c) => c.cacheBytes, 1048576],
    ],
    bad: ["1KiB", "64MB", "1TiB", "-1"],
  },
  DATA_DIR: { good: [["/var/lib/sluice", (c) => c.stores.directory, "/var/lib/sluice"]], bad: ["a\0b"] },
  DATABASE_URL: {
    good: [["postgres://u:p@db/sluice", (c) => c.stores.databaseUrl, "postgres://u:p@db/sluice"]],
    bad: [
      "mysql://db",
      "db",
      "postgres://",
      "postgres://a,b/s?target_session_attrs=standby",
      "postgres://a/?sslmode=on",
    ],
  },
  DATABASE_POOL: { good: [["20", (c) => c.stores.database.connections.general, 20]], bad: ["0", "201", "many"] },
  DATABASE_POOL_ENGINE: { good: [["4", (c) => c.stores.database.connections.engine, 4]], bad: ["0", "201"] },
  DATABASE_POOL_LEASES: { good: [["1", (c) => c.stores.database.connections.leases, 1]], bad: ["0", "201"] },
  DATABASE_POOL_KEYS: { good: [["5", (c) => c.stores.database.connections.keys, 5]], bad: ["0", "201"] },
  DATABASE_POOL_UNKNOWN_KEYS: { good: [["1", (c) => c.stores.database.connections.unknownKeys, 1]], bad: ["0", "201"] },
  DATABASE_CONNECT_TIMEOUT_MS: {
    good: [["800", (c) => c.stores.database.connectTimeoutMs, 800]],
    bad: ["99", "5s", "60001"],
  },
  DATABASE_STATEMENT_TIMEOUT_MS: {
    good: [["10000", (c) => c.stores.database.statementTimeoutMs, 10_000]],
    bad: ["999", "600001"],
  },
  LEASE_MS: { good: [["4000", (c) => c.stores.leaseMs, 4_000]], bad: ["999", "60001", "4s"] },
  DATABASE_LOOKUP_TIMEOUT_MS: {
    good: [["500", (c) => c.stores.database.lookupTimeoutMs, 500]],
    bad: ["99", "3001"],
  },
  CLICKHOUSE_URL: {
    good: [["http://ch:8123", (c) => c.stores.clickhouseUrl, "http://ch:8123"]],
    bad: ["tcp://ch:9000", "http://ch:8123/a-b", "http://ch?ca_file=/ca.pem", "https://a,b:99999/s"],
  },
  CLICKHOUSE_CLUSTER: { good: [["main_1", (c) => c.stores.clickhouseCluster, "main_1"]], bad: ["a b", "a';--"] },
  LOG_URL: {
    good: [
      ["nats://h", (c) => c.stores.log.url, "nats://h"],
      ["tls://u:p%40ss@a:1,b,c?replicas=3", (c) => c.stores.log.url, "tls://u:p%40ss@a:1,b,c?replicas=3"],
    ],
    bad: ["redis://h", "nats://h/path", "nats://h?replicas=2", "nats://u:p@ss@h", "nats://h?ca_file=/x"],
  },
  LOG_RETENTION: { good: [["90m", (c) => c.stores.log.retentionMs, 5_400_000]], bad: ["6", "0h", "31d", "1y"] },
  ACCOUNT_LOG_BYTES: { good: [["16MiB", (c) => c.stores.log.accountBytesMax, 16 * 1024 ** 2]], bad: ["1MiB", "much"] },
  LOG_BYTES: { good: [["1GiB", (c) => c.stores.log.bytesMax, 1024 ** 3]], bad: ["1", "much"] },
  LOG_SYNC: { good: [["interval", (c) => c.stores.log.sync, "interval"]], bad: ["never"] },
  LEDGER_CONFINEMENT: {
    good: [
      ["required", (c) => c.stores.ledgerConfinement, "required"],
      ["off", (c) => c.stores.ledgerConfinement, "off"],
    ],
    bad: ["on"],
  },
  LEDGER_VOTES: { good: [["full", (c) => c.stores.ledgerVotes, "full"]], bad: ["yes"] },
  GAP_AFTER: { good: [["2m", (c) => c.stores.log.gapAfterMs, 120_000]], bad: ["9s", "25h", "15", "never"] },
  LEDGER_QUEUE_BYTES: { good: [["64MiB", (c) => c.stores.ledgerQueueBytes, 64 * 1024 ** 2]], bad: ["-1", "much"] },
  REDIS_URL: {
    good: [
      ["redis://r:6379", (c) => c.stores.redisUrl, "redis://r:6379"],
      ["redis+cluster://a:1,b:2", (c) => c.stores.redisUrl, "redis+cluster://a:1,b:2"],
      ["redis+sentinel://a,b/main/3", (c) => c.stores.redisUrl, "redis+sentinel://a,b/main/3"],
      ["redis+unix:///run/redis.sock", (c) => c.stores.redisUrl, "redis+unix:///run/redis.sock"],
    ],
    bad: ["http://r", "redis://a,b", "redis://a:1,redis://b:2", "redis+sentinel://a,b"],
  },
  REDIS_PREFIX: {
    good: [["one:", (c) => c.stores.redisPrefix, "one:"]],
    bad: ["a b", "{tag}:", "a".repeat(65)],
  },
  LEDGER_RETENTION_REQUESTS: {
    good: [
      ["62d", (c) => c.stores.ledgerRetentions.requests, 62 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.requests, "forever"],
    ],
    bad: ["61d", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_BUNDLE_OUTCOMES: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.bundle_outcomes, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.bundle_outcomes, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_ORACLE_TICKS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.oracle_ticks, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.oracle_ticks, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_ORACLE_ROUNDS_BY_SECOND: {
    good: [
      ["8d", (c) => c.stores.ledgerRetentions.oracle_rounds_by_second, 8 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.oracle_rounds_by_second, "forever"],
    ],
    bad: ["7d", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_ORACLE_CANDLES_BY_MINUTE: {
    good: [
      ["731d", (c) => c.stores.ledgerRetentions.oracle_candles_by_minute, 731 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.oracle_candles_by_minute, "forever"],
    ],
    bad: ["730d", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_ORACLE_VOLUMES_BY_MINUTE: {
    good: [
      ["731d", (c) => c.stores.ledgerRetentions.oracle_volumes_by_minute, 731 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.oracle_volumes_by_minute, "forever"],
    ],
    bad: ["730d", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_ORACLE_ROUNDS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.oracle_rounds, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.oracle_rounds, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_ORACLE_CANDLES: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.oracle_candles, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.oracle_candles, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_BLOCKS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.blocks, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.blocks, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_TRANSACTIONS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.transactions, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.transactions, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_INSTRUCTIONS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.instructions, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.instructions, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_TOKEN_MOVEMENTS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.token_movements, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.token_movements, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_NATIVE_MOVEMENTS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.native_movements, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.native_movements, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_ACCOUNT_CHANGES: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.account_changes, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.account_changes, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_REWARDS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.rewards, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.rewards, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_PARSED: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.parsed, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.parsed, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_TRANSACTIONS_BY_SIGNATURE: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.transactions_by_signature, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.transactions_by_signature, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_TRANSACTIONS_BY_ADDRESS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.transactions_by_address, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.transactions_by_address, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_WEBHOOK_ATTEMPTS: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.webhook_attempts, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.webhook_attempts, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_POOL_SAMPLES: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.pool_samples, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.pool_samples, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  LEDGER_RETENTION_POOL_VALIDATOR_SAMPLES: {
    good: [
      ["36h", (c) => c.stores.ledgerRetentions.pool_validator_samples, 1.5 * dayMs],
      ["Forever", (c) => c.stores.ledgerRetentions.pool_validator_samples, "forever"],
    ],
    bad: ["23h", "7301d", "never", "0"],
  },
  API_BIND: {
    good: [["[::1]:9000", (c) => [c.resolver.host, c.resolver.port, c.ports.resolver], ["::1", 9000, 9000]]],
    bad: ["9000", "::1:9000", "host:0", "host:65536"],
  },
  CHAIN_RPC_URL: { good: [["http://n:8899", (c) => c.resolver.chainRpcUrl, "http://n:8899"]], bad: ["n:8899"] },
  NAME_PROGRAM: {
    good: [[nameProgram, (c) => c.resolver.nameProgram, nameProgram]],
    bad: ["nameQyUh", `${nameProgram}1`, "0OIl"],
  },
  HANDLE_PROGRAM: { good: [[nameProgram, (c) => c.resolver.handleProgram, nameProgram]], bad: ["0", "handles"] },
  NAME_COMMITMENT: { good: [["Finalized", (c) => c.resolver.commitment, "finalized"]], bad: ["processed", "rooted"] },
  ORACLE: {
    good: [
      ["live", (c) => c.oracle.prices, "live"],
      ["OFF", (c) => c.oracle.prices, "off"],
    ],
    bad: ["on", "yes"],
  },
  ORACLE_ENDPOINTS: {
    good: [
      [
        "kraken=http://k:1;ws=ws://k:2, OKX=https://o/base/;ws=wss://o/ws/",
        (c) => c.oracle.endpoints,
        { kraken: { rest: "http://k:1", ws: "ws://k:2" }, okx: { rest: "https://o/base", ws: "wss://o/ws" } },
      ],
    ],
    bad: [
      "kraken=http://k:1",
      "mtgox=http://m;ws=ws://m",
      "chain=http://c;ws=ws://c",
      "kraken=ws://k;ws=http://k",
      "kraken=http://k;ws=ws://k,kraken=http://k;ws=ws://k",
      ",",
    ],
  },
  ORACLE_POOLS: {
    good: [
      [
        `xnt/usdc;base=${nameProgram}:${tokenProgram}:9;quote=${tokenProgram}:${nameProgram}:6;depth=10`,
        (c) => c.oracle.pools,
        [
          {
            symbol: "XNT",
            quote: "USDC",
            base: { vault: nameProgram, mint: tokenProgram, decimals: 9 },
            quoted: { vault: tokenProgram, mint: nameProgram, decimals: 6 },
            depthMin: 10,
          },
        ],
      ],
    ],
    bad: [
      ",",
      "XNT/USDC",
      `XNT/EUR;base=${nameProgram}:${nameProgram}:9;quote=${nameProgram}:${nameProgram}:6`,
      `NOPE/USD;base=${nameProgram}:${nameProgram}:9;quote=${nameProgram}:${nameProgram}:6`,
      `XNT/USD;base=${nameProgram}:${nameProgram}:19;quote=${nameProgram}:${nameProgram}:6`,
      `XNT/USD;base=x:${nameProgram}:9;quote=${nameProgram}:${nameProgram}:6`,
      `XNT/USD;base=${nameProgram}:${nameProgram}:9;quote=${nameProgram}:${nameProgram}:6;depth=-1`,
      `XNT/USD;base=${nameProgram}:${nameProgram}:9;quote=${nameProgram}:${nameProgram}:6;more=1`,
    ],
  },
  ORACLE_TICK_LOG_MB: { good: [["0", (c) => c.oracle.tickLogBytes, 0]], bad: ["-1", "1.5", "1000001", "all"] },
  ORACLE_SUNSET: {
    good: [
      ["2027-06-30", (c) => c.oracle.sunsetMs, Date.UTC(2027, 5, 30)],
      ["2027-06-30T12:00:00Z", (c) => c.oracle.sunsetMs, Date.UTC(2027, 5, 30, 12)],
    ],
    bad: ["2027-02-30", "soon", "1790000000", "30.06.2027", "2027-06-30T12:00:00"],
  },
  ORACLE_SUCCESSOR: {
    good: [["https://next.example/oracle", (c) => c.oracle.successorUrl, "https://next.example/oracle"]],
    bad: ["next.example", "ftp://next.example"],
  },
  ENGINE_BUILDER: { good: [[nameProgram, (c) => c.engine.builder, nameProgram]], bad: ["0", "builder"] },
  ENGINE_COMMISSION: { good: [["100", (c) => c.engine.commission, 100]], bad: ["101", "-1", "5%"] },
  ENGINE_TICK_MS: { good: [["25", (c) => c.engine.tickMs, 25]], bad: ["4", "1001", "50ms"] },
  ENGINE_SIMULATORS: { good: [["4", (c) => c.engine.simulators, 4]], bad: ["0", "65", "all"] },
  ENGINE_VALIDATORS: {
    good: [[`${nameProgram}, ${tokenProgram}`, (c) => c.engine.validators, [nameProgram, tokenProgram]]],
    bad: [",", `${nameProgram},`, "all"],
  },
  ENGINE_URL: { good: [["https://e:7441", (c) => c.engine.url, "https://e:7441"]], bad: ["e:7441", "grpc://e"] },
  METADATA_FETCH: { good: [["off", (c) => c.metadata.fetches, false]], bad: ["1", "yes"] },
  METADATA_IPFS_GATEWAY: {
    good: [["http://10.0.0.1/ipfs", (c) => c.metadata.ipfsGateway, "http://10.0.0.1/ipfs"]],
    bad: ["ipfs.io", "ftp://ipfs.io"],
  },
  METADATA_ARWEAVE_GATEWAY: {
    good: [["https://ar.example", (c) => c.metadata.arweaveGateway, "https://ar.example"]],
    bad: ["ar.example", "ar://ar.example"],
  },
  METADATA_ALLOW_HTTP: { good: [["1", (c) => c.metadata.allowHttp, true]], bad: ["2", "yes"] },
  METADATA_ALLOW_PRIVATE_CIDRS: {
    good: [["127.0.0.0/8,::1", (c) => c.metadata.allowPrivateCidrs, ["127.0.0.0/8", "::1"]]],
    bad: ["127.0.0.0/33", "localhost"],
  },
  WEBHOOK_ALLOW_HTTP: { good: [["1", (c) => c.webhooks.allowHttp, true]], bad: ["2", "yes"] },
  WEBHOOK_ALLOW_PRIVATE_CIDRS: {
    good: [["127.0.0.0/8,::1", (c) => c.webhooks.allowPrivateCidrs, ["127.0.0.0/8", "::1"]]],
    bad: ["127.0.0.0/33", "localhost"],
  },
  WEBHOOK_SHARDS: { good: [["4", (c) => c.webhooks.shards, 4]], bad: ["0", "65", "many"] },
  ENGINE_REGION: { good: [["ny", (c) => c.engine.region, "ny"]], bad: ["new york", "a-b"] },
  STAKE_POOL: { good: [[nameProgram, (c) => c.stakePool.address, nameProgram]], bad: ["0", "pool"] },
  TIP_DISTRIBUTION_PROGRAM: {
    good: [[nameProgram, (c) => c.stakePool.tipProgram, nameProgram]],
    bad: ["0", "program"],
  },
  STAKE_POOL_PROGRAM: { good: [[nameProgram, (c) => c.stakePool.program, nameProgram]], bad: ["0", "program"] },
  ENGINE_TLS_CERT: { good: [["a.pem", (c) => c.tls.engineGrpc?.certificate, "a.pem"]], bad: ["a\0b"] },
  ENGINE_TLS_KEY: { good: [["b.pem", (c) => c.tls.engineGrpc?.key, "b.pem"]], bad: ["a\0b"] },
  TLS_CERT_FILE: { good: [["a.pem", (c) => c.tls.engineRest?.certificate, "a.pem"]], bad: ["a\0b"] },
  TLS_KEY_FILE: { good: [["b.pem", (c) => c.tls.gateway?.key, "b.pem"]], bad: ["a\0b"] },
  GATEWAY_TLS_CERT_FILE: { good: [["a.pem", (c) => c.tls.gateway?.certificate, "a.pem"]], bad: ["a\0b"] },
  GATEWAY_TLS_KEY_FILE: { good: [["b.pem", (c) => c.tls.gateway?.key, "b.pem"]], bad: ["a\0b"] },
  ORACLE_TLS_CERT_FILE: { good: [["a.pem", (c) => c.tls.oracle?.certificate, "a.pem"]], bad: ["a\0b"] },
  ORACLE_TLS_KEY_FILE: { good: [["b.pem", (c) => c.tls.oracle?.key, "b.pem"]], bad: ["a\0b"] },
  RESOLVER_TLS_CERT_FILE: { good: [["a.pem", (c) => c.tls.resolver?.certificate, "a.pem"]], bad: ["a\0b"] },
  RESOLVER_TLS_KEY_FILE: { good: [["b.pem", (c) => c.tls.resolver?.key, "b.pem"]], bad: ["a\0b"] },
  YELLOWSTONE_TLS_CERT_FILE: { good: [["a.pem", (c) => c.tls.yellowstone?.certificate, "a.pem"]], bad: ["a\0b"] },
  YELLOWSTONE_TLS_KEY_FILE: { good: [["b.pem", (c) => c.tls.yellowstone?.key, "b.pem"]], bad: ["a\0b"] },
  LOG_LEVEL: { good: [["DEBUG", (c) => c.logLevel, "debug"]], bad: ["verbose"] },
  METRICS_BIND: {
    good: [["0.0.0.0:9000", (c) => c.metrics, { host: "0.0.0.0", port: 9000 }]],
    bad: [":9464", "127.0.0.1:"],
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: { good: [["http://o:4318", (c) => c.otlpEndpoint, "http://o:4318"]], bad: ["o:4318"] },
};

/** What a key needs beside itself. */
export const companions: Partial<Record<KeyName, Record<string, string>>> = {
  ENGINE_TLS_CERT: { ENGINE_TLS_KEY: "b.pem" },
  ENGINE_TLS_KEY: { ENGINE_TLS_CERT: "a.pem" },
  TLS_CERT_FILE: { TLS_KEY_FILE: "b.pem" },
  TLS_KEY_FILE: { TLS_CERT_FILE: "a.pem" },
  GATEWAY_TLS_CERT_FILE: { GATEWAY_TLS_KEY_FILE: "b.pem" },
  GATEWAY_TLS_KEY_FILE: { GATEWAY_TLS_CERT_FILE: "a.pem" },
  ORACLE_TLS_CERT_FILE: { ORACLE_TLS_KEY_FILE: "b.pem" },
  ORACLE_TLS_KEY_FILE: { ORACLE_TLS_CERT_FILE: "a.pem" },
  RESOLVER_TLS_CERT_FILE: { RESOLVER_TLS_KEY_FILE: "b.pem" },
  YELLOWSTONE_TLS_CERT_FILE: { YELLOWSTONE_TLS_KEY_FILE: "b.pem" },
  YELLOWSTONE_TLS_KEY_FILE: { YELLOWSTONE_TLS_CERT_FILE: "a.pem" },
  RESOLVER_TLS_KEY_FILE: { RESOLVER_TLS_CERT_FILE: "a.pem" },
  CLICKHOUSE_CLUSTER: { CLICKHOUSE_URL: "http://ch:8123" },
};
