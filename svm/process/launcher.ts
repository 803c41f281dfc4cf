/** One child process, as a machine needs it. */
export interface LaunchOptions {
  /** For logs and metrics. */
  readonly name: string;
  readonly command: readonly string[];
  /** The child's whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Reads the one line that the child prints on its standard output when it is ready; null for any other line. */
  readonly readReady: (line: string) => true | null;
  readonly readyTimeoutMs: number;
  /** How long the child may take to end after SIGTERM before it is killed. */
  readonly stopTimeoutMs: number;
}

/** How a child ended: one of the two is null. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/**
 * Starts a child and resolves when it is ready; the child ends when the result is disposed of. The launcher holds the
 * child's standard input open for as long as its own process lives, since the child ends at end-of-file, and starts the
 * child again whenever it ends; `onExit` is called each time that the child ends without having been asked to.
 * @throws {Error} when the first start fails.
 */
export type Launch = (options: LaunchOptions, onExit: (exit: ProcessExit) => void) => Promise<AsyncDisposable>;
