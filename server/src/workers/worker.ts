import type { ReadyRecord } from "@sluice/contract/schemas";
import { type Clock, type Log, type Random, within } from "@sluice/lib";
import { type ChildExit, type SupervisedChild, superviseChild } from "../processes/index.ts";
import { Conversation, type Topic } from "./conversation.ts";
import type { CrewWorker } from "./crew.ts";
import type { WorkersEvents } from "./events.ts";
import type { MetricSums } from "./metric-sums.ts";
import { openLine, socketOf, writeOrders } from "./orders.ts";
import type { HostPlaces } from "./places.ts";

export interface WorkerOptions {
  readonly number: number;
  /** See CrewWorker. */
  readonly turn: number;
  readonly directory: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** From the start until it listens. */
  readonly openMsMax: number;
  /** From the signal to end until it is killed. */
  readonly endMsMax: number;
}

export interface WorkerDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, "warn">;
  readonly events: Pick<WorkersEvents, "workerFailed">;
  readonly places: HostPlaces;
  readonly sums: MetricSums;
  readonly newProcessId: () => string;
  /** Has all workers read their configuration again. */
  readonly reloadAll: () => Promise<unknown>;
  readonly onLine: (line: string) => void;
}

/** A worker that dies within this time of its start counts as failing: its next start waits longer. */
const settledAfterMs = 10_000;
/** A worker whose event loop stands still for longer is left out of what is asked. */
const askMsMax = 2_000;
const reloadMsMax = 20_000;

/** Why a worker did not start, in its own words. */
export class WorkerStartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WorkerStartError";
  }
}

/**
 * Starts a worker and resolves when it listens; one that dies later is started again until it is ended.
 *
 * @throws {WorkerStartError} when it did not come to listen
 */
export async function startWorker(options: WorkerOptions, dependencies: WorkerDependencies): Promise<Worker> {
  const worker = new Worker(options, dependencies);
  await worker.start();
  return worker;
}

export class Worker implements CrewWorker {
  readonly number: number;
  readonly turn: number;
  readonly socketPath: string;
  readonly #options: WorkerOptions;
  readonly #dependencies: WorkerDependencies;
  readonly #conversation: Conversation;
  #child: SupervisedChild<true> | null = null;
  #processId = "";
  /** The life before, where that did not end in order. */
  #predecessor: string | null = null;
  #serving = Promise.withResolvers<boolean>();
  #pid: number | null = null;
  #failure: string | null = null;
  isServing = false;
  failures = 0;
  openedAtMs = 0;

  constructor(options: WorkerOptions, dependencies: WorkerDependencies) {
    this.number = options.number;
    this.turn = options.turn;
    this.socketPath = socketOf(options.directory, options.turn);
    this.#options = options;
    this.#dependencies = dependencies;
    this.#conversation = new Conversation(
      {
        send: (message) => this.#child?.send(message) ?? false,
        answer: (topic) => this.#answer(topic),
        told: (topic) => this.#told(topic),
      },
      dependencies,
    );
  }

  get pid(): number | null {
    return this.#pid;
  }

  async start(): Promise<void> {
    const { number, command, env, openMsMax, endMsMax } = this.#options;
    const { clock, random, log, events, onLine } = this.#dependencies;
    try {
      this.#child = await superviseChild<true>(
        {
          name: `worker ${number}`,
          command,
          env,
          hasMessages: true,
          input: () => this.#orders(),
          readReady: (line) => (line === openLine ? true : null),
          readyTimeoutMs: openMsMax,
          stopTimeoutMs: endMsMax,
          settledAfterMs,
        },
        {
          clock,
          random,
          log,
          onLine,
          onMessage: (message, pid) => this.#received(message, pid),
          onReady: (_, pid) => this.#opened(pid),
          onExit: (exit) => this.#exited(exit),
          onStartFailed: () => {
            this.failures += 1;
            events.workerFailed("not_started");
          },
        },
      );
    } catch (error) {
      throw new WorkerStartError(this.#failure ?? String(error instanceof Error ? error.message : error));
    }
  }

  async serves(limitMs: number): Promise<boolean> {
    if (this.isServing) return true;
    const timed = await within(this.#dependencies.clock, limitMs, this.#serving.promise);
    return timed.ok && timed.value;
  }

  /** Whether its roles serve, in its own words; null where it does not answer. */
  async readiness(): Promise<ReadyRecord | null> {
    const said = await this.ask("ready").catch(() => null);
    // A worker answers with what `Health.ready` gives.
    return said === null ? null : (said as ReadyRecord);
  }

  /** @throws {NoAnswerError} when it does not answer in time */
  ask(what: "metrics" | "ready" | "reload"): Promise<unknown> {
    return this.#conversation.ask({ what }, what === "reload" ? reloadMsMax : askMsMax);
  }

  async replace(): Promise<void> {
    await this.#child?.restart(signals.retire);
  }

  async end(how: "drain" | "retire"): Promise<void> {
    this.#serving.resolve(false);
    await this.#child?.end(signals[how]);
    if (this.#pid !== null) this.#left(this.#pid);
  }

  #orders(): string {
    const { number, directory } = this.#options;
    const predecessor = this.#predecessor;
    this.#processId = this.#dependencies.newProcessId();
    this.#predecessor = this.#processId;
    return writeOrders({ number, directory, socketPath: this.socketPath, processId: this.#processId, predecessor });
  }

  #opened(pid: number): void {
    this.#pid = pid;
    this.openedAtMs = this.#dependencies.clock.monotonic();
    this.#dependencies.places.joined(pid);
  }

  #exited({ pid, wasAsked }: ChildExit): void {
    this.#left(pid);
    if (wasAsked) {
      // It gave back what it held.
      this.#predecessor = null;
      return;
    }
    this.failures += 1;
    this.#dependencies.events.workerFailed("ended");
  }

  /** Frees what the life held, and keeps what it counted. */
  #left(pid: number): void {
    const { places, sums } = this.#dependencies;
    this.#pid = null;
    this.isServing = false;
    this.#serving.resolve(false);
    this.#serving = Promise.withResolvers();
    this.#conversation.forget();
    places.ended(pid);
    sums.ended(pid);
  }

  #received(message: unknown, pid: number): void {
    // The first life is heard before it is known to listen: it may say why it does not.
    if (this.#pid === null || this.#pid === pid) this.#conversation.received(message);
  }

  async #answer({ what, accountId, max }: Topic): Promise<unknown> {
    const { places, reloadAll } = this.#dependencies;
    if (what === "reload") return await reloadAll();
    if (this.#pid === null || typeof accountId !== "string" || typeof max !== "number") return false;
    if (what === "enter") return places.enter(this.#pid, accountId, max);
    if (what === "leaveBeyond") return places.leaveBeyond(this.#pid, accountId, max);
    throw new TypeError(`a worker asks nothing such as ${what}`);
  }

  #told({ what, ...fields }: Topic): void {
    const { places, sums } = this.#dependencies;
    const { accountId, message, text } = fields;
    if (what === "serving") {
      this.isServing = true;
      this.#serving.resolve(true);
    } else if (what === "failed" && typeof message === "string") this.#failure = message;
    else if (this.#pid === null) return;
    else if (what === "leave" && typeof accountId === "string") places.leave(this.#pid, accountId);
    else if (what === "metrics" && typeof text === "string") sums.seen({ life: this.#pid, text });
  }
}

/** By which a worker is asked to end. */
const signals = { drain: "SIGTERM", retire: "SIGUSR2" } as const;
