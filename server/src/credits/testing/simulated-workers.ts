import type { ManualClock, Random } from "@sluice/lib";
import type { Advance } from "../advances.ts";
import { createCredits } from "../credits.ts";
import type { Credits } from "../interfaces.ts";
import { settleHolder } from "../settle-holder.ts";
import { LeftTally, Tally } from "../tally.ts";
import type { SimulatedAdvances } from "./simulated-advances.ts";
import type { SimulatedStore } from "./simulated-store.ts";

/** Small, so that leases are many and small and lease accounts run out now and then. */
export const blockMax = 256;
const entries = 256;

/** A process that spends. Its cells are what it leaves when it is killed. */
export interface Worker {
  readonly holder: string;
  readonly cells: Float64Array;
  readonly credits: Credits;
  isAlive: boolean;
  /** Takes that have no answer yet. */
  waiting: number;
}

/** What a dead process left: its cells, or nothing when the machine went down with it. */
interface Remains {
  readonly holder: string;
  readonly cells: Float64Array | null;
  readonly advances: readonly Advance[];
  /** Who settles it at this moment; the lock of a tally lets only one. */
  settler: string | null;
}

/** What outlives a process. */
interface Stores {
  readonly store: SimulatedStore;
  readonly advances: SimulatedAdvances;
}

/** Processes that are started, killed, and settled by others that may be killed over it. */
export class SimulatedWorkers {
  readonly alive: Worker[] = [];
  readonly #store: SimulatedStore;
  readonly #advances: SimulatedAdvances;
  readonly #clock: ManualClock;
  readonly #random: Random;
  readonly #remains: Remains[] = [];
  #booted = 0;
  #settlers = 0;
  kills = 0;
  crashes = 0;

  constructor({ store, advances }: Stores, clock: ManualClock, random: Random) {
    this.#store = store;
    this.#advances = advances;
    this.#clock = clock;
    this.#random = random;
  }

  boot(): Worker {
    this.#booted += 1;
    const holder = `worker ${this.#booted}`;
    const cells = new Float64Array(entries * 2);
    const credits = createCredits(
      { blockMin: 8, blockMax, sweepIntervalMs: null, leaseTimeoutMs: 3_600_000 },
      {
        clock: this.#clock,
        store: this.#store.facet(holder),
        tally: new Tally(holder, cells),
        advances: this.#advances.facet(holder),
        log: { warn: () => undefined },
      },
    );
    const worker = { holder, cells, credits, isAlive: true, waiting: 0 };
    this.alive.push(worker);
    return worker;
  }

  /** Ends a process in the middle of whatever it does; with its machine when `isCrash`. */
  kill(worker: Worker, isCrash: boolean): void {
    worker.isAlive = false;
    this.kills += 1;
    if (isCrash) this.crashes += 1;
    this.#store.orphan(worker.holder);
    this.#advances.orphan(worker.holder);
    this.#leave(worker, isCrash ? null : worker.cells.slice());
  }

  /** Asks a process to end; what it could not settle it leaves as one that was killed. */
  async end(worker: Worker): Promise<void> {
    await worker.credits[Symbol.asyncDispose]();
    if (!worker.isAlive) return;
    worker.isAlive = false;
    if (worker.credits.isSettled) this.alive.splice(this.alive.indexOf(worker), 1);
    else this.#leave(worker, worker.cells.slice());
  }

  /** A process finds what a dead one left, if no other has it in hand. */
  startSettling(): void {
    const latest = this.#remains.slice(-8);
    const remains = latest[Math.floor(this.#random.next() * latest.length)];
    if (remains !== undefined && remains.settler === null) void this.#settle(remains);
  }

  /** Kills a process that is settling something. */
  killSettler(): void {
    const remains = this.#remains.find(({ settler }) => settler !== null);
    if (remains === undefined || remains.settler === null) return;
    this.#store.orphan(remains.settler);
    remains.settler = null;
  }

  /** Settles everything that is left. */
  async settleAll(): Promise<void> {
    for (const remains of this.#remains) {
      remains.settler = null;
      await this.#settle(remains);
    }
  }

  async #settle(remains: Remains): Promise<void> {
    this.#settlers += 1;
    const settler = `settler ${this.#settlers}`;
    remains.settler = settler;
    const left = remains.cells === null ? null : LeftTally.read(remains.cells);
    if (remains.cells !== null && left === null) throw new Error("a tally could not be read");
    const { holder, advances } = remains;
    await settleHolder(holder, { left, advances }, this.#store.facet(settler)).catch(() => undefined);
    if (remains.settler === settler) remains.settler = null;
  }

  #leave(worker: Worker, cells: Float64Array | null): void {
    this.alive.splice(this.alive.indexOf(worker), 1);
    const { holder } = worker;
    this.#remains.push({ holder, cells, advances: this.#advances.left(holder), settler: null });
  }
}
