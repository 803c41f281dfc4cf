import type { Log } from "@sluice/lib";
import { LedgerOpenError } from "./errors.ts";

/** Where a ClickHouse answers at the moment. A change of `generation` means another process answers. */
export interface LedgerAddress {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly generation: number;
}

/** The ClickHouse behind the client: the supervised child, or an external server. */
export interface LedgerEndpoint extends AsyncDisposable {
  readonly driver: "chdb" | "clickhouse";
  /** The present address; waits a bounded time for one. Throws LedgerUnavailableError. */
  current(): Promise<LedgerAddress>;
  /** Process id of the child while it runs, else null. */
  pid(): number | null;
}

/** The part of a log that this room writes to. */
export type LedgerLog = Omit<Log, "child">;

/**
 * Reads CLICKHOUSE_URL: `http(s)://user:password@host:port/database`. The database is `sluice` when the path is empty.
 * Throws LedgerOpenError; its message never holds the URL, which carries a password.
 */
export function parseClickhouseUrl(text: string): { address: LedgerAddress; database: string | null } {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new LedgerOpenError("CLICKHOUSE_URL must be an http or https URL");
  }
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database !== "" && !/^[A-Za-z_]\w{0,63}$/.test(database)) {
    throw new LedgerOpenError("CLICKHOUSE_URL names a database with characters other than letters, digits and _");
  }
  const address: LedgerAddress = {
    url: `${url.protocol}//${url.host}`,
    user: decodeURIComponent(url.username) || "default",
    password: decodeURIComponent(url.password),
    generation: 1,
  };
  return { address, database: database === "" ? null : database };
}

/** An external ClickHouse server or cluster. */
export function remoteEndpoint(address: LedgerAddress): LedgerEndpoint {
  return {
    driver: "clickhouse",
    current: async () => address,
    pid: () => null,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
