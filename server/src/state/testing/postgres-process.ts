import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { asUser, eventually, freePort, type ServerProcess, startServerProcess } from "@sluice/lib/testing";
import { Client } from "pg";

/** The folder with PostgreSQL's programs, the newest of this machine's; null without one. */
export const postgresPrograms: string | null = findPrograms();
export const pgbouncerBinary: string | null = Bun.which("pgbouncer") ?? existing("/usr/sbin/pgbouncer");

const user = "postgres";

function findPrograms(): string | null {
  const initdb = Bun.which("initdb");
  if (initdb !== null) return dirname(realpathSync(initdb));
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).toSorted((left, right) => Number(right) - Number(left)) : [];
  const newest = versions.find((version) => existsSync(join(root, version, "bin/initdb")));
  return newest === undefined ? null : join(root, newest, "bin");
}

function existing(path: string): string | null {
  return existsSync(path) ? path : null;
}

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  readonly data: string;
  /** An address with the superuser, who needs no password on this machine. */
  readonly url: string;
  /** Runs a statement past every pool. */
  execute(statement: string): Promise<void>;
  process(): ServerProcess;
}

/** Runs a program to its end as the user that servers run as. */
export function runAsServer(command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...asUser(user, command)], { cwd: "/" });
  if (exitCode !== 0) throw new Error(`${command[0]} ended with ${exitCode}: ${stderr}`);
}

/** A directory below `parent` that belongs to the user that servers run as. */
export function serverDirectory(parent: string, name: string): string {
  const path = join(parent, name);
  mkdirSync(path, { mode: 0o700 });
  giveToServer(path);
  return path;
}

/** Gives a file to the user that servers run as. */
export function giveToServer(path: string): void {
  if (process.getuid?.() === 0) Bun.spawnSync(["chown", `${user}:${user}`, path]);
}

/** Makes a database cluster in `data`; its data are not safe from a crash of the machine. */
export function createPostgres(data: string): void {
  const terms = ["--auth=trust", `--username=${user}`, "--encoding=UTF8", "--no-sync", "--no-instructions"];
  runAsServer([join(postgresPrograms ?? "", "initdb"), "-D", data, ...terms]);
}

/** Starts a server on `data`, with further settings, and waits until it answers. */
export async function startPostgres(
  data: string,
  settings: readonly string[],
  options: { readonly port?: number } = {},
): Promise<PostgresServer> {
  const port = options.port ?? (await freePort());
  const usual = [`port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${data}`, "fsync=off"];
  const words = [...usual, "max_connections=40", ...settings].flatMap((setting) => ["-c", setting]);
  const command = [join(postgresPrograms ?? "", "postgres"), "-D", data, ...words];
  const server = await startServerProcess(command, { user, end: "QUIT", directory: "/" });
  const url = `postgres://${user}@127.0.0.1:${port}/postgres`;
  const execute = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await eventually("PostgreSQL starts", async () => {
    await execute("select 1");
    return true;
  });
  return {
    port,
    data,
    url,
    execute,
    process: () => server,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Starts PgBouncer in transaction mode in front of a server, with `connections` to it. */
export async function startPgbouncer(
  directory: string,
  { port, connections }: { readonly port: number; readonly connections: number },
): Promise<ServerProcess & { readonly port: number }> {
  const own = await freePort();
  const users = join(directory, "users.txt");
  await Bun.write(users, `"${user}" ""\n`);
  const file = join(directory, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=127.0.0.1 port=${port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${own}`,
    "unix_socket_dir =",
    "auth_type = trust",
    `auth_file = ${users}`,
    "pool_mode = transaction",
    `default_pool_size = ${connections}`,
    "max_client_conn = 200",
  ];
  await Bun.write(file, `${lines.join("\n")}\n`);
  const server = await startServerProcess([pgbouncerBinary ?? "", "-q", file], { user, directory: "/" });
  await eventually("PgBouncer starts", async () => {
    const client = new Client({ connectionString: `postgres://${user}@127.0.0.1:${own}/postgres` });
    await client.connect();
    await client.query("select 1").finally(() => client.end());
    return true;
  });
  return { ...server, port: own };
}
