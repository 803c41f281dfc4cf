import { backoffDelayMs, type Clock, type Random, sleep } from "@sluice/lib";
import type { Launch, LaunchOptions, ProcessExit } from "@sluice/svm";

type Child = Bun.Subprocess<"pipe", "pipe", "inherit">;

/** The pause before a start that follows a failed one. */
const backoff = { baseMs: 100, maxMs: 5_000 } as const;

interface LauncherDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly random: Random;
}

/** Resolves to whether the child printed its ready line before its output ended. */
async function becomesReady(child: Child, { readReady }: LaunchOptions): Promise<boolean> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of child.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (lines.some((line) => readReady(line) !== null)) return true;
  }
  return false;
}

/**
 * A child of the chain that is started again whenever it ends. Its standard input stays open as long as the chain
 * lives.
 */
class RestartedChild implements AsyncDisposable {
  readonly #options: LaunchOptions;
  readonly #dependencies: LauncherDependencies & { readonly onExit: (exit: ProcessExit) => void };
  #child: Child | null = null;
  #isStopping = false;
  #restart: Promise<void> = Promise.resolve();

  constructor(
    options: LaunchOptions,
    dependencies: LauncherDependencies & { readonly onExit: (exit: ProcessExit) => void },
  ) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** @throws {Error} when the child ends before it is ready, or is not ready in time. */
  async start(): Promise<void> {
    const { name, command, env, readyTimeoutMs } = this.#options;
    // A separate session: a terminal's Ctrl-C is for the chain, whose end is the end of the child's input.
    const child = Bun.spawn([...command], { detached: true, env, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    this.#child = child;
    const timer = this.#dependencies.clock.after(readyTimeoutMs, () => child.kill("SIGKILL"));
    const isReady = await becomesReady(child, this.#options);
    timer.cancel();
    if (!isReady) throw new Error(`the process of the ${name} ended before it was ready`);
    void child.exited.then(() => this.#exited(child));
  }

  #exited({ exitCode, signalCode }: Child): void {
    this.#child = null;
    if (this.#isStopping) return;
    this.#dependencies.onExit({ code: exitCode, signal: signalCode === null ? null : String(signalCode) });
    this.#restart = this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    const { clock, random } = this.#dependencies;
    for (let failures = 0; !this.#isStopping; failures += 1) {
      try {
        return await this.start();
      } catch {
        await sleep(clock, backoffDelayMs(failures, backoff, random));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    await this.#stop();
    // A start that is under way ends first, so that no child is left behind.
    await this.#restart;
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    await Promise.resolve(child.stdin.end()).catch(() => undefined);
    const timer = this.#dependencies.clock.after(this.#options.stopTimeoutMs, () => child.kill("SIGKILL"));
    await child.exited;
    timer.cancel();
  }
}

/** Launches the children of the chain. */
export function chainLauncher(dependencies: LauncherDependencies): Launch {
  return async (options, onExit) => {
    const child = new RestartedChild(options, { ...dependencies, onExit });
    await child.start();
    return child;
  };
}
