/** Where Redis is. `nodes` are the seeds of a cluster, or the one server. */
export interface RedisAddress {
  readonly cluster: boolean;
  readonly tls: boolean;
  readonly nodes: readonly RedisNode[];
  readonly username: string | null;
  readonly password: string | null;
  /** 0 on a cluster, which has no other. */
  readonly database: number;
}

/** One address of Redis: TCP, or a Unix socket. */
export type RedisNode = { readonly host: string; readonly port: number } | { readonly path: string };

const portDefault = 6_379;
const form = /^(redis|rediss)(\+cluster|\+unix)?:\/\/(?:([^@/]*)@)?([^/?#]*)(\/[^?#]*)?$/;

/**
 * Reads `redis://[user:password@]host[:port][/database]`, `rediss://` (TLS), `redis+cluster://host1:port,host2:port`,
 * `rediss+cluster://…`, or `redis+unix:///path`. IPv6 hosts are in brackets; user and password are percent-encoded.
 * Throws an Error that says what is wrong and repeats nothing of the address, since it may hold a password.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const match = form.exec(url);
  if (match === null) {
    throw new Error("REDIS_URL must look like redis://host:6379/0, redis+cluster://host1,host2 or redis+unix:///path");
  }
  const [, scheme, kind, credentials = "", hosts = "", path = ""] = match;
  const { username, password } = parseCredentials(credentials);
  const base = { cluster: kind === "+cluster", tls: scheme === "rediss", username, password };
  if (kind === "+unix") {
    if (hosts !== "" || path === "" || base.tls) throw new Error("REDIS_URL for a socket must be redis+unix:///path");
    return { ...base, nodes: [{ path }], database: 0 };
  }
  const nodes = hosts.split(",").map(parseNode);
  if (!base.cluster && nodes.length > 1) throw new Error("REDIS_URL names several hosts: use redis+cluster://");
  return { ...base, nodes, database: parseDatabase(path, base.cluster) };
}

function parseCredentials(text: string): { username: string | null; password: string | null } {
  const colon = text.indexOf(":");
  try {
    const username = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
    const password = colon < 0 ? "" : decodeURIComponent(text.slice(colon + 1));
    return { username: username === "" ? null : username, password: password === "" ? null : password };
  } catch {
    throw new Error("REDIS_URL has a user or password that is not percent-encoded");
  }
}

function parseNode(text: string): RedisNode {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(text);
  const [, host = "", port = String(portDefault)] = match ?? [];
  if (host === "" || Number(port) < 1 || Number(port) > 65_535)
    throw new Error("REDIS_URL has a host or port that is none");
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

function parseDatabase(path: string, cluster: boolean): number {
  if (path === "" || path === "/") return 0;
  if (cluster || !/^\/\d{1,4}$/.test(path)) throw new Error("REDIS_URL has a database that is none");
  return Number(path.slice(1));
}
