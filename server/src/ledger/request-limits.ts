/** Bounds of the request log. */
export const requestLogLimits = {
  /** Facts that wait or are being written. When full the newest is dropped and counted: what waits is older history. */
  queueMax: 200_000,
  /** The same in bytes, as they are kept; a fact of usual strings takes 140. */
  queueBytesMax: 64 * 1024 * 1024,
  /** Facts and bytes of one batch. */
  batchRows: 50_000,
  batchBytes: 12 * 1024 * 1024,
  /**
   * How long the first fact of a batch waits for others, in milliseconds: a second, so that the console shows requests
   * soon, and two once a batch had `busyRows`, since each batch costs the engine 15 ms whatever its size.
   */
  batchMs: 1_000,
  batchBusyMs: 2_000,
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
