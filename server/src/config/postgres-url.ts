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

export const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
/** How much of TLS a connection needs, as libpq names it. */
export type SslMode = (typeof sslModes)[number];

/** One server: TCP, or the directory of its Unix socket, in which the port names the socket. */
export type PostgresHost = SocketAddress | { readonly directory: string; readonly port: number };

/** Where PostgreSQL is, and how it is connected. */
export interface PostgresAddress {
  /** In the order in which they are tried. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  /** Which of the servers is taken: whichever answers, or the one that takes writes. */
  readonly target: "any" | "read-write" | "primary";
  readonly tls: PostgresTls;
  /** null leaves the choice to the store. */
  readonly connectTimeoutMs: number | null;
  readonly applicationName: string | null;
  /** Settings of the session, as the server's command line has them; null for none. */
  readonly options: string | null;
}

export interface PostgresTls {
  readonly mode: SslMode;
  /** A PEM file with the authorities that are trusted; null for the system's. */
  readonly rootFile: string | null;
  /** The client's own certificate and key, PEM files; both or neither. */
  readonly certificateFile: string | null;
  readonly keyFile: string | null;
  /** TLS from the first byte, without PostgreSQL's own question before it. */
  readonly isDirect: boolean;
}

/** What DATABASE_URL may be, for the reference and for faults. */
export const postgresForms = "postgres://user:password@host:5432/database, several hosts separated by commas";

const known = [
  "application_name",
  "connect_timeout",
  "dbname",
  "host",
  "options",
  "password",
  "port",
  "ssl",
  "sslcert",
  "sslkey",
  "sslmode",
  "sslnegotiation",
  "sslrootcert",
  "target_session_attrs",
  "user",
];

/**
 * Reads DATABASE_URL, a connection URI of libpq: `postgres://[user[:password]@][host[:port],…][/database][?options]`,
 * with the options of `known` and their meanings in libpq.
 */
export function readPostgresUrl(text: string): Parsed<PostgresAddress> {
  return parsedBy(() => {
    const url = splitStoreUrl(text, ["postgres", "postgresql"]);
    const { options } = url;
    refuseOthers(options, known);
    const hosts = readServers(url);
    return {
      hosts,
      user: textOption(options, "user") ?? url.username,
      password: textOption(options, "password") ?? url.password,
      database: textOption(options, "dbname") ?? (url.path.length > 1 ? decoded(url.path.slice(1), "database") : null),
      target: readTarget(options.get("target_session_attrs") ?? (hosts.length > 1 ? "read-write" : "any")),
      tls: readTls(options),
      connectTimeoutMs: readSeconds(textOption(options, "connect_timeout")),
      applicationName: textOption(options, "application_name"),
      // Forms write a space as `+`, libpq takes it as %20.
      options: textOption(options, "options")?.replaceAll("+", " ") ?? null,
    };
  });
}

/** The hosts of the URL, or those of the options `host` and `port`. */
function readServers({ hosts, options }: StoreUrl): PostgresHost[] {
  const named = textOption(options, "host") ?? hosts;
  const ports = textOption(options, "port")?.split(",") ?? [];
  if (named === "") throw new StoreUrlFault("a URL that names a host, or the directory of a socket as ?host=/path");
  return named.split(",").map((each, index) => {
    const port = ports.length > 1 ? ports[index] : ports[0];
    const full = port === undefined ? each : `${each.replace(/:\d+$/, "")}:${port}`;
    const socket = /^((?:%2f|\/)[^:]*)(?::(.*))?$/i.exec(full);
    if (socket === null) return oneHost(full);
    return { directory: decoded(socket[1] ?? "", "host"), port: oneHost(`socket:${socket[2] ?? "5432"}`).port };
  });
}

function oneHost(text: string): SocketAddress {
  const [host] = readHosts(text, 5_432);
  if (host === undefined) throw new StoreUrlFault("a URL that names a host");
  return host;
}

function readTarget(text: string): PostgresAddress["target"] {
  if (text === "any" || text === "read-write" || text === "primary") return text;
  throw new StoreUrlFault("target_session_attrs=read-write, primary or any, since the store writes");
}

function readTls(options: ReadonlyMap<string, string>): PostgresTls {
  const ssl = options.get("ssl");
  if (ssl !== undefined && ssl !== "true") throw new StoreUrlFault("sslmode in place of ssl");
  const named = options.get("sslmode") ?? (ssl === "true" ? "require" : "prefer");
  const mode = sslModes.find((each) => each === named);
  if (mode === undefined) throw new StoreUrlFault(`sslmode as one of ${sslModes.join(", ")}`);
  const root = textOption(options, "sslrootcert");
  const rootFile = root === "system" ? null : root;
  if (root === "system" && mode !== "verify-full")
    throw new StoreUrlFault("sslmode=verify-full with sslrootcert=system");
  if (mode === "verify-ca" && rootFile === null) throw new StoreUrlFault("sslrootcert with sslmode=verify-ca");
  const [certificateFile, keyFile] = [textOption(options, "sslcert"), textOption(options, "sslkey")];
  if ((certificateFile === null) !== (keyFile === null)) throw new StoreUrlFault("sslcert and sslkey together");
  const negotiation = options.get("sslnegotiation") ?? "postgres";
  if (negotiation !== "postgres" && negotiation !== "direct") {
    throw new StoreUrlFault("sslnegotiation=postgres or direct");
  }
  const isDirect = negotiation === "direct";
  if (isDirect && ["disable", "allow", "prefer"].includes(mode)) {
    throw new StoreUrlFault("sslmode=require or stronger with sslnegotiation=direct");
  }
  return { mode, rootFile, certificateFile, keyFile, isDirect };
}

function readSeconds(text: string | null): number | null {
  if (text === null) return null;
  if (!/^\d{1,4}$/.test(text)) throw new StoreUrlFault("connect_timeout in whole seconds");
  // As in libpq 0 is no limit of its own, and 1 is too short to be meant.
  return text === "0" ? null : Math.max(2, Number(text)) * 1_000;
}

/** As `readPostgresUrl`. @throws {Error} whose message repeats nothing of the URL, since it may hold a password */
export function parsePostgresUrl(text: string): PostgresAddress {
  const parsed = readPostgresUrl(text);
  if (!parsed.ok) throw new Error(`DATABASE_URL: expected ${parsed.expected}`);
  return parsed.value;
}
