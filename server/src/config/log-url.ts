import type { Parsed, SocketAddress } from "./parsers.ts";
import { parsedBy, readHosts, refuseOthers, StoreUrlFault, splitStoreUrl, textOption } from "./store-url.ts";

/** Where the NATS servers of the chain's log are. */
export interface LogAddress {
  readonly servers: readonly SocketAddress[];
  readonly username: string | null;
  readonly password: string | null;
  /** In place of user and password. */
  readonly token: string | null;
  /** null without TLS. */
  readonly tls: { readonly caFile: string | null } | null;
  /** How many servers hold each record. */
  readonly replicas: number;
  /** Begins the names of streams and subjects; empty for none. */
  readonly prefix: string;
}

/** What LOG_URL may be, for the reference and for faults. */
export const logForms =
  "nats://user:password@host:4222, several hosts separated by commas; tls in place of nats is TLS";

/**
 * Reads LOG_URL: `nats://[user:password@|token@]host[:port],…` or `tls://…`. Options: `replicas` (1, 3 or 5; unless set
 * 3 where three hosts are named), `prefix`, and `ca_file` with TLS. User, password and options are percent-encoded.
 */
export function readLogUrl(text: string): Parsed<LogAddress> {
  return parsedBy(() => {
    const { scheme, username, password, hosts, path, options } = splitStoreUrl(text, ["nats", "tls"]);
    if (path !== "" && path !== "/") throw new StoreUrlFault("no path after the hosts");
    if (scheme === "nats" && options.has("ca_file")) throw new StoreUrlFault("tls, where ca_file is given");
    refuseOthers(options, ["prefix", "replicas", ...(scheme === "tls" ? ["ca_file"] : [])]);
    const servers = readHosts(hosts, 4_222);
    const isToken = username !== null && password === null;
    return {
      servers,
      username: isToken ? null : username,
      password,
      token: isToken ? username : null,
      tls: scheme === "tls" ? { caFile: textOption(options, "ca_file") } : null,
      replicas: readReplicas(options.get("replicas") ?? (servers.length >= 3 ? "3" : "1")),
      prefix: readPrefix(options.get("prefix") ?? ""),
    };
  });
}

function readReplicas(text: string): number {
  if (text === "1" || text === "3" || text === "5") return Number(text);
  throw new StoreUrlFault("replicas as 1, 3 or 5");
}

function readPrefix(text: string): string {
  if (/^[A-Za-z0-9_-]{0,64}$/.test(text)) return text;
  throw new StoreUrlFault("a prefix of at most 64 letters, digits, _ and -");
}

/** As `readLogUrl`. @throws {Error} whose message repeats nothing of the URL, since it may hold a password */
export function parseLogUrl(text: string): LogAddress {
  const parsed = readLogUrl(text);
  if (!parsed.ok) throw new Error(`LOG_URL: expected ${parsed.expected}`);
  return parsed.value;
}
