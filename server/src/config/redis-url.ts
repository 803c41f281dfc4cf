import type { Parsed, SocketAddress } from "./parsers.ts";
import {
  decoded,
  parsedBy,
  readHosts,
  refuseOthers,
  type StoreUrl,
  StoreUrlFault,
  splitStoreUrl,
  textOption,
} from "./store-url.ts";

/** One address of Redis: TCP, or a Unix socket. */
export type RedisNode = SocketAddress | { readonly path: string };

/** Where Redis is. */
export interface RedisAddress {
  /** `nodes` are the one server, some nodes of a cluster, or the sentinels that know the server. */
  readonly kind: "single" | "cluster" | "sentinel";
  readonly nodes: readonly RedisNode[];
  readonly username: string | null;
  readonly password: string | null;
  /** 0 on a cluster, which has no other. */
  readonly database: number;
  /** null without TLS. */
  readonly tls: RedisTls | null;
  /** null unless `kind` is "sentinel". */
  readonly sentinel: RedisSentinel | null;
}

interface RedisTls {
  /** A PEM file with the authorities that are trusted in place of the system's. */
  readonly caFile: string | null;
  /** The name that certificates must have, in place of the host's. */
  readonly serverName: string | null;
}

interface RedisSentinel {
  /** The name under which the sentinels watch the server. */
  readonly group: string;
  readonly username: string | null;
  readonly password: string | null;
}

const kinds: Readonly<Record<string, RedisAddress["kind"]>> = { "+cluster": "cluster", "+sentinel": "sentinel" };
const schemes = ["", "+cluster", "+sentinel"].flatMap((kind) => [`redis${kind}`, `rediss${kind}`]);
const tlsOptions = ["ca_file", "server_name"];
const sentinelOptions = ["sentinel_user", "sentinel_password"];
const ports = { server: 6_379, sentinel: 26_379 };

/** What REDIS_URL may be, for the reference and for faults. */
export const redisForms =
  "redis://host:6379/0, redis+unix:///path, redis+cluster://host,host or redis+sentinel://host,host/name/0; rediss in place of redis is TLS";

/**
 * Reads REDIS_URL. `redis://[user:password@]host[:port][/database]`, `redis+cluster://[user:password@]host1,host2`,
 * `redis+sentinel://[user:password@]sentinel1:port,sentinel2/name[/database]`, each with `rediss` for TLS, and
 * `redis+unix://[user:password@]/path`. Options: `ca_file` and `server_name` with TLS, `sentinel_user` and
 * `sentinel_password` for the sentinels themselves, `db` for a socket. User, password and options are percent-encoded.
 */
export function readRedisUrl(text: string): Parsed<RedisAddress> {
  return parsedBy(() => {
    const url = splitStoreUrl(text, [...schemes, "redis+unix"]);
    return url.scheme === "redis+unix" ? readSocket(url) : readNetwork(url);
  });
}

function readSocket({ username, password, hosts, path, options }: StoreUrl): RedisAddress {
  if (hosts !== "" || path.length < 2) throw new StoreUrlFault("redis+unix:///path/of/the.socket");
  refuseOthers(options, ["db"]);
  const database = readDatabase(options.get("db") ?? "");
  const node = { path: decoded(path, "path") };
  return { kind: "single", nodes: [node], username, password, database, tls: null, sentinel: null };
}

function readNetwork(url: StoreUrl): RedisAddress {
  const { scheme, username, password, options } = url;
  const kind = kinds[scheme.replace(/^rediss?/, "")] ?? "single";
  const isTls = scheme.startsWith("rediss");
  if (!isTls && tlsOptions.some((name) => options.has(name))) {
    throw new StoreUrlFault(`rediss, which is TLS, where ${tlsOptions.join(" or ")} is given`);
  }
  refuseOthers(options, [...(isTls ? tlsOptions : []), ...(kind === "sentinel" ? sentinelOptions : [])]);
  if (kind === "single" && url.hosts.includes(",")) {
    throw new StoreUrlFault("one host: several are redis+cluster://host,host or redis+sentinel://host,host/name");
  }
  const nodes = readHosts(url.hosts, kind === "sentinel" ? ports.sentinel : ports.server);
  const tls = isTls ? { caFile: textOption(options, "ca_file"), serverName: textOption(options, "server_name") } : null;
  return { kind, nodes, username, password, tls, ...readPath(url, kind) };
}

function readPath(
  { path, options }: StoreUrl,
  kind: RedisAddress["kind"],
): Pick<RedisAddress, "database" | "sentinel"> {
  if (kind !== "sentinel") {
    const database = readDatabase(path.slice(1));
    if (kind === "cluster" && database !== 0) throw new StoreUrlFault("no database: a cluster has 0 alone");
    return { database, sentinel: null };
  }
  const [, group = "", database = "", ...rest] = path.split("/");
  if (group === "" || rest.length > 0) {
    throw new StoreUrlFault("redis+sentinel://host,host/name/0, with the name that the sentinels give the server");
  }
  const username = textOption(options, "sentinel_user");
  const password = textOption(options, "sentinel_password");
  return { database: readDatabase(database), sentinel: { group: decoded(group, "path"), username, password } };
}

function readDatabase(text: string): number {
  if (text === "") return 0;
  if (!/^\d{1,4}$/.test(text)) throw new StoreUrlFault("a database that is a number from 0 to 9999");
  return Number(text);
}

/** As `readRedisUrl`. @throws {Error} whose message repeats nothing of the URL, since it may hold a password */
export function parseRedisUrl(text: string): RedisAddress {
  const parsed = readRedisUrl(text);
  if (!parsed.ok) throw new Error(`REDIS_URL: expected ${parsed.expected}`);
  return parsed.value;
}
