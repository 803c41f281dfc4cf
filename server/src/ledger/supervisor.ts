import { join } from "node:path";
import { type Clock, fileFaultIn, type Random, within } from "@sluice/lib";
import { type SupervisedChild, superviseChild } from "../processes/index.ts";
import type { Confinement } from "./child/confinement/confine.ts";
import { type ChildReport, parseReport } from "./child/handshake.ts";
import { childLimits } from "./child/limits.ts";
import type { LedgerAddress, LedgerEndpoint, LedgerLog } from "./endpoint.ts";
import { LedgerOpenError, LedgerUnavailableError } from "./errors.ts";

/** Bounds of the supervision, in milliseconds. */
const supervisorLimits = {
  /** From spawn to the ready line. A directory of 1,000 parts takes 0.4 s; a slow disk gets the rest. */
  readyMsMax: 30_000,
  /** How long a call waits for a child that is being restarted. */
  callWaitMsMax: 10_000,
  /** From SIGTERM to SIGKILL. */
  stopMsMax: childLimits.drainMs + 2_000,
} as const;

type Ready = Extract<ChildReport, { ready: true }>;

/** As far as the system can, which is the default; wholly, or the engine is not used; not at all. */
export type ConfinementRule = "auto" | "required" | "off";

/** The child's whole environment: it contains no key, password or path. */
const childEnvironment = { TZ: "UTC", LC_ALL: "C", UV_THREADPOOL_SIZE: String(childLimits.workerThreads) };

export interface SupervisorDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LedgerLog;
  /** Called at each restart. */
  readonly onRestart?: (reason: string) => void;
  /** Called at each start with what the operating system refuses to the child. */
  readonly onConfined?: (confinement: Confinement) => void;
}

export interface SupervisorOptions {
  readonly directory: string;
  readonly confinement?: ConfinementRule;
}

/** The embedded engine as a supervised child: the endpoint of a ClickHouse. */
export class ChildSupervisor implements LedgerEndpoint {
  readonly count = 1;
  readonly driver = "chdb";
  readonly #child: SupervisedChild<Ready>;
  readonly #address: () => LedgerAddress | null;
  readonly #clock: Clock;
  #disposed = false;

  private constructor(child: SupervisedChild<Ready>, address: () => LedgerAddress | null, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    this.#address = address;
  }

  /**
   * Starts the child and waits until it answers. Throws LedgerOpenError: directory in use, no library, deadline, not
   * confined as it has to be.
   */
  static async start(options: SupervisorOptions, dependencies: SupervisorDependencies): Promise<ChildSupervisor> {
    const { clock, random, log } = dependencies;
    const { directory, confinement: rule = "auto" } = options;
    const isConfined = rule !== "off";
    let password = "";
    let generation = 0;
    let address: LedgerAddress | null = null;
    try {
      const child = await superviseChild<Ready>(
        {
          name: "ledger",
          command: [
            process.execPath,
            join(import.meta.dir, "child", isConfined ? "confinement/main.ts" : "main.ts"),
            directory,
          ],
          env: childEnvironment,
          // A new password for each life, over the child's own input, where no other process can read it.
          input: () => {
            password = Buffer.from(random.bytes(32)).toString("hex");
            return JSON.stringify({ user: "sluice", password, isConfined });
          },
          readReady: (line) => {
            const report = parseReport(line);
            return report?.ready === true ? report : null;
          },
          readyTimeoutMs: supervisorLimits.readyMsMax,
          stopTimeoutMs: supervisorLimits.stopMsMax,
        },
        {
          clock,
          random,
          log,
          onReady: ({ port, version, confinement }, pid) => {
            generation++;
            const confined = confinement ?? { files: false, calls: false };
            dependencies.onConfined?.(confined);
            const isWhole = confined.files && confined.calls;
            if (isConfined && !isWhole) log.warn({ pid, confined }, "ledger engine is not wholly confined");
            if (rule === "required" && !isWhole) return;
            address = { url: `http://127.0.0.1:${port}`, user: "sluice", password, ca: null, generation };
            log.info({ pid, engine: version, generation, confined }, "ledger engine is ready");
          },
          onExit: ({ code, signal }) => {
            address = null;
            dependencies.onRestart?.(signal ?? `exit code ${code}`);
          },
        },
      );
      if (address !== null) return new ChildSupervisor(child, () => address, clock);
      await child[Symbol.asyncDispose]();
    } catch (error) {
      throw openError(directory, error);
    }
    throw new LedgerOpenError(unconfined);
  }

  async current(): Promise<LedgerAddress> {
    if (this.#disposed) throw new LedgerUnavailableError("it is closed");
    if (this.#address() === null) {
      await within(this.#clock, supervisorLimits.callWaitMsMax, this.#child.settled());
    }
    const address = this.#address();
    if (address === null) throw new LedgerUnavailableError("its process is being restarted");
    return address;
  }

  /** A dead child is noticed by its end. */
  unreachable(): void {}

  pid(): number | null {
    return this.#child.pid();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await this.#child[Symbol.asyncDispose]();
  }
}

const unconfined =
  "LEDGER_CONFINEMENT is required, and the operating system cannot confine the ledger's engine: Linux 5.19 or newer " +
  "with Landlock and filters of system calls (seccomp) can, on x86-64 and arm64.";

function openError(directory: string, error: unknown): LedgerOpenError {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes("Cannot lock file")) {
    return new LedgerOpenError(
      `Another process uses the ledger in ${directory}. Stop it, or choose another data directory (DATA_DIR).`,
    );
  }
  return new LedgerOpenError(explained(directory, text));
}

const causeLengthMax = 300;

/**
 * What the engine said when it did not start, for an operator: the cause, which stands at the beginning, and the file
 * where it names one; what follows repeats whole statements.
 */
export function explained(directory: string, text: string): string {
  const refused = fileFaultIn(text);
  if (refused !== null) return `The ledger in ${directory} cannot be opened: ${refused.cause}. ${refused.remedy}`;
  const exception = /Code: \d+\. DB::\w+: ([\s\S]*)/.exec(text)?.[1] ?? text;
  const cause = exception
    .replaceAll(/[\s\p{C}\ufffd]+/gu, " ")
    .slice(0, causeLengthMax)
    .trim();
  const file = /\bfile ((?:store|metadata)\/[\w./-]+\.sql)/.exec(text)?.[1];
  const what = file === undefined ? `The ledger in ${directory}` : `The file ${join(directory, "engine", file)}`;
  return (
    `${what} cannot be read: ${cause}. Put a copy of ${directory} in its place, or move it away to begin with an empty ` +
    "ledger: records of requests, prices and ended bundles are lost then; accounts, keys and credits are not in it."
  );
}
