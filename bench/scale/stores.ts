/** Stores of their own for a run, whose work can be counted: nobody else uses them. */
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "@sluice/lib/testing";
import { redisBinary, redisCommand, startRedis } from "../../server/src/hot/testing/redis-process.ts";
import {
  createPostgres,
  postgresPrograms,
  serverDirectory,
  startPostgres,
} from "../../server/src/state/testing/postgres-process.ts";
import { startLedgerServer } from "../../server/test/testing/ledger-server.ts";
import { treeCpu } from "../rpc/process-cpu.ts";

/** What the stores have done since they started. */
export interface StoreWork {
  readonly transactions: number;
  readonly statements: number;
  readonly commands: number;
  /** µs of processor time. */
  readonly postgresMicros: number;
  readonly redisMicros: number;
}

export interface Stores {
  /** The environment of a server on them; `name` keeps what it stores apart. */
  environment(name: string): Promise<Record<string, string>>;
  work(): Promise<StoreWork>;
}

/** Null where PostgreSQL or Redis are not installed. */
export async function startStores(directory: string, resources: AsyncDisposableStack): Promise<Stores | null> {
  if (postgresPrograms === null || redisBinary === null) return null;
  const data = serverDirectory(directory, "postgres");
  createPostgres(data);
  const settings = ["max_connections=300", "shared_preload_libraries=pg_stat_statements", "fsync=on"];
  const postgres = resources.use(await startPostgres(data, settings));
  await postgres.execute("create extension pg_stat_statements");
  const redisPort = await freePort();
  const redis = resources.use(await startRedis(directory, ["--bind", "127.0.0.1", "--port", String(redisPort)]));
  const ledger = resources.use(await startLedgerServer());
  const query = (text: string): number => {
    const { stdout } = Bun.spawnSync([join(postgresPrograms ?? "", "psql"), "-At", "-c", text, postgres.url]);
    return Number(stdout.toString().trim());
  };
  return {
    environment: async (name) => {
      await postgres.execute(`create database ${name}`);
      return {
        DATABASE_URL: postgres.url.replace(/\/postgres$/, `/${name}`),
        REDIS_URL: `redis://127.0.0.1:${redisPort}`,
        REDIS_PREFIX: `${name}:`,
        CLICKHOUSE_URL: ledger.url,
      };
    },
    work: async () => ({
      transactions: query("select sum(xact_commit + xact_rollback) from pg_stat_database"),
      statements: query("select sum(calls) from pg_stat_statements"),
      commands: commandsOf(await redisCommand(redisPort, "INFO", "commandstats")),
      postgresMicros: treeCpu(postgres.process().pid)?.total ?? 0,
      redisMicros: treeCpu(redis.pid)?.total ?? 0,
    }),
  };
}

/** The calls of all commands but those by which they are counted. */
function commandsOf(stats: string): number {
  const lines = stats
    .split(/\r?\n/)
    .filter((line) => line.startsWith("cmdstat_") && !/^cmdstat_(info|hello)/.test(line));
  return lines.reduce((sum, line) => sum + Number(/calls=(\d+)/.exec(line)?.[1] ?? 0), 0);
}

/** Whether something listens there. */
export function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
