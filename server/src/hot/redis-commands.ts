import { createHash } from "node:crypto";
import type { Clock, Random, Timer } from "@sluice/lib";
import { Cluster, type Redis } from "ioredis";
import type { RedisNode } from "../config/index.ts";
import { type HotLog, HotUnavailable } from "./hot.ts";
import {
  connectForCommands,
  type RedisConnection,
  type RedisDependencies,
  type RedisTimes,
  reconnectDelayMs,
} from "./redis-connection.ts";

/** Commands in flight at a time; one more fails at once. */
const inFlightMax = 10_000;

/** A script with the digest under which Redis keeps it. */
export interface Script {
  readonly lua: string;
  readonly digest: string;
}

/** A script with its SHA-1 digest. */
export function newScript(lua: string): Script {
  return { lua, digest: createHash("sha1").update(lua).digest("hex") };
}

/** Sends commands, each within a bounded time, and reconnects by itself. */
export class RedisCommands implements AsyncDisposable {
  readonly #client: Redis | Cluster;
  readonly #times: RedisTimes;
  readonly #connection: RedisConnection;
  readonly #clock: Clock;
  #inFlight = 0;
  #isClosed = false;
  #reopening: Timer | null = null;

  constructor(options: { connection: RedisConnection; times: RedisTimes }, dependencies: RedisDependencies) {
    this.#times = options.times;
    this.#connection = options.connection;
    this.#clock = dependencies.clock;
    this.#client = connectForCommands(options.connection, dependencies.random);
    this.#reportTo(dependencies.log);
    this.#reopenWhenEnded(dependencies.random);
  }

  /** Where a subscriber can connect: any node of a cluster passes on the messages of all. */
  nodes(): readonly RedisNode[] {
    const { nodes } = this.#connection.address;
    if (!(this.#client instanceof Cluster)) return nodes;
    const known = this.#client.nodes("all").flatMap(({ options: { host, port } }) => {
      return host === undefined || port === undefined ? [] : [{ host, port }];
    });
    return [...known, ...nodes];
  }

  /** Waits until the first connection is ready, at most `patienceMs`; false when it is not. */
  async connected(patienceMs: number): Promise<boolean> {
    if (this.#client.status === "ready") return true;
    return new Promise((resolve) => {
      const settle = (ready: boolean): void => {
        timer.cancel();
        this.#client.off("ready", onReady);
        resolve(ready);
      };
      const onReady = (): void => settle(true);
      const timer = this.#clock.after(patienceMs, () => settle(false), { keepsAlive: true });
      this.#client.on("ready", onReady);
    });
  }

  /** Throws HotUnavailable at once when there is no connection, and after `commandMs` when there is no answer. */
  run<T>(command: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    if (this.#client.status !== "ready") return unavailable("Redis is not connected.");
    if (this.#inFlight >= inFlightMax) return unavailable("Too many commands are waiting for Redis.");
    this.#inFlight += 1;
    return new Promise<T>((resolve, reject) => {
      const late = (): void => {
        reject(new HotUnavailable(new Error(`Redis did not answer within ${this.#times.commandMs} ms.`)));
      };
      const timer = this.#clock.after(this.#times.commandMs, late, { keepsAlive: true });
      const settled = (): void => {
        this.#inFlight -= 1;
        timer.cancel();
      };
      command(this.#client).then(
        (result) => {
          settled();
          resolve(result);
        },
        (error: unknown) => {
          settled();
          reject(new HotUnavailable(error));
        },
      );
    });
  }

  /** Runs a script on one key: by its digest, and with its text when the server does not have it yet. */
  script(script: Script, key: string, ...values: readonly string[]): Promise<unknown> {
    return this.run(async (client) => {
      try {
        return await client.evalsha(script.digest, 1, key, ...values);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
        return client.eval(script.lua, 1, key, ...values);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#reopening?.cancel();
    this.#client.disconnect();
  }

  /**
   * The client reconnects by itself, but ends for good when sentinels announce another server while it asks them for
   * the present one.
   */
  #reopenWhenEnded(random: Random): void {
    const client = this.#client;
    if (client instanceof Cluster) return;
    client.on("end", () => {
      if (this.#isClosed) return;
      // What fails is told by the events of the client.
      const reopen = (): void => void client.connect().catch(() => {});
      this.#reopening = this.#clock.after(reconnectDelayMs(0, random), reopen, { keepsAlive: true });
    });
  }

  /** Logs once that the connection is lost and once that it is back, not each attempt in between. */
  #reportTo(log: HotLog): void {
    let away = false;
    let reason = "";
    this.#client.on("error", (error: Error) => {
      reason = error.message;
    });
    this.#client.on("close", () => {
      if (away) return;
      away = true;
      // A server that ends closes without an error.
      const said = reason === "" ? "the server closed it" : reason;
      log.warn({ reason: said }, "the connection to Redis was lost or could not be opened");
    });
    this.#client.on("ready", () => {
      if (away) log.info({}, "connected to Redis again");
      away = false;
      reason = "";
    });
  }
}

function unavailable(reason: string): Promise<never> {
  return Promise.reject(new HotUnavailable(new Error(reason)));
}
