/** A place in which a `sluice serve` with the role ingest runs, is killed, and is started again. */
import { readFileSync } from "node:fs";
import { eventually } from "@sluice/lib/testing";
import { type Gateway, spawnGateway } from "./gateway.ts";
import { descendants } from "./network.ts";

const engineMark = "ledger/child/main.ts";
const metricsPort = 9464;
/** What takes longer hangs: times are not judged, and a machine may be busy with more than this. */
const upWithinMs = 180_000;
const endWithinMs = 60_000;
const worksWithinMs = 60_000;

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

export class Ingester {
  readonly directory: string;
  readonly #environment: Record<string, string>;
  readonly #errors: string[] = [];
  #gateway: Gateway | null = null;

  constructor(directory: string, environment: Record<string, string>) {
    this.directory = directory;
    this.#environment = environment;
  }

  get isRunning(): boolean {
    return this.#gateway !== null && this.#gateway.process.exitCode === null;
  }

  /** What its processes have logged as errors of their own. */
  get errors(): readonly string[] {
    return [...this.#errors, ...errorsOf(this.#gateway)];
  }

  /** Starts a process where there is none, without waiting for it. */
  async spawn(): Promise<void> {
    if (this.isRunning) return;
    this.#forget();
    this.#gateway = await spawnGateway(this.directory, this.#environment);
  }

  /** Waits until it lives; starts it again where it has ended by itself, as on a full disk. */
  async up(): Promise<void> {
    await eventually(
      "an ingester",
      async () => {
        await this.spawn();
        const port = metricsPort + (this.#gateway?.offset ?? 0);
        return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
      },
      upWithinMs,
    );
  }

  /** Waits until its process has brought so many blocks into the log, or as long as it may. */
  async works(blocks: number): Promise<void> {
    const isThere = async () => {
      const kept = (await this.metric("sluice_ingest_blocks_total", 'outcome="kept"')) ?? 0;
      return !this.isRunning || kept >= blocks;
    };
    await eventually("blocks of an ingester", isThere, worksWithinMs).catch(() => undefined);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.#gateway?.process.kill("SIGKILL");
    await this.#gateway?.process.exited;
    this.#forget();
  }

  /** SIGKILL for the engine of its ledger; false where there is none now. */
  killLedger(): boolean {
    const pid = this.#gateway === null ? undefined : descendants(this.#gateway.process.pid).find(isEngine);
    if (pid === undefined) return false;
    process.kill(pid, "SIGKILL");
    return true;
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    if (this.isRunning) this.#gateway?.process.kill(name);
  }

  /** A metric's value; null while it cannot be asked. */
  async metric(name: string, holding = ""): Promise<number | null> {
    return (await this.#gateway?.metric(name, holding).catch(() => null)) ?? null;
  }

  /** What the living process has said last. */
  said(): string {
    return this.#gateway?.said() ?? "";
  }

  /** Ends it as planned. */
  async end(): Promise<number | null> {
    this.signal("SIGCONT");
    const status = (await this.#gateway?.end(endWithinMs)) ?? null;
    this.#forget();
    return status;
  }

  #forget(): void {
    this.#errors.push(...errorsOf(this.#gateway));
    this.#gateway = null;
  }
}

const isEngine = (pid: number): boolean => commandOf(pid).includes(engineMark);

const errorsOf = (gateway: Gateway | null): readonly string[] =>
  (gateway?.said() ?? "").split("\n").filter((line) => line.includes('"level":"error"'));
