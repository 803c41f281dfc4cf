/** Two servers of Redis of a test's own behind a sentinel: one is written to, the other follows it. */
import { eventually, freePort, type ServerProcess } from "@sluice/lib/testing";
import { redisCommand, startRedis, startSentinel } from "../../src/hot/testing/redis-process.ts";

const name = "main";

interface Place {
  readonly port: number;
  server: ServerProcess | null;
}

export class RedisPair implements AsyncDisposable {
  readonly #directory: string;
  readonly #sentinelPort: number;
  #sentinel: ServerProcess | null = null;
  #primary: Place;
  #replica: Place;

  private constructor(directory: string, ports: readonly [number, number, number]) {
    const [primary, replica, sentinel] = ports;
    this.#directory = directory;
    this.#sentinelPort = sentinel;
    this.#primary = { port: primary, server: null };
    this.#replica = { port: replica, server: null };
  }

  static async start(directory: string): Promise<RedisPair> {
    const pair = new RedisPair(directory, [await freePort(), await freePort(), await freePort()]);
    await pair.repair();
    pair.#sentinel = await startSentinel(directory, [
      `port ${pair.#sentinelPort}`,
      "bind 127.0.0.1",
      `sentinel monitor ${name} 127.0.0.1 ${pair.#primary.port} 1`,
      // It takes over when it is told, not when a pause makes a server silent.
      `sentinel down-after-milliseconds ${name} 60000`,
      `sentinel failover-timeout ${name} 1000`,
    ]);
    await eventually("the sentinel knows the replica", async () => {
      return (await redisCommand(pair.#sentinelPort, "SENTINEL", "REPLICAS", name)) !== "";
    });
    return pair;
  }

  /** Of both servers. */
  get ports(): readonly number[] {
    return [this.#primary.port, this.#replica.port];
  }

  get sentinelPort(): number {
    return this.#sentinelPort;
  }

  /** What REDIS_URL takes, with the sentinel reached at this port. */
  urlThrough(sentinelPort: number): string {
    return `redis+sentinel://127.0.0.1:${sentinelPort}/${name}`;
  }

  /** One command to the server that is written to. */
  command(...words: string[]): Promise<string> {
    return redisCommand(this.#primary.port, ...words);
  }

  /** What is written from here on is lost with the failover. */
  async stopFollowing(): Promise<void> {
    await redisCommand(this.#replica.port, "REPLICAOF", "NO", "ONE");
  }

  /** Kills the server that is written to, and has the other one take its place. */
  async failOver(): Promise<void> {
    await this.#primary.server?.[Symbol.asyncDispose]();
    this.#primary.server = null;
    await eventually("the failover begins", async () => {
      return (await redisCommand(this.#sentinelPort, "SENTINEL", "FAILOVER", name)) === "OK";
    });
    await eventually("the replica takes over", async () => {
      const address = await redisCommand(this.#sentinelPort, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", name);
      return address === `127.0.0.1,${this.#replica.port}`;
    });
    [this.#primary, this.#replica] = [this.#replica, this.#primary];
  }

  /** Kills the server that is written to and starts an empty one in its place. */
  async restart(): Promise<void> {
    await this.#primary.server?.[Symbol.asyncDispose]();
    this.#primary.server = null;
    await this.repair();
  }

  /** Starts what is not there. */
  async repair(): Promise<void> {
    const { port } = this.#primary;
    this.#primary.server ??= await this.#start(port, []);
    this.#replica.server ??= await this.#start(this.#replica.port, ["--replicaof", "127.0.0.1", String(port)]);
    await redisCommand(this.#replica.port, "REPLICAOF", "127.0.0.1", String(port));
    await eventually("the replica follows", async () => {
      return (await redisCommand(this.#replica.port, "ROLE")).includes(`${port},connected`);
    });
  }

  #start(port: number, settings: readonly string[]): Promise<ServerProcess> {
    const usual = ["--bind", "127.0.0.1", "--port", String(port), "--repl-diskless-sync-delay", "0"];
    return startRedis(this.#directory, [...usual, ...settings]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sentinel?.[Symbol.asyncDispose]();
    await this.#primary.server?.[Symbol.asyncDispose]();
    await this.#replica.server?.[Symbol.asyncDispose]();
  }
}
