import { type Clock, type Random, systemRandom } from "@sluice/lib";
import { parseRedisUrl } from "../config/index.ts";
import type { Hot, HotLog } from "./hot.ts";
import { MemoryHot } from "./memory.ts";
import { RedisHot } from "./redis.ts";

export interface HotOptions {
  /** See `parseRedisUrl`; null is this process's memory. */
  readonly redisUrl: string | null;
  /** Put before every key and channel in Redis; `sluice:` when absent. */
  readonly prefix?: string;
  /** Bytes of all values in memory; 64 MiB when absent. */
  readonly memoryBytesMax?: number;
  /** How long a command to Redis may take; 250 ms when absent. */
  readonly commandTimeoutMs?: number;
}

export interface HotDependencies {
  readonly clock: Clock;
  readonly log: HotLog;
  /** Spreads reconnections; the system's when absent. */
  readonly random?: Random;
}

const patienceMs = 2_000;

/**
 * Opens the hot store. A Redis that is away does not prevent the start, since nothing in it is the only copy: after 2 s
 * the store is returned nevertheless, fails fast, and recovers when Redis is back.
 *
 * @throws {Error} for a URL that is not an address of Redis, or whose file of authorities cannot be read.
 */
export async function openHot(options: HotOptions, dependencies: HotDependencies): Promise<Hot> {
  const { clock, log, random = systemRandom } = dependencies;
  const { redisUrl, memoryBytesMax = 64 * 1024 * 1024, prefix = "sluice:", commandTimeoutMs = 250 } = options;
  if (redisUrl === null) return new MemoryHot({ valuesBytesMax: memoryBytesMax }, dependencies);
  const times = { commandMs: commandTimeoutMs, silenceMs: commandTimeoutMs * 4, connectMs: 1_000 };
  const hot = new RedisHot({ address: parseRedisUrl(redisUrl), prefix, times, pingMs: 10_000 }, { clock, log, random });
  if (!(await hot.connected(patienceMs))) {
    log.warn({}, "Redis does not answer; starting without it");
  }
  return hot;
}
