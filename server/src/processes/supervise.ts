import { backoffDelayMs, type Clock, type Log, type Random, sleep, within } from "@sluice/lib";

export interface ChildOptions<Ready> {
  /** For logs and metrics. */
  readonly name: string;
  readonly command: readonly string[];
  readonly directory?: string;
  /** The child's whole environment: nothing is inherited, so that no secret leaks into it. */
  readonly env: Readonly<Record<string, string>>;
  /** A line for the child's standard input at each start, for secrets that no other process may see. */
  readonly input?: () => string;
  /** Reads the line that the child prints when it is ready; null for any other line. */
  readonly readReady: (line: string) => Ready | null;
  /** Whether the child and its parent send each other messages. */
  readonly hasMessages?: boolean;
  readonly readyTimeoutMs: number;
  /** A child that exits sooner than this counts as failing; an older one is restarted at once. A second by default. */
  readonly settledAfterMs?: number;
  /** From SIGTERM to SIGKILL. */
  readonly stopTimeoutMs: number;
}

/** How a child ended. */
export interface ChildExit {
  readonly pid: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** Whether `restart` asked it to end. */
  readonly wasAsked: boolean;
}

export interface ChildDependencies<Ready> {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, "warn">;
  /** Called each time the child becomes ready, the first time included. */
  readonly onReady?: (ready: Ready, pid: number) => void;
  /** Receives each line of the child's standard output after the ready one, and before it those that are not. */
  readonly onLine?: (line: string) => void;
  /** Receives each message of the child with that id, as parsed from JSON. */
  readonly onMessage?: (message: unknown, pid: number) => void;
  /** Called each time the child ends by itself; a restart follows. */
  readonly onExit?: (exit: ChildExit) => void;
  /** Called each time such a restart fails. */
  readonly onStartFailed?: () => void;
}

/** A child that is restarted until it is disposed of. */
export interface SupervisedChild<Ready> extends AsyncDisposable {
  /** The process id; null while no child runs. */
  pid(): number | null;
  /** The content of the last ready line. */
  ready(): Ready;
  /** Sends a message to the child, as JSON; false while there is none, or it takes none. */
  send(message: unknown): boolean;
  /** Asks the child by this signal to end; resolves when the next one is ready, or disposal has ended it. */
  restart(signal: NodeJS.Signals): Promise<void>;
  /** Ends the child as disposal does, asking it by this signal. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when a restart in progress has succeeded or was ended by disposal; at once without one. */
  settled(): Promise<void>;
}

/**
 * The wait before a restart: none at first, longer after each early exit or failed start in a row. It has no last
 * attempt.
 */
const restartBackoff = { baseMs: 100, maxMs: 5_000 } as const;
const settledAfterMsDefault = 1_000;
const tailCharacters = 4_000;

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

/**
 * Starts the child and resolves when it is ready. Afterwards it is restarted until it is disposed of. The child's stdin
 * stays open: it reads end-of-file when this process ends in any way, and must end then.
 *
 * @throws {Error} when the first start fails.
 */
export async function superviseChild<Ready>(
  options: ChildOptions<Ready>,
  dependencies: ChildDependencies<Ready>,
): Promise<SupervisedChild<Ready>> {
  const supervisor = new Supervisor(options, dependencies);
  await supervisor.start();
  return supervisor;
}

class Supervisor<Ready> implements SupervisedChild<Ready> {
  readonly #options: ChildOptions<Ready>;
  readonly #dependencies: ChildDependencies<Ready>;
  #child: Child | null = null;
  #ready: Ready | null = null;
  /** The child that `restart` ends. */
  #asked: Child | null = null;
  #failures = 0;
  readonly #stopping = new AbortController();
  #restarting: Promise<void> = Promise.resolve();

  constructor(options: ChildOptions<Ready>, dependencies: ChildDependencies<Ready>) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  pid(): number | null {
    return this.#child?.pid ?? null;
  }

  ready(): Ready {
    if (this.#ready === null) throw new Error(`${this.#options.name} has not been ready yet`);
    return this.#ready;
  }

  settled(): Promise<void> {
    return this.#restarting;
  }

  send(message: unknown): boolean {
    const child = this.#child;
    if (child === null || this.#options.hasMessages !== true) return false;
    try {
      child.send(message);
      return true;
    } catch {
      // The child has ended, or is about to.
      return false;
    }
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child !== null) {
      this.#asked = child;
      await this.#endChild(child, signal);
    }
    await this.#restarting;
  }

  async start(): Promise<void> {
    const { name, command, env, directory, input, hasMessages } = this.#options;
    const child = Bun.spawn([...command], {
      ...(directory === undefined ? {} : { cwd: directory }),
      env: { ...env },
      // A separate session: the terminal's Ctrl-C is for the server, which ends its children in order.
      detached: true,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      ...(hasMessages === true
        ? {
            ipc: (message: unknown, from: { readonly pid: number }) =>
              this.#dependencies.onMessage?.(message, from.pid),
            serialization: "json" as const,
          }
        : {}),
    });
    this.#child = child;
    if (input !== undefined) {
      child.stdin.write(`${input()}\n`);
      child.stdin.flush();
    }
    const tail = new Tail();
    const draining = drainLines(child.stderr, (line) => {
      tail.add(line);
      this.#dependencies.log.warn({ child: name, line }, "a child wrote to its error stream");
    });
    try {
      this.#ready = await this.#awaitReady(child, tail);
    } catch (error) {
      child.kill("SIGKILL");
      await Promise.all([child.exited, draining]);
      this.#child = null;
      throw error;
    }
    const readyAt = this.#dependencies.clock.monotonic();
    this.#dependencies.onReady?.(this.#ready, child.pid);
    void child.exited.then(() => this.#onExit(child, readyAt));
  }

  /** Reads stdout until the ready line, then keeps draining it so that the child never blocks on a full pipe. */
  async #awaitReady(child: Child, tail: Tail): Promise<Ready> {
    const { name, readReady, readyTimeoutMs } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Ready>();
    void drainLines(child.stdout, (line) => {
      const ready = readReady(line);
      if (ready !== null) resolve(ready);
      else if (this.#dependencies.onLine === undefined) tail.add(line);
      else this.#dependencies.onLine(line);
    });
    void child.exited.then((code) =>
      reject(new Error(`${name} ended with ${child.signalCode ?? code} before it was ready: ${tail.text()}`)),
    );
    const timed = await within(this.#dependencies.clock, readyTimeoutMs, promise);
    if (!timed.ok) throw new Error(`${name} was not ready within ${readyTimeoutMs} ms`);
    return timed.value;
  }

  #onExit(child: Child, readyAt: number): void {
    if (this.#child === child) this.#child = null;
    if (this.#stopping.signal.aborted) return;
    const { name, settledAfterMs = settledAfterMsDefault } = this.#options;
    const wasAsked = this.#asked === child;
    const signal = child.signalCode === null ? null : String(child.signalCode);
    const exit = { pid: child.pid, code: child.exitCode, signal, wasAsked };
    const fields = { child: name, pid: child.pid, exitCode: exit.code, signal };
    if (!wasAsked) this.#dependencies.log.warn(fields, "a child ended and is restarted");
    this.#dependencies.onExit?.(exit);
    if (wasAsked || this.#dependencies.clock.monotonic() - readyAt > settledAfterMs) this.#failures = 0;
    this.#restarting = this.#restart();
  }

  async #restart(): Promise<void> {
    const { clock, random, log } = this.#dependencies;
    const { signal } = this.#stopping;
    let hasFailed = false;
    while (!signal.aborted) {
      const waitMs = this.#failures === 0 ? 0 : backoffDelayMs(this.#failures - 1, restartBackoff, random);
      this.#failures += 1;
      await sleep(clock, waitMs, signal);
      if (signal.aborted) return;
      try {
        await this.start();
        return;
      } catch (error) {
        this.#dependencies.onStartFailed?.();
        // Told once for as long as it lasts.
        if (hasFailed) continue;
        hasFailed = true;
        log.warn(
          { child: this.#options.name, error: String(error) },
          "a child could not be started; it is tried again",
        );
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGTERM");
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#stopping.abort();
    const stop = async (): Promise<void> => {
      if (this.#child !== null) await this.#endChild(this.#child, signal);
    };
    // A start in progress is awaited and then stopped, so that no child is left.
    await stop();
    await this.#restarting;
    await stop();
  }

  async #endChild(child: Child, signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    const timed = await within(this.#dependencies.clock, this.#options.stopTimeoutMs, child.exited);
    if (timed.ok) return;
    child.kill("SIGKILL");
    await child.exited;
  }
}

/** The last output of a child, for the message of a failed start. */
class Tail {
  #text = "";

  add(line: string): void {
    this.#text = `${this.#text}\n${line}`.slice(-tailCharacters);
  }

  text(): string {
    return this.#text.trim();
  }
}

const lineCharactersMax = 64 * 1024;

async function drainLines(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(-lineCharactersMax);
    for (const line of lines) if (line.trim() !== "") onLine(line);
  }
  if (rest.trim() !== "") onLine(rest);
}
