import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { eventually, freePort, type ServerProcess, startServerProcess } from "@sluice/lib/testing";
import { parseLogUrl } from "../../config/index.ts";

/** The nats-server of this machine; null without one. */
export const natsBinary: string | null =
  Bun.which("nats-server") ?? Bun.which("nats-server", { PATH: "/usr/sbin:/usr/local/sbin" });

export interface NatsServer {
  readonly name: string;
  readonly port: number;
  process: ServerProcess;
  /** kill -9. */
  kill(): Promise<void>;
  /** On the same port and store, after `kill`. */
  startAgain(): Promise<void>;
}

/** Servers with JetStream on ports of their own: one, or a cluster of three. */
export async function startNats(
  directory: string,
  count: 1 | 3,
  settings: readonly string[] = [],
): Promise<NatsServer[]> {
  const members = await Promise.all(
    Array.from({ length: count }, async (_, index) => ({
      name: `server-${index}`,
      port: await freePort(),
      route: await freePort(),
    })),
  );
  const routes = members.map(({ route }) => `nats-route://127.0.0.1:${route}`).join(",");
  const servers = await Promise.all(
    members.map(async ({ name, port, route }) => {
      const store = join(directory, name);
      mkdirSync(store, { recursive: true });
      const cluster = ["--cluster_name", "log", "--cluster", `nats://127.0.0.1:${route}`, "--routes", routes];
      const own = ["-a", "127.0.0.1", "-p", String(port), "-n", name, "-js", "-sd", store];
      const command = [natsBinary ?? "", ...own, ...(count === 1 ? [] : cluster), ...settings];
      const server: NatsServer = {
        name,
        port,
        process: await startServerProcess(command),
        kill: async () => {
          await server.process[Symbol.asyncDispose]();
        },
        startAgain: async () => {
          server.process = await startServerProcess(command);
        },
      };
      return server;
    }),
  );
  await eventually("nats-server answers", async () => {
    const connection = await connect({ servers: servers.map(({ port }) => `127.0.0.1:${port}`), timeout: 1_000 });
    await connection.close();
    return true;
  });
  return servers;
}

/** Streams hold room on their server, so each test removes its own. */
export async function removeStream(url: string, stream: string): Promise<void> {
  const { servers } = parseLogUrl(url);
  const connection = await connect({ servers: servers.map(({ host, port }) => `${host}:${port}`) });
  await (await jetstreamManager(connection)).streams.delete(stream);
  await connection.close();
}

async function streamOf(servers: readonly NatsServer[], stream: string) {
  const connection = await connect({ servers: servers.map(({ port }) => `127.0.0.1:${port}`), timeout: 2_000 });
  try {
    return await (await jetstreamManager(connection)).streams.info(stream);
  } finally {
    await connection.close();
  }
}

/** The server that leads a stream. */
export async function leaderOf(servers: readonly NatsServer[], stream: string): Promise<NatsServer> {
  const { cluster } = await streamOf(servers, stream);
  const leader = servers.find(({ name }) => name === cluster?.leader);
  if (leader === undefined) throw new Error("the stream has no leader");
  return leader;
}

/** Whether each server holds all of the stream. */
export async function areCurrent(servers: readonly NatsServer[], stream: string): Promise<boolean> {
  const { cluster } = await streamOf(servers, stream);
  const others = cluster?.replicas ?? [];
  return others.length === servers.length - 1 && others.every(({ current, offline }) => current && offline !== true);
}
