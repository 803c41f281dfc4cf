import type { LedgerRetention, LedgerTableName } from "@sluice/contract/ledger";
import type { OracleSourceId } from "@sluice/contract/oracle";
import type { Network } from "@sluice/contract/tiers";
import type { Address } from "@sluice/wire/identifiers";
import type { Source } from "./faults.ts";
import type { KeyName, LogLevel, Mode, Role } from "./keys.ts";
import type { SocketAddress, SourceEndpoint } from "./parsers.ts";
import type { PoolConfig } from "./pools.ts";
import type { PublicUrls } from "./public-keys.ts";
import type { TlsConfig } from "./tls-keys.ts";
import type { UpstreamConfig } from "./upstreams.ts";

/** The port of each endpoint without an offset. */
export const standardPorts = {
  gateway: 8899,
  pubsub: 8900,
  yellowstone: 10_000,
  engineRest: 7435,
  engineGrpc: 7440,
  engineGrpcTls: 7441,
  oracle: 7450,
  resolver: 8691,
  metrics: 9464,
} as const;

export type EndpointName = keyof typeof standardPorts;

/** How one key was set, ready to be shown: nothing in it is secret. */
export interface Setting {
  readonly name: KeyName;
  /** The value with secrets masked; null when the key is not set. */
  readonly shown: string | null;
  readonly source: Exclude<Source, "rule">;
}

/**
 * All that operators decide, validated: a plain value that is frozen through and through. Times are in milliseconds,
 * sizes in bytes.
 */
export interface Config {
  readonly mode: Mode;
  readonly roles: readonly Role[];
  /** The host that endpoints listen on, except the resolver's and that of metrics. */
  readonly bind: string;
  /** The port of each endpoint, the offset included. */
  readonly ports: Readonly<Record<EndpointName, number>>;
  readonly portOffset: number;
  /** What clients are told in place of the addresses that endpoints listen on. */
  readonly publicUrls: PublicUrls;
  /** The directory of files that describe programs; null without one. */
  readonly programIdls: string | null;
  readonly resolver: SocketAddress & {
    /** null reads names from the nodes of the default network. */
    readonly chainRpcUrl: string | null;
    /** null leaves the choice to what the chain carries. */
    readonly nameProgram: Address | null;
    readonly handleProgram: Address | null;
    readonly commitment: "confirmed" | "finalized";
  };
  readonly oracle: {
    readonly prices: "market" | "live" | "off";
    readonly endpoints: Readonly<Partial<Record<OracleSourceId, SourceEndpoint>>>;
    readonly pools: readonly PoolConfig[];
    /** 0 keeps no log. */
    readonly tickLogBytes: number;
    /** Unix milliseconds; null while no end is set. */
    readonly sunsetMs: number | null;
    readonly successorUrl: string | null;
  };
  readonly engine: {
    /** null opens no block engine. */
    readonly builder: Address | null;
    /** Percent. */
    readonly commission: number;
    readonly tickMs: number;
    readonly simulators: number;
    /** null allows every leader. */
    readonly validators: readonly Address[] | null;
    readonly url: string | null;
    readonly region: string;
  };
  readonly webhooks: {
    readonly allowHttp: boolean;
    /** Ranges in CIDR form, beside the public addresses. */
    readonly allowPrivateCidrs: readonly string[];
    /** Parts into which the webhooks of a network are divided. */
    readonly shards: number;
  };
  /** Documents behind the URIs of tokens and NFTs. */
  readonly metadata: {
    readonly fetches: boolean;
    readonly ipfsGateway: string;
    readonly arweaveGateway: string;
    readonly allowHttp: boolean;
    /** Ranges in CIDR form, beside the public addresses. */
    readonly allowPrivateCidrs: readonly string[];
  };
  readonly stakePool: {
    /** null shows no pool. */
    readonly address: Address | null;
    /** null is the SPL program. */
    readonly program: Address | null;
    /** null is Jito's tip distribution program of mainnet. */
    readonly tipProgram: Address | null;
  };
  readonly tls: TlsConfig;
  readonly metrics: SocketAddress;
  readonly upstreams: Readonly<Record<Network, readonly UpstreamConfig[]>>;
  readonly genesis: {
    /** null leaves the choice to what is stored, else to the nodes. */
    readonly hashes: Readonly<Record<Network, string | null>>;
    /** Labels of nodes that need not tell theirs. */
    readonly allowUnknown: readonly string[];
  };
  /** What the native currency of the chains is called. */
  readonly nativeSymbol: string;
  readonly networkDefault: Network;
  readonly upstreamTimeoutMs: number;
  /** Bytes of one call as it goes to a node. */
  readonly nodeBodyBytesMax: number;
  readonly cordonSlots: number;
  readonly unknownMethods: "pass" | "refuse";
  readonly cacheBytes: number;
  readonly stores: {
    readonly directory: string;
    readonly databaseUrl: string | null;
    /** The pools of connections to PostgreSQL, by their sizes. */
    readonly database: {
      readonly connections: {
        readonly general: number;
        readonly engine: number;
        readonly leases: number;
        readonly keys: number;
        readonly unknownKeys: number;
      };
      readonly connectTimeoutMs: number;
      readonly statementTimeoutMs: number;
      /** Of leases and of look-ups of keys. */
      readonly lookupTimeoutMs: number;
    };
    readonly clickhouseUrl: string | null;
    readonly clickhouseCluster: string | null;
    /** Of records of requests that wait on disk. */
    readonly ledgerQueueBytes: number;
    /** What the ledger holds of votes. */
    readonly ledgerVotes: "lookup" | "full";
    /** How the operating system confines the process of the embedded engine. */
    readonly ledgerConfinement: "auto" | "required" | "off";
    /** How long each table of the ledger keeps its rows. */
    readonly ledgerRetentions: Readonly<Record<LedgerTableName, LedgerRetention>>;
    /** Milliseconds without a beat after which another process takes a lease over. */
    readonly leaseMs: number;
    /** The log of the chain. */
    readonly log: {
      /** null keeps it in files of `directory`. */
      readonly url: string | null;
      readonly retentionMs: number;
      readonly bytesMax: number;
      /** Of accounts and entries in memory, for each network. */
      readonly accountBytesMax: number;
      readonly sync: "block" | "interval";
      /** After which a block that no node gives becomes a gap. */
      readonly gapAfterMs: number;
    };
    readonly redisUrl: string | null;
    /** Begins every key and channel in Redis. */
    readonly redisPrefix: string;
  };
  /** Address ranges in CIDR form, or single addresses. */
  readonly trustedProxies: readonly string[];
  /** What connections of trusted proxies begin with. */
  readonly proxyProtocol: "off" | "v1v2";
  /** Client connections of the gateway's ports together; null derives it from the process's limit of open files. */
  readonly connectionsMax: number | null;
  /** Processes that serve the gateway; 1 is this process alone. */
  readonly workers: number;
  readonly drain: {
    /** From the wish to end on; calls are still taken meanwhile. */
    readonly delayMs: number;
    /** What calls under way may then take. */
    readonly deadlineMs: number;
  };
  /** 64 hexadecimal digits; secret. */
  readonly masterKey: string | null;
  /** Master keys that open and do not seal, in the same form. */
  readonly masterKeysPrevious: readonly string[];
  readonly logLevel: LogLevel;
  readonly otlpEndpoint: string | null;
  /** How each key was set, in the order of the reference. */
  readonly settings: readonly Setting[];
}
