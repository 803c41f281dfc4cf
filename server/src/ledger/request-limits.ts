/** Bounds of the request log. */
export const requestLogLimits = {
  /** Facts that wait or are being written. When full the newest is dropped and counted: what waits is older history. */
  queueMax: 200_000,
  /** The same in bytes, as they are kept; a fact of usual strings takes 140. */
  queueBytesMax: 64 * 1024 * 1024,
  /** Facts and bytes of one batch. */
  batchRows: 50_000,
  batchBytes: 12 * 1024 * 1024,
  /** Facts of a batch from which on the next one waits for `busyMs`. */
  busyRows: 5_000,
  /** Months with an open block at a time; facts arrive in the order of their answers, not of their times. */
  openMax: 3,
  /** Wait after a flush that failed. */
  retryMs: 1_000,
  /** Facts that are dropped are told in the log at most this often, with their number. */
  tellEveryMs: 10_000,
  /** How long `flush` waits by default, and closing. */
  flushMsMax: 10_000,
  closeMsMax: 5_000,
} as const;

/** How long the first fact of a batch waits for others, in milliseconds. */
export interface RequestPace {
  readonly batchMs: number;
  /** The same once a batch had `busyRows`. */
  readonly busyMs: number;
}

/**
 * In the embedded engine a second, so that the console shows requests soon, and two when busy, since each batch costs
 * the engine 15 ms whatever its size. On a server that other processes write to as well five seconds, since each batch
 * is a part that the server has to merge: fifty processes make ten parts a second.
 */
export const requestPaces = {
  chdb: { batchMs: 1_000, busyMs: 2_000 },
  clickhouse: { batchMs: 5_000, busyMs: 5_000 },
} as const satisfies Record<string, RequestPace>;
