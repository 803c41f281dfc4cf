/** Two servers of PostgreSQL of a test's own: one takes writes, the other follows it and can take its place. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { eventually, freePort } from "@sluice/lib/testing";
import { Client } from "pg";
import {
  createPostgres,
  type PostgresServer,
  postgresPrograms,
  runAsServer,
  serverDirectory,
  startPostgres,
} from "../../src/state/testing/postgres-process.ts";

const database = "sluice";
const settings = ["max_connections=120", "wal_level=replica", "hot_standby=on", "wal_retrieve_retry_interval=100ms"];

interface Place {
  readonly name: string;
  readonly port: number;
  server: PostgresServer | null;
}

/**
 * Each commit waits until the standby has it, so that a failover takes nothing that was acknowledged. While there is no
 * standby a commit waits for nobody.
 */
export class PostgresPair implements AsyncDisposable {
  readonly #directory: string;
  #primary: Place;
  #standby: Place;

  private constructor(directory: string, [primary, standby]: readonly [Place, Place]) {
    this.#directory = directory;
    this.#primary = primary;
    this.#standby = standby;
  }

  static async start(directory: string): Promise<PostgresPair> {
    const places = [
      { name: "pg-one", port: await freePort(), server: null },
      { name: "pg-other", port: await freePort(), server: null },
    ] as const satisfies readonly Place[];
    const pair = new PostgresPair(directory, places);
    const data = serverDirectory(directory, pair.#primary.name);
    createPostgres(data);
    pair.#primary.server = await startPostgres(data, settings, { port: pair.#primary.port });
    await pair.#primary.server.execute(`create database ${database}`);
    await pair.repair();
    return pair;
  }

  /** Of both servers, in an order that a failover does not change. */
  get ports(): readonly number[] {
    return [this.#primary.port, this.#standby.port].toSorted((left, right) => left - right);
  }

  /** What DATABASE_URL takes: both servers, reached at these ports, of which the one that takes writes is meant. */
  urlThrough(ports: readonly number[]): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
    return `postgres://postgres@${hosts}/${database}?target_session_attrs=read-write`;
  }

  /** A connection past every pool, to the server that takes writes. */
  async connect(): Promise<Client> {
    const client = new Client({ connectionString: `postgres://postgres@127.0.0.1:${this.#primary.port}/${database}` });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  async query<Row extends object>(statement: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = await this.connect();
    try {
      return (await client.query<Row & Record<string, unknown>>(statement, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends the backends of all other sessions. */
  async terminate(): Promise<void> {
    const others = "datname = current_database() and pid <> pg_backend_pid()";
    await this.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
  }

  /** Stops the server that takes writes without a shutdown; `start` starts it again. */
  async stop(): Promise<void> {
    await this.#primary.server?.[Symbol.asyncDispose]();
    this.#primary.server = null;
  }

  async start(): Promise<void> {
    const data = join(this.#directory, this.#primary.name);
    this.#primary.server ??= await startPostgres(data, settings, { port: this.#primary.port });
  }

  /** Has the standby take the place of a server that was stopped. */
  async failOver(): Promise<void> {
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
    await this.query("select pg_promote(true, 60)");
  }

  /** Makes a standby where there is none. */
  async repair(): Promise<void> {
    await this.start();
    if (this.#standby.server !== null) return;
    // Nobody is left for whom a commit could wait.
    await this.#waitFor("''");
    const place = this.#standby;
    rmSync(join(this.#directory, place.name), { recursive: true, force: true });
    const data = serverDirectory(this.#directory, place.name);
    const from = ["-h", "127.0.0.1", "-p", String(this.#primary.port), "-U", "postgres"];
    const terms = ["-R", "-X", "stream", "--checkpoint=fast", "--no-sync"];
    runAsServer([join(postgresPrograms ?? "", "pg_basebackup"), "-D", data, ...from, ...terms]);
    place.server = await startPostgres(data, settings, { port: place.port });
    await eventually("the standby follows", async () => {
      const rows = await this.query<{ state: string }>("select state from pg_stat_replication");
      return rows.some(({ state }) => state === "streaming");
    });
    await this.#waitFor("'*'");
  }

  async #waitFor(names: string): Promise<void> {
    await this.query(`alter system set synchronous_standby_names = ${names}`);
    await this.query("select pg_reload_conf()");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#primary.server?.[Symbol.asyncDispose]();
    await this.#standby.server?.[Symbol.asyncDispose]();
  }
}
