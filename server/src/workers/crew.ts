import type { Clock } from "@sluice/lib";
import type { WorkersEvents } from "./events.ts";

/** One worker, over all its lives. */
export interface CrewWorker {
  readonly number: number;
  /** 0 or 1: another one than that of the worker that it took over from. */
  readonly turn: number;
  /** Null while it is being started again. */
  readonly pid: number | null;
  /** Whether its role serves. */
  readonly isServing: boolean;
  /** How often it ended by itself or could not be started. */
  readonly failures: number;
  /** Monotonic: when its present life began to listen. */
  readonly openedAtMs: number;
  /** Whether it serves within the time. */
  serves(limitMs: number): Promise<boolean>;
  /** Ends it and starts it again, with a gap between. */
  replace(): Promise<void>;
  /** Ends it: after the drain's delay for balancers, or, while others serve in its place, without it. */
  end(how: "drain" | "retire"): Promise<void>;
}

export interface CrewOptions {
  /** Numbers of the workers that serve the gateway; each is replaced by one that serves before it ends. */
  readonly gateways: readonly number[];
  /** Numbers of those whose ports no second process can share: they are replaced with a gap. */
  readonly others: readonly number[];
  /** How long a new worker may take until it serves. */
  readonly servingMsMax: number;
}

export interface CrewDependencies<Worker extends CrewWorker> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly events: Pick<WorkersEvents, "rollingRestartBegan" | "rollingRestartEnded">;
  /** Starts a worker; rejects when it does not come to listen. */
  readonly launch: (number: number, turn: number) => Promise<Worker>;
}

/** A restart of all workers, one at a time. */
export interface RollingRestart {
  readonly state: "running" | "done" | "stopped";
  readonly restarted: readonly number[];
  /** Why it stopped before its end. */
  readonly reason: string | null;
}

/** The workers of a host. */
export class Crew<Worker extends CrewWorker> implements AsyncDisposable {
  readonly #options: CrewOptions;
  readonly #dependencies: CrewDependencies<Worker>;
  readonly #workers = new Map<number, Worker>();
  /** Workers that are no longer, or not yet, the one of their number. */
  readonly #beside = new Set<Worker>();
  #restart: RollingRestart | null = null;
  #restarting: Promise<void> = Promise.resolve();
  #isEnding = false;

  constructor(options: CrewOptions, dependencies: CrewDependencies<Worker>) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Those of each number, in order. */
  get workers(): readonly Worker[] {
    return [...this.#workers.values()].toSorted((one, other) => one.number - other.number);
  }

  /** Those, and the ones that are about to take over or to end. */
  get all(): readonly Worker[] {
    return [...this.workers, ...this.#beside];
  }

  /** The last rolling restart; null when there was none. */
  get lastRestart(): RollingRestart | null {
    return this.#restart;
  }

  /** Starts all at once. Rejects with the first failure, having ended the others. */
  async start(): Promise<void> {
    const { gateways, others } = this.#options;
    const started = await Promise.allSettled([...others, ...gateways].map((number) => this.#launch(number)));
    for (const outcome of started) {
      if (outcome.status === "fulfilled") this.#workers.set(outcome.value.number, outcome.value);
    }
    const failed = started.find((outcome) => outcome.status === "rejected");
    if (failed === undefined) return;
    await this[Symbol.asyncDispose]();
    throw failed.reason;
  }

  /**
   * Begins to restart all workers one at a time; false while such a restart runs, or the crew ends. It stops at the
   * first worker that does not come to serve, whose predecessor then goes on.
   */
  restart(): boolean {
    if (this.#isEnding || this.#restart?.state === "running") return false;
    this.#restart = { state: "running", restarted: [], reason: null };
    this.#restarting = this.#roll();
    return true;
  }

  /** Resolves when no rolling restart runs. */
  async settled(): Promise<void> {
    await this.#restarting;
  }

  async #roll(): Promise<void> {
    const { events } = this.#dependencies;
    const restarted: number[] = [];
    let reason: string | null = null;
    events.rollingRestartBegan();
    for (const number of [...this.#options.gateways, ...this.#options.others]) {
      reason = this.#isEnding ? "the server ends" : await this.#renew(number).catch(messageOf);
      if (reason !== null) break;
      restarted.push(number);
      this.#restart = { state: "running", restarted, reason: null };
    }
    this.#restart = { state: reason === null ? "done" : "stopped", restarted, reason };
    events.rollingRestartEnded({ restarted, stoppedBy: reason });
  }

  /** Puts a new worker in the place of a present one; why it could not, else null. */
  async #renew(number: number): Promise<string | null> {
    const { gateways, servingMsMax } = this.#options;
    const present = this.#workers.get(number);
    if (!gateways.includes(number)) {
      await present?.replace();
      return (await present?.serves(servingMsMax)) === true ? null : notServing(number, servingMsMax);
    }
    const successor = await this.#launch(number);
    this.#beside.add(successor);
    if (this.#isEnding || !(await successor.serves(servingMsMax))) {
      await successor.end("retire");
      this.#beside.delete(successor);
      return this.#isEnding ? "the server ends" : notServing(number, servingMsMax);
    }
    this.#workers.set(number, successor);
    this.#beside.delete(successor);
    if (present !== undefined) {
      this.#beside.add(present);
      await present.end("retire");
      this.#beside.delete(present);
    }
    return null;
  }

  #launch(number: number): Promise<Worker> {
    const present = this.#workers.get(number);
    const turn = present === undefined ? 0 : 1 - present.turn;
    return this.#dependencies.launch(number, turn);
  }

  /** Ends all at once, a restart that runs included. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.all.map((worker) => worker.end("drain")));
    await this.#restarting;
    await Promise.all(this.all.map((worker) => worker.end("drain")));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const notServing = (number: number, limitMs: number): string =>
  `worker ${number} did not serve within ${limitMs / 1_000} s of its start`;
