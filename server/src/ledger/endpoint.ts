import { readFileSync } from "node:fs";
import type { Log } from "@sluice/lib";
import type { ClickhouseAddress } from "../config/index.ts";
import { LedgerUnavailableError } from "./errors.ts";

/** Where a ClickHouse answers at the moment. Another `generation` is another process. */
export interface LedgerAddress {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The authorities that are trusted in place of the system's, PEM; null for the system's. */
  readonly ca: Buffer | null;
  readonly generation: number;
}

/** The ClickHouse behind the client: the supervised child, or external servers. */
export interface LedgerEndpoint extends AsyncDisposable {
  readonly driver: "chdb" | "clickhouse";
  /** Servers that `current` chooses from. */
  readonly count: number;
  /** The present address; waits a bounded time for one. Throws LedgerUnavailableError. */
  current(): Promise<LedgerAddress>;
  /** Says that an address did not answer; of several servers the next is used from then on. */
  unreachable(address: LedgerAddress): void;
  /** Process id of the child while it runs, else null. */
  pid(): number | null;
}

/** The part of a log that this room writes to. */
export type LedgerLog = Omit<Log, "child">;

/**
 * External ClickHouse servers, of which one is used until it does not answer, then the next.
 *
 * @throws {Error} of the system, when the file of authorities cannot be read
 */
export function remoteEndpoint({ hosts, isTls, caFile, user, password }: ClickhouseAddress): LedgerEndpoint {
  const ca = caFile === null ? null : readFileSync(caFile);
  const addresses = hosts.map(({ host, port }, index): LedgerAddress => {
    const url = `${isTls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
    return { url, user, password, ca, generation: index + 1 };
  });
  let present = 0;
  return {
    driver: "clickhouse",
    count: addresses.length,
    current: async () => {
      const address = addresses[present];
      if (address === undefined) throw new LedgerUnavailableError("its address names no server");
      return address;
    },
    unreachable: ({ generation }) => {
      // Several calls may find the same server away; the first of them decides.
      if (addresses[present]?.generation === generation) present = (present + 1) % addresses.length;
    },
    pid: () => null,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
