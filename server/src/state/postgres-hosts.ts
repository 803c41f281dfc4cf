import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { ClientConfig } from "pg";
import type { PostgresAddress, PostgresHost, PostgresTls } from "../config/index.ts";

/** One way to connect: a server, with TLS or without. */
export interface PostgresWay {
  /** The server as the operator wrote it, without credentials. */
  readonly name: string;
  readonly isTls: boolean;
  /** New for each connection, since the driver changes what it is given. `label` follows the application's name. */
  readonly config: (label: string) => ClientConfig;
}

/**
 * The ways to the servers of an address, in the order in which they are tried: as it is written, and a way that failed
 * goes to the end. So connections stay with a server for as long as it serves, and move together when it does not.
 */
export class PostgresWays {
  #order: PostgresWay[];
  #reached: string | null = null;
  /** How often each led to a server that took no writes; a connection from before that is not used again. */
  readonly #deposed = new Map<PostgresWay, number>();

  /** @throws {Error} of the system, when a file of certificates cannot be read */
  constructor(address: PostgresAddress) {
    const files = readFiles(address.tls);
    this.#order = address.hosts.flatMap((host) =>
      attemptsOf(address.tls.mode, host).map((isTls) => wayTo(address, { host, isTls, files })),
    );
  }

  first(): PostgresWay {
    const [way] = this.#order;
    if (way === undefined) throw new Error("An address of PostgreSQL names no host.");
    return way;
  }

  /** A connection was opened. The name of the server before, where that was another one, else null. */
  reached(way: PostgresWay): string | null {
    const before = this.#reached;
    this.#reached = way.name;
    return before === way.name ? null : before;
  }

  /** A connection could not be opened; those that are open may be sound. */
  failed(way: PostgresWay): void {
    this.#order = [...this.#order.filter((each) => each !== way), way];
  }

  /** The server itself cannot be reached: its other ways lead nowhere either. */
  lost(way: PostgresWay): void {
    const others = this.#order.filter(({ name }) => name !== way.name);
    this.#order = [...others, ...this.#order.filter(({ name }) => name === way.name)];
  }

  /** The server takes no writes, so neither do the connections to it that are open. */
  deposed(way: PostgresWay): void {
    this.#deposed.set(way, this.timesDeposed(way) + 1);
    this.failed(way);
  }

  timesDeposed(way: PostgresWay): number {
    return this.#deposed.get(way) ?? 0;
  }
}

/** Whether TLS is tried, in order, as libpq's sslmode says; a socket of the machine has none. */
function attemptsOf(mode: PostgresTls["mode"], host: PostgresHost): readonly boolean[] {
  if ("directory" in host || mode === "disable") return [false];
  if (mode === "allow") return [false, true];
  if (mode === "prefer") return [true, false];
  return [true];
}

interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

function readFiles({ rootFile, certificateFile, keyFile }: PostgresTls): TlsFiles {
  return {
    ...(rootFile === null ? {} : { ca: readFileSync(rootFile, "utf8") }),
    ...(certificateFile === null ? {} : { cert: readFileSync(certificateFile, "utf8") }),
    ...(keyFile === null ? {} : { key: readFileSync(keyFile, "utf8") }),
  };
}

function wayTo(
  { user, password, database, applicationName, options, tls }: PostgresAddress,
  { host, isTls, files }: { readonly host: PostgresHost; readonly isTls: boolean; readonly files: TlsFiles },
): PostgresWay {
  const server = "directory" in host ? host.directory : host.host;
  return {
    name: `${server}:${host.port}`,
    isTls,
    config: (label) => ({
      host: server,
      port: host.port,
      ssl: isTls ? tlsOptions(tls, files) : false,
      application_name: `${applicationName ?? "sluice"}${label}`,
      ...(isTls && tls.isDirect ? { sslnegotiation: "direct" as const } : {}),
      ...(user === null ? {} : { user }),
      ...(password === null ? {} : { password }),
      ...(database === null ? {} : { database }),
      ...(options === null ? {} : { options }),
    }),
  };
}

/** As in libpq: verify-full checks authority and name, verify-ca the authority, as do the others with a file. */
function tlsOptions({ mode }: PostgresTls, files: TlsFiles): ConnectionOptions {
  if (mode === "verify-full") return { ...files };
  if (files.ca === undefined) return { ...files, rejectUnauthorized: false };
  return { ...files, checkServerIdentity: () => undefined };
}
