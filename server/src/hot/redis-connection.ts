import { readFileSync } from "node:fs";
import { backoffDelayMs, type Clock, type Random } from "@sluice/lib";
import { Cluster, Redis } from "ioredis";
import type { RedisAddress, RedisNode } from "../config/index.ts";
import type { HotLog } from "./hot.ts";

/** The time limits of a connection, in milliseconds. */
export interface RedisTimes {
  /** The longest time of a command, in all. */
  readonly commandMs: number;
  /** A connection that has not answered for this long is closed. */
  readonly silenceMs: number;
  readonly connectMs: number;
}

export interface RedisDependencies {
  readonly clock: Clock;
  readonly log: HotLog;
  /** Spreads reconnections. */
  readonly random: Random;
}

/** What every connection to one Redis has in common. */
export interface RedisConnection {
  readonly address: RedisAddress;
  readonly options: ReturnType<typeof optionsOf>;
}

const reconnectBackoff = { baseMs: 50, maxMs: 2_000 };

/** Milliseconds before the next connection, after `attempt` attempts that failed. */
export function reconnectDelayMs(attempt: number, random: Random): number {
  return backoffDelayMs(attempt, reconnectBackoff, random);
}

/**
 * What every connection to `address` has in common.
 *
 * @throws {Error} of the system, when the file of authorities cannot be read
 */
export function connectionOf(address: RedisAddress, times: RedisTimes): RedisConnection {
  return { address, options: optionsOf(address, times) };
}

/**
 * All servers and proxies support RESP2. Commands are neither queued for a server that is away nor sent twice: the
 * caller gets the error at once and decides.
 */
function optionsOf(address: RedisAddress, times: RedisTimes) {
  return {
    protocol: 2 as const,
    connectionName: "sluice",
    connectTimeout: times.connectMs,
    socketTimeout: times.silenceMs,
    keepAlive: 10_000,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    db: address.database,
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    ...(address.tls === null ? {} : { tls: tlsOptions(address.tls) }),
    ...(address.sentinel === null ? {} : sentinelOptions(address, times)),
  };
}

function tlsOptions({ caFile, serverName }: NonNullable<RedisAddress["tls"]>) {
  return {
    ...(caFile === null ? {} : { ca: readFileSync(caFile, "utf8") }),
    ...(serverName === null ? {} : { servername: serverName }),
  };
}

/** The client asks the sentinels for the server at each connection, and leaves it when they name another. */
function sentinelOptions({ sentinel, nodes, tls }: RedisAddress, times: RedisTimes) {
  if (sentinel === null) return {};
  const { group, username, password } = sentinel;
  return {
    sentinels: nodes.filter(isTcpNode).map(({ host, port }) => ({ host, port })),
    name: group,
    role: "master" as const,
    failoverDetector: true,
    sentinelCommandTimeout: times.connectMs,
    ...(username === null ? {} : { sentinelUsername: username }),
    ...(password === null ? {} : { sentinelPassword: password }),
    ...(tls === null ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tlsOptions(tls) }),
  };
}

function isTcpNode(node: RedisNode): node is Extract<RedisNode, { host: string }> {
  return "host" in node;
}

/** The connection for commands, which reconnects by itself; a cluster has one for each node. */
export function connectForCommands({ address, options }: RedisConnection, random: Random): Redis | Cluster {
  const delayMs = (attempt: number): number => reconnectDelayMs(attempt - 1, random);
  if (address.kind !== "cluster") {
    return new Redis({
      ...options,
      ...(address.kind === "single" ? address.nodes[0] : {}),
      retryStrategy: delayMs,
      sentinelRetryStrategy: delayMs,
      // After a failover the old primary answers READONLY; a new connection finds the new primary.
      reconnectOnError: (error) => (error.message.startsWith("READONLY") ? 1 : false),
    });
  }
  const { enableOfflineQueue, db, ...nodeOptions } = options;
  return new Cluster(address.nodes.filter(isTcpNode), {
    redisOptions: nodeOptions,
    enableOfflineQueue: false,
    clusterRetryStrategy: delayMs,
    slotsRefreshTimeout: options.connectTimeout,
    slotsRefreshInterval: 5_000,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    retryDelayOnTryAgain: 20,
  });
}

/** A connection for messages, which ends when it is lost: to `node`, or to the server that the sentinels name. */
export function connectForMessages({ address, options }: RedisConnection, node: RedisNode): Redis {
  return new Redis({
    ...options,
    ...(address.kind === "sentinel" ? {} : node),
    connectionName: "sluice-subscriber",
    autoResubscribe: false,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
  });
}
