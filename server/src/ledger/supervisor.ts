import { join } from "node:path";
import type { Clock, Random } from "../lib/index.ts";
import { type ChildReport, parseReport } from "./child/handshake.ts";
import { childLimits } from "./child/limits.ts";
import type { Address, Endpoint, LedgerLog } from "./endpoint.ts";
import { LedgerOpenError, LedgerUnavailableError } from "./errors.ts";

/** Bounds of the supervision, in milliseconds. */
export const supervisorLimits = {
  /** From spawn to the ready line. A directory of 1,000 parts takes 0.4 s; a slow disk gets the rest. */
  readyMsMax: 30_000,
  /** How long a call waits for a child that is being restarted. */
  callWaitMsMax: 10_000,
  /** Wait before a restart: none, and after each young death or failed start in a row 100, 200, 400 ... It never ends. */
  backoffMsFirst: 100,
  backoffMsMax: 5_000,
  /** A child that dies younger than this counts as failing; an older one is restarted at once. */
  stableMs: 1_000,
  /** From SIGTERM to SIGKILL. */
  stopMsMax: childLimits.drainMs + 2_000,
  /** What is kept of the child's standard error, in characters. */
  stderrMax: 4_096,
} as const;

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

interface Running {
  readonly child: Child;
  readonly address: Address;
}

export interface SupervisorOptions {
  readonly directory: string;
}

export interface SupervisorDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LedgerLog;
}

/** Everything the child's environment holds: no key, password or path of ours. */
const childEnvironment = { TZ: "UTC", LC_ALL: "C", UV_THREADPOOL_SIZE: String(childLimits.workerThreads) };

/** Runs the embedded engine as a child process and starts it again when it dies. */
export class ChildSupervisor implements Endpoint {
  readonly driver = "chdb";
  readonly #options: SupervisorOptions;
  readonly #dependencies: SupervisorDependencies;
  #running: Running | null = null;
  #generation = 0;
  #failuresInRow = 0;
  #disposed = false;
  #restarting: Promise<void> = Promise.resolve();
  #wakeUp = (): void => undefined;

  private constructor(options: SupervisorOptions, dependencies: SupervisorDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Starts the child and waits until it answers. Throws LedgerOpenError: directory in use, no library, deadline. */
  static async start(options: SupervisorOptions, dependencies: SupervisorDependencies): Promise<ChildSupervisor> {
    const supervisor = new ChildSupervisor(options, dependencies);
    await supervisor.#launch();
    return supervisor;
  }

  async current(): Promise<Address> {
    if (this.#running !== null) return this.#running.address;
    if (this.#disposed) throw new LedgerUnavailableError("it is closed");
    await Promise.race([this.#restarting, Bun.sleep(supervisorLimits.callWaitMsMax)]);
    // The race above yields to the restart, which sets the field; the compiler cannot see that.
    const running = this.#running as Running | null;
    if (running === null) throw new LedgerUnavailableError("its process is being restarted");
    return running.address;
  }

  pid(): number | null {
    return this.#running?.child.pid ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#wakeUp();
    const running = this.#running;
    this.#running = null;
    if (running !== null) await stop(running.child);
    await this.#restarting;
  }

  async #launch(): Promise<void> {
    const { clock, random, log } = this.#dependencies;
    const startedAt = clock.monotonic();
    const password = Buffer.from(random.bytes(32)).toString("hex");
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "child", "main.ts")], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      env: childEnvironment,
    });
    const tail = keepTail(child.stderr);
    child.stdin.write(`${JSON.stringify({ directory: this.#options.directory, user: "sluice", password })}\n`);
    child.stdin.flush();
    const report = await firstReport(child);
    if (report === null || !report.ready) {
      child.kill("SIGKILL");
      await child.exited;
      throw openError(this.#options.directory, report, await tail());
    }
    this.#generation++;
    const url = `http://127.0.0.1:${report.port}`;
    const address: Address = { url, user: "sluice", password, generation: this.#generation };
    this.#running = { child, address };
    const startMs = Math.round(clock.monotonic() - startedAt);
    log.info({ pid: child.pid, engine: report.version, startMs }, "ledger engine is ready");
    const readyAt = clock.monotonic();
    child.exited.then(async () => this.#onExit(child, clock.monotonic() - readyAt, await tail()));
  }

  #onExit(child: Child, livedMs: number, stderr: string): void {
    if (this.#running?.child !== child || this.#disposed) return;
    this.#running = null;
    this.#failuresInRow = livedMs >= supervisorLimits.stableMs ? 0 : this.#failuresInRow;
    const fields = { pid: child.pid, exitCode: child.exitCode, signal: child.signalCode, livedMs: Math.round(livedMs) };
    this.#dependencies.log.error({ ...fields, stderr }, "ledger engine died and is restarted");
    this.#restarting = this.#restart();
  }

  async #restart(): Promise<void> {
    while (!this.#disposed && this.#running === null) {
      await this.#backOff();
      if (this.#disposed) return;
      try {
        await this.#launch();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#dependencies.log.error({ reason, failuresInRow: this.#failuresInRow }, "ledger engine did not restart");
      }
    }
    // The ledger was closed while a child was starting: nobody else would end it.
    const running = this.#running as Running | null;
    if (this.#disposed && running !== null) {
      this.#running = null;
      await stop(running.child);
    }
  }

  async #backOff(): Promise<void> {
    const doubled = supervisorLimits.backoffMsFirst * 2 ** Math.max(0, this.#failuresInRow - 1);
    const waitMs = this.#failuresInRow === 0 ? 0 : Math.min(doubled, supervisorLimits.backoffMsMax);
    this.#failuresInRow++;
    if (waitMs === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** SIGTERM, a deadline, SIGKILL; returns when the process is gone. */
async function stop(child: Child): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), supervisorLimits.stopMsMax);
  await child.exited;
  clearTimeout(timer);
}

/** Collects the end of a stream; the returned function waits briefly for its last words. */
function keepTail(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  let tail = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      tail = `${tail}${decoder.decode(piece, { stream: true })}`.slice(-supervisorLimits.stderrMax);
    }
  })().catch(() => undefined);
  return async () => {
    await Promise.race([reading, Bun.sleep(200)]);
    return tail.trim();
  };
}

/** The child's first report, or null when it ended, or stayed silent past the deadline. */
async function firstReport(child: Child): Promise<ChildReport | null> {
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let timer: ReturnType<typeof setTimeout> | null = null;
  const deadline = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), supervisorLimits.readyMsMax);
  });
  const read = async (): Promise<ChildReport | null> => {
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return null;
      text += decoder.decode(value, { stream: true });
      const lines = text.split("\n");
      text = lines.pop()?.slice(-supervisorLimits.stderrMax) ?? "";
      for (const line of lines) {
        const report = parseReport(line);
        if (report !== null) return report;
      }
    }
  };
  const report = await Promise.race([read().catch(() => null), deadline]);
  if (timer !== null) clearTimeout(timer);
  reader.releaseLock();
  return report;
}

function openError(directory: string, report: ChildReport | null, stderr: string): LedgerOpenError {
  if (stderr.includes("Cannot lock file")) {
    return new LedgerOpenError(
      `Another process uses the ledger in ${directory}. Stop it, or choose another data directory (DATA_DIR).`,
    );
  }
  const said = report !== null && !report.ready ? report.error : "it ended or stayed silent before it was ready";
  const lastWords = stderr === "" ? "" : ` (${stderr.slice(-500)})`;
  return new LedgerOpenError(`The ledger's engine did not start: ${said}${lastWords}`);
}
