import type { Parsed, SocketAddress } from "./parsers.ts";
import { decoded, parsedBy, readHosts, refuseOthers, StoreUrlFault, splitStoreUrl, textOption } from "./store-url.ts";

/** Where ClickHouse is. */
export interface ClickhouseAddress {
  /** Servers of one cluster, in the order in which they are tried. */
  readonly hosts: readonly SocketAddress[];
  readonly isTls: boolean;
  /** A PEM file with the authorities that are trusted in place of the system's; null for the system's. */
  readonly caFile: string | null;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** What CLICKHOUSE_URL may be, for the reference and for faults. */
export const clickhouseForms =
  "https://user:password@host:8443/database or http://host:8123/database, several hosts separated by commas";

/**
 * Reads CLICKHOUSE_URL: `http(s)://[user[:password]@]host[:port],…[/database][?ca_file=path]`. The user is `default`
 * and the database `sluice` unless named; user and password are percent-encoded.
 */
export function readClickhouseUrl(text: string): Parsed<ClickhouseAddress> {
  return parsedBy(() => {
    const { scheme, username, password, hosts, path, options } = splitStoreUrl(text, ["http", "https"]);
    const isTls = scheme === "https";
    if (!isTls && options.has("ca_file")) throw new StoreUrlFault("https where ca_file is given");
    refuseOthers(options, isTls ? ["ca_file"] : []);
    const database = decoded(path.slice(1), "database");
    if (database !== "" && !/^[A-Za-z_]\w{0,63}$/.test(database)) {
      throw new StoreUrlFault("a database of letters, digits and _");
    }
    return {
      hosts: readHosts(hosts, isTls ? 443 : 80),
      isTls,
      caFile: textOption(options, "ca_file"),
      user: username ?? "default",
      password: password ?? "",
      database: database === "" ? "sluice" : database,
    };
  });
}

/** As `readClickhouseUrl`. @throws {Error} whose message repeats nothing of the URL, since it may hold a password */
export function parseClickhouseUrl(text: string): ClickhouseAddress {
  const parsed = readClickhouseUrl(text);
  if (!parsed.ok) throw new Error(`CLICKHOUSE_URL: expected ${parsed.expected}`);
  return parsed.value;
}
