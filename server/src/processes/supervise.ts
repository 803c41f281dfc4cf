import { backoffDelayMs, type Clock, type Random } from "@sluice/lib";

export interface ChildOptions<Ready> {
  /** For logs and metrics. */
  readonly name: string;
  readonly command: readonly string[];
  readonly directory?: string;
  /** The child's whole environment: nothing is inherited, so no secret travels by accident. */
  readonly env: Readonly<Record<string, string>>;
  /** A line for the child's standard input at each start, for what no other process may see. */
  readonly input?: () => string;
  /** Reads the one line that the child prints when it is ready; null when the line is not that. */
  readonly readReady: (line: string) => Ready | null;
  readonly readyTimeoutMs: number;
  /** How long it may take to end after SIGTERM before it is killed. */
  readonly stopTimeoutMs: number;
}

export interface ChildDependencies<Ready> {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Called each time the child becomes ready, the first time included. */
  readonly onReady?: (ready: Ready, pid: number) => void;
  /** Called each time the child ends without having been asked to; a restart follows. */
  readonly onExit?: (exit: { code: number | null; signal: string | null }) => void;
}

export interface SupervisedChild<Ready> extends AsyncDisposable {
  /** The living child's process id, or null between two lives. */
  pid(): number | null;
  /** What the last ready line said. */
  ready(): Ready;
  /** Resolves when a restart that is under way has ended, well or by disposal; at once when there is none. */
  settled(): Promise<void>;
}

/** The wait before a restart: none, and after each young death or failed start in a row longer. It never ends. */
const restartBackoff = { baseMs: 100, maxMs: 5_000 } as const;
/** A child that dies younger than this counts as failing; an older one is restarted at once. */
const settledAfterMs = 1_000;
const tailCharacters = 4_000;

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

/**
 * Starts the child and resolves when it is ready; rejects when its first start fails. Afterwards it is restarted for as
 * long as it is not disposed of. The child's stdin stays open: it reads end-of-file when this process dies, however it
 * dies, and is expected to end then.
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
  #failures = 0;
  #stopping = false;
  #restarting: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};

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

  async start(): Promise<void> {
    const { name, command, env, directory, input } = this.#options;
    const child = Bun.spawn([...command], {
      ...(directory === undefined ? {} : { cwd: directory }),
      env: { ...env },
      // A session of its own: the terminal's Ctrl-C is for the server, which ends its children in its own order.
      detached: true,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
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
    } catch (fault) {
      child.kill("SIGKILL");
      await Promise.all([child.exited, draining]);
      this.#child = null;
      throw fault;
    }
    const readyAt = this.#dependencies.clock.monotonic();
    this.#dependencies.onReady?.(this.#ready, child.pid);
    void child.exited.then(() => this.#onExit(child, readyAt));
  }

  /** Reads stdout until the ready line, then keeps draining it so that the child never blocks on a full pipe. */
  async #awaitReady(child: Child, tail: Tail): Promise<Ready> {
    const { name, readReady, readyTimeoutMs } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Ready>();
    const timer = setTimeout(
      () => reject(new Error(`${name} was not ready within ${readyTimeoutMs} ms`)),
      readyTimeoutMs,
    );
    void drainLines(child.stdout, (line) => {
      const ready = readReady(line);
      if (ready === null) tail.add(line);
      else resolve(ready);
    });
    void child.exited.then((code) =>
      reject(new Error(`${name} ended with ${child.signalCode ?? code} before it was ready: ${tail.text()}`)),
    );
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #onExit(child: Child, readyAt: number): void {
    if (this.#child === child) this.#child = null;
    if (this.#stopping) return;
    const exit = { code: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) };
    const fields = { child: this.#options.name, pid: child.pid, exitCode: exit.code, signal: exit.signal };
    this.#dependencies.log.warn(fields, "a child died and is started again");
    this.#dependencies.onExit?.(exit);
    if (this.#dependencies.clock.monotonic() - readyAt > settledAfterMs) this.#failures = 0;
    this.#restarting = this.#restart();
  }

  async #restart(): Promise<void> {
    while (!this.#stopping) {
      const waitMs =
        this.#failures === 0 ? 0 : backoffDelayMs(this.#failures - 1, restartBackoff, this.#dependencies.random);
      this.#failures++;
      await this.#pause(waitMs);
      if (this.#stopping) return;
      try {
        await this.start();
        return;
      } catch (fault) {
        this.#dependencies.log.warn(
          { child: this.#options.name, fault: String(fault) },
          "a child could not be started",
        );
      }
    }
  }

  async #pause(durationMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, durationMs);
    await promise;
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    this.#wake();
    const stop = async (): Promise<void> => {
      const child = this.#child;
      if (child === null) return;
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), this.#options.stopTimeoutMs);
      await child.exited;
      clearTimeout(killer);
    };
    // A start that is under way is awaited and then stopped, so that nothing is left behind.
    await stop();
    await this.#restarting;
    await stop();
  }
}

/** The last words of a child, for the message that says why it did not start. */
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
