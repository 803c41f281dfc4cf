/** Bounds of the embedded engine's front. Bytes and milliseconds unless a name says otherwise. */
export const childLimits = {
  /** Statements that run at one time; the rest is refused with TOO_MANY_SIMULTANEOUS_QUERIES. */
  concurrentStatementsMax: 12,
  /** Of these, statements whose figures are asked for, which run on a thread of their own each. */
  measuredStatementsMax: 2,
  /** How long such a statement may go on after its time is over, before the engine is taken down with it. */
  overtimeMs: 20_000,
  /** Worker threads of the process: each running statement holds one, the others are left for KILL and preludes. */
  workerThreads: 16,
  /** Text of a statement, parameters not counted. */
  statementBytesMax: 4 * 1024 * 1024,
  /** Data of an INSERT that is gathered before it is written to its spool file. */
  spoolWriteBytes: 4 * 1024 * 1024,
  /** Data of one INSERT after decompression. */
  insertBytesMax: 1024 * 1024 * 1024,
  /** Result that is built in memory, in a format that could also be streamed; larger ones are streamed. */
  streamAboveResultBytes: 8 * 1024 * 1024,
  /** Result in a format that cannot be streamed. */
  bufferedResultBytesMax: 64 * 1024 * 1024,
  /** Seconds a statement may run when the caller names no limit, and the most that a caller may name. */
  executionSecondsDefault: 30,
  executionSecondsMax: 240,
  /** Memory of one statement, and of the whole engine: two statements of users, and the server's own beside them. */
  statementMemoryBytesMax: 1024 * 1024 * 1024,
  engineMemoryBytesMax: 3 * 1024 * 1024 * 1024,
  /** How often a statement whose caller has gone away is ordered to stop, until it has stopped. */
  killEveryMs: 100,
  /** When, after it is ready, the process gives back what only loading has touched. */
  releasePagesAfterMs: 1_000,
  /** Time for running statements to end after SIGTERM. */
  drainMs: 4_000,
  /** The same when the parent has ended and no one awaits the answers. */
  orphanDrainMs: 500,
} as const;
