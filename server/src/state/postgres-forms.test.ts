/** What an operator may write into DATABASE_URL, from the environment to a connection with real servers behind it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually, withRealTimers } from "@sluice/lib/testing";
import { sql } from "kysely";
import { loadConfig } from "../config/index.ts";
import { newAuthority, type PrivateAuthority } from "../net/tls/testing/private-authority.ts";
import { stateErrorCodeOf } from "./errors.ts";
import { applyMigrations } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { createState, openState } from "./open.ts";
import { type OpenedPostgres, openPostgres } from "./postgres.ts";
import { describeStateConformance } from "./testing/conformance.ts";
import {
  createPostgres,
  giveToServer,
  type PostgresServer,
  pgbouncerBinary,
  postgresPrograms,
  runAsServer,
  serverDirectory,
  startPgbouncer,
  startPostgres,
} from "./testing/postgres-process.ts";

const isRun = postgresPrograms !== null;
if (!isRun) console.warn("NOT RUN: every form of DATABASE_URL on real servers (there is no initdb on this machine)");
if (isRun && pgbouncerBinary === null) console.warn("NOT RUN: state behind PgBouncer (there is no pgbouncer)");

const resources = new AsyncDisposableStack();
const said: string[] = [];
const log = {
  info: (_fields: object, message: string) => void said.push(message),
  warn: (_fields: object, message: string) => void said.push(message),
};
let directory = "";
let authority: PrivateAuthority;
let first: PostgresServer;

if (isRun) {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "sluice-postgres-forms-"));
    chmodSync(directory, 0o755);
    authority = await newAuthority(directory);
    const { certificate, key } = await authority.server("server", ["127.0.0.1"]);
    for (const path of [certificate, key]) giveToServer(path);
    const data = serverDirectory(directory, "first");
    createPostgres(data);
    const rules = join(data, "pg_hba.conf");
    // The first rule that fits counts; the usual ones, which trust everybody on this machine, come after.
    const own = ["hostssl all by_certificate all cert", "hostssl all by_password all scram-sha-256"];
    const others = ["host all by_certificate,by_password all reject"];
    writeFileSync(rules, `${[...own, ...others].join("\n")}\n${readFileSync(rules, "utf8")}`);
    const tls = ["ssl=on", `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`, `ssl_ca_file=${authority.caFile}`];
    first = resources.use(await startPostgres(data, tls));
    await first.execute("create role by_certificate login; create role by_password login password 'pa/ss,w@rd'");
  }, 60_000);

  afterAll(async () => {
    await resources.disposeAsync();
    rmSync(directory, { recursive: true, force: true });
  });
}

const describeWithServer: (name: string, tests: () => void) => void = isRun ? describe : () => {};

/** Opens the pool of an environment's DATABASE_URL, as the server does. */
function openFrom(url: string): OpenedPostgres {
  const outcome = loadConfig({ mode: "dev", env: { DATABASE_URL: url } });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.faults));
  return openPostgres(outcome.config.stores.databaseUrl ?? "", { clock: systemClock, log });
}

interface Connected {
  readonly tls: boolean;
  readonly who: string;
}

async function connected(url: string): Promise<Connected> {
  await using opened = openFrom(url);
  const { rows } = await sql<Connected>`
    select ssl as tls, current_user::text as who from pg_stat_ssl where pid = pg_backend_pid()`.execute(opened.db);
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL does not know the connection.");
  return row;
}

describeWithServer("one server", () => {
  const at = (rest: string, host = "127.0.0.1"): string => `postgres://postgres@${host}:${first.port}/postgres${rest}`;
  const root = (): string => `sslrootcert=${authority.caFile}`;

  test.each([
    ["no TLS where it is disabled", () => at("?sslmode=disable"), false],
    ["no TLS where it is allowed and the server does not ask for it", () => at("?sslmode=allow"), false],
    ["TLS where nothing is said and the server has it", () => at(""), true],
    ["TLS without verification where it is required", () => at("?sslmode=require"), true],
    ["TLS with the authority verified where it is required and named", () => at(`?sslmode=require&${root()}`), true],
    ["an authority that is verified, and no name", () => at(`?sslmode=verify-ca&${root()}`, "localhost"), true],
    ["authority and name verified", () => at(`?sslmode=verify-full&${root()}`), true],
    ["the directory of its socket", () => `postgres://postgres@/postgres?host=${first.data}&port=${first.port}`, false],
  ] as const)("is reached with %s", async (_name, url, tls) => {
    expect(await connected(url())).toEqual({ tls, who: "postgres" });
  });

  test("knows a user by password, and one by certificate", async () => {
    const login = (user: string, rest: string): string => `postgres://${user}@127.0.0.1:${first.port}/postgres${rest}`;
    expect(await connected(login("by_password:pa%2Fss%2Cw%40rd", ""))).toEqual({ tls: true, who: "by_password" });
    const { certificate, key } = await authority.client("by_certificate");
    const files = `sslcert=${certificate}&sslkey=${key}`;
    const url = login("by_certificate", `?sslmode=verify-full&${root()}&${files}`);
    expect(await connected(url)).toEqual({ tls: true, who: "by_certificate" });
    for (const wrong of [login("by_password:other", ""), login("by_certificate", `?sslmode=require`)]) {
      await expect(connected(wrong)).rejects.toThrow();
    }
  });

  test("is not reached where the authority is unknown or the name is another", async () => {
    const other = await newAuthority(serverDirectory(directory, "other"));
    const wrong = [
      at("?sslmode=verify-full"),
      at(`?sslmode=verify-full&${root()}`, "localhost"),
      at(`?sslmode=verify-ca&sslrootcert=${other.caFile}`),
      at(`?sslmode=require&sslrootcert=${other.caFile}`),
    ];
    for (const url of wrong) await expect(connected(url)).rejects.toThrow();
  });

  test("a server that takes connections and answers nothing is waited for once, whatever form of TLS may be tried", async () => {
    let connections = 0;
    using silent = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: () => {
          connections += 1;
        },
        data: () => undefined,
      },
    });
    const url = `postgres://postgres@127.0.0.1:${silent.port},127.0.0.1:${first.port}/postgres?connect_timeout=2`;
    expect(await connected(url)).toEqual({ tls: true, who: "postgres" });
    expect(connections).toBe(1);
    await expect(connected(`postgres://127.0.0.1:${silent.port}/s?connect_timeout=2`)).rejects.toThrow("timeout");
    expect(connections).toBe(2);
  }, 20_000);

  test("the driver warns of nothing", async () => {
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(warning.message);
    process.on("warning", warned);
    await connected(at("?sslmode=require"));
    await connected(at(`?sslmode=verify-ca&${root()}`));
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });

  test("gives each session its limits, and commits that are on disk", async () => {
    await using opened = openFrom(at("?options=-c%20synchronous_commit=off"));
    const names = ["statement_timeout", "idle_in_transaction_session_timeout", "synchronous_commit"];
    const settings = names.map((name) => sql<string>`current_setting(${name})`);
    const { rows } = await sql<{ all: string[] }>`select array[${sql.join(settings)}] as all`.execute(opened.db);
    expect(rows).toEqual([{ all: ["30s", "1min", "on"] }]);
  });
});

describeWithServer("several servers", () => {
  let second: PostgresServer;
  const both = (rest = ""): string =>
    `postgres://postgres@127.0.0.1:${second.port},127.0.0.1:${first.port}/postgres${rest}`;

  const serverOf = async (opened: OpenedPostgres): Promise<number> => {
    const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(opened.db);
    return rows[0]?.port ?? 0;
  };
  const write = async (opened: OpenedPostgres): Promise<void> => {
    await sql`insert into written default values`.execute(opened.db);
  };

  beforeAll(async () => {
    const data = serverDirectory(directory, "second");
    const from = ["-h", "127.0.0.1", "-p", String(first.port), "-U", "postgres"];
    const copy = ["-D", data, "-R", "--checkpoint=fast", "--no-sync", "-X", "stream"];
    runAsServer([join(postgresPrograms ?? "", "pg_basebackup"), ...from, ...copy]);
    second = resources.use(await startPostgres(data, ["ssl=off"]));
    await first.execute("create table written (id bigint generated always as identity)");
  }, 60_000);

  test("the one that takes writes is found behind a standby; any takes the first", async () => {
    await using writing = openFrom(both());
    expect(await serverOf(writing)).toBe(first.port);
    await write(writing);
    await using any = openFrom(both("?target_session_attrs=any"));
    expect(await serverOf(any)).toBe(second.port);
    await expect(write(any)).rejects.toThrow(/read-only/);
    await using alone = openFrom(`postgres://postgres@127.0.0.1:${second.port}/s?target_session_attrs=primary`);
    await expect(serverOf(alone)).rejects.toThrow();
  });

  test("when no server serves, the error names each of them with its reason", async () => {
    await using none = openFrom(`postgres://postgres@127.0.0.1:1,127.0.0.1:${second.port}/postgres`);
    const error = await serverOf(none).catch((thrown: unknown) => String(thrown));
    expect(error).toContain("127.0.0.1:1: ");
    expect(error).toContain(`127.0.0.1:${second.port}: the server takes no writes`);
  });

  test("a server that stops taking writes loses its connections to one that takes them", async () => {
    await using third = await standaloneServer();
    const urls = `postgres://postgres@127.0.0.1:${third.port},127.0.0.1:${first.port}/postgres`;
    await using opened = openFrom(urls);
    await Promise.all([write(opened), write(opened), write(opened)]);
    expect(await serverOf(opened)).toBe(third.port);
    await third.execute("alter system set default_transaction_read_only = on");
    await third.execute("select pg_reload_conf()");
    await eventually("the setting", async () => {
      const failed = await write(opened).then(
        () => false,
        (error: unknown) => String(error).includes("read-only"),
      );
      return failed || (await serverOf(opened)) === first.port;
    });
    await Promise.all([write(opened), write(opened), write(opened)]);
    expect(await serverOf(opened)).toBe(first.port);
  }, 30_000);

  test("when the primary is killed and the standby promoted, writes go on there", async () => {
    await using opened = openFrom(both());
    await write(opened);
    await first[Symbol.asyncDispose]();
    await expect(write(opened)).rejects.toThrow();
    await second.execute("select pg_promote()");
    await eventually("a write at the new primary", async () => {
      await write(opened);
      return true;
    });
    expect(await serverOf(opened)).toBe(second.port);
    expect(said).toContain("connected to another server of PostgreSQL");
  }, 30_000);

  async function standaloneServer(): Promise<PostgresServer> {
    const data = serverDirectory(directory, "third");
    createPostgres(data);
    const server = await startPostgres(data, []);
    await server.execute("create table written (id bigint generated always as identity)");
    return server;
  }
});

if (isRun && pgbouncerBinary !== null) {
  let behind: PostgresServer;
  let port = 0;
  const urlOf = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;

  beforeAll(async () => {
    const data = serverDirectory(directory, "behind");
    createPostgres(data);
    behind = resources.use(await startPostgres(data, ["synchronous_commit=off"]));
    const bouncer = await startPgbouncer(serverDirectory(directory, "pgbouncer"), {
      port: behind.port,
      connections: 8,
    });
    resources.use(bouncer);
    port = bouncer.port;
  }, 60_000);

  describeStateConformance("PostgreSQL behind PgBouncer in transaction mode", async ({ clock }) => {
    await behind.execute("create database conformance");
    const opened = { ...openFrom(urlOf("conformance")), driver: "postgres" as const };
    const dependencies = { clock: withRealTimers(clock), random: systemRandom, log };
    await applyMigrations(opened, migrations, dependencies);
    const state = createState(opened, dependencies);
    const options = { directory: "", databaseUrl: urlOf("conformance") };
    const replica = await openState(options, dependencies);
    return {
      state,
      replica,
      execute: async (statement) => {
        await sql.raw(statement).execute(opened.db);
      },
      [Symbol.asyncDispose]: async () => {
        await replica[Symbol.asyncDispose]();
        await state[Symbol.asyncDispose]();
      },
    };
  });

  describe("PgBouncer in transaction mode", () => {
    const names = ["statement_timeout", "idle_in_transaction_session_timeout", "synchronous_commit"];
    const settings = sql<{ all: string[] }>`select array[${sql.join(
      names.map((name) => sql<string>`current_setting(${name})`),
    )}] as all`;

    test("each transaction and each statement has its limits, and a commit is on disk", async () => {
      await using opened = openFrom(urlOf("postgres"));
      const alone = await settings.execute(opened.db);
      const together = await opened.db.transaction().execute((tx) => settings.execute(tx));
      for (const { rows } of [alone, together]) expect(rows).toEqual([{ all: ["30s", "1min", "on"] }]);
    });

    test("what a transaction is given does not stay with the server's session", async () => {
      await using opened = openFrom(urlOf("postgres"));
      await Promise.all(Array.from({ length: 8 }, () => settings.execute(opened.db)));
      await using other = openFrom(urlOf("postgres"));
      await settings.execute(other.db);
      const { Client } = await import("pg");
      const client = new Client({ connectionString: urlOf("postgres") });
      await client.connect();
      const { rows } = await client.query("select current_setting('statement_timeout') as left_over");
      await client.end();
      expect(rows).toEqual([{ left_over: "0" }]);
    });

    test("a statement that fails leaves its connection fit for the next", async () => {
      await using opened = openFrom(urlOf("postgres"));
      for (let times = 0; times < 12; times += 1) {
        await expect(sql`select 1 / 0`.execute(opened.db)).rejects.toThrow(/division by zero/);
      }
      expect((await sql<{ one: number }>`select 1 as one`.execute(opened.db)).rows).toEqual([{ one: 1 }]);
    });

    test("settings of the session, which it does not take, are refused with what to do instead", async () => {
      const url = `${urlOf("postgres")}?options=-c%20search_path=sluice`;
      const dependencies = { clock: systemClock, random: systemRandom, log };
      const error = await openState({ directory: "", databaseUrl: url }, dependencies).catch(
        (thrown: unknown) => thrown,
      );
      expect(stateErrorCodeOf(error)).toBe("UNAVAILABLE");
      expect(String(error)).toContain("alter role");
    });
  });
}
