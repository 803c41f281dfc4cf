import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { eventually, type ServerProcess, startServerProcess } from "@sluice/lib/testing";
import { Redis } from "ioredis";

/** The redis-server of this machine; null without one. */
export const redisBinary: string | null = Bun.which("redis-server");

/** Starts a server that writes no data to disk, and waits until its log says that it is ready. */
export async function startRedis(directory: string, settings: readonly string[]): Promise<ServerProcess> {
  const parameters = ["--save", "", "--appendonly", "no", "--dir", directory];
  return start(directory, [...parameters, ...settings], "accept connections");
}

/** Starts a sentinel from a file of settings, which it writes to. */
export async function startSentinel(directory: string, settings: readonly string[]): Promise<ServerProcess> {
  const file = join(directory, `sentinel-${randomUUID()}.conf`);
  await Bun.write(file, `${settings.join("\n")}\n`);
  return start(directory, [file, "--sentinel", "--dir", directory], "Sentinel ID is");
}

async function start(directory: string, parameters: readonly string[], ready: string): Promise<ServerProcess> {
  const log = join(directory, `redis-${randomUUID()}.log`);
  const server = await startServerProcess([redisBinary ?? "", ...parameters, "--logfile", log]);
  await eventually("redis-server starts", async () => {
    return (await Bun.file(log).exists()) && (await Bun.file(log).text()).includes(ready);
  });
  return server;
}

/** One command to the server at a port of this machine. */
export async function redisCommand(port: number, ...words: string[]): Promise<string> {
  const client = new Redis({ host: "127.0.0.1", port, protocol: 2 });
  const [name = "", ...rest] = words;
  return String(await client.call(name, ...rest).finally(() => client.disconnect()));
}
