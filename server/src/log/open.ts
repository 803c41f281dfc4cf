import { join } from "node:path";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import { parseLogUrl } from "../config/index.ts";
import type { LogEvents } from "./events.ts";
import { JetStreamStorage } from "./jetstream/jetstream-storage.ts";
import type { ChainIdentity, ChainLog } from "./records.ts";
import { SegmentStorage, type SegmentStorageDependencies } from "./segments/segment-storage.ts";
import { StoredChainLog } from "./stored-chain-log.ts";

export interface ChainLogOptions {
  readonly network: Network;
  readonly chain: ChainIdentity;
  /** LOG_URL, as `parseLogUrl` takes it; null keeps the log in files of `dataDirectory`. */
  readonly logUrl: string | null;
  /** The data directory (DATA_DIR). */
  readonly dataDirectory: string;
  /** Whether what is held of another chain is removed; else it refuses to open. */
  readonly discardsOtherChain: boolean;
  /** LOG_SYNC */
  readonly sync: "block" | "interval";
  /** LOG_RETENTION */
  readonly retentionMs: number;
  /** LOG_BYTES */
  readonly bytesMax: number;
  /** Bytes of the newest blocks in memory; 64 MiB when absent. */
  readonly tailBytesMax?: number;
  /** Bytes of blocks that may wait to be stored; 256 MiB when absent. */
  readonly pendingBytesMax?: number;
}

export interface ChainLogDependencies {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  readonly events: LogEvents;
  /** Holds a file for this process until it ends; null while another process holds it. */
  readonly lock: SegmentStorageDependencies["lock"];
  readonly dataSync?: SegmentStorageDependencies["dataSync"];
}

const mebibyte = 1024 * 1024;

/**
 * Opens the log of one network's chain.
 *
 * @throws {LogError} LOCKED, CHAIN_DIFFERS, UNAVAILABLE, or that the store cannot be used
 * @throws {Error} for a URL that is none of NATS
 */
export function openChainLog(options: ChainLogOptions, dependencies: ChainLogDependencies): Promise<ChainLog> {
  const { network, chain, tailBytesMax = 64 * mebibyte, pendingBytesMax = 256 * mebibyte } = options;
  const { dataSync, ...others } = dependencies;
  const directory = join(options.dataDirectory, "log", network);
  return StoredChainLog.open(
    { network, chain, tailBytesMax, pendingBytesMax },
    {
      clock: dependencies.clock,
      events: dependencies.events,
      openStorage: (receiver) =>
        options.logUrl === null
          ? SegmentStorage.open(
              { ...options, directory },
              { ...others, receiver, ...(dataSync === undefined ? {} : { dataSync }) },
            )
          : JetStreamStorage.open({ ...options, address: parseLogUrl(options.logUrl) }, { ...others, receiver }),
    },
  );
}
