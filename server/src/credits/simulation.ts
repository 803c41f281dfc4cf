import { ManualClock, type Random, seededRandom } from "../lib/index.ts";
import { createCredits } from "./credits.ts";
import type { Credits } from "./interfaces.ts";
import { monthOf } from "./month.ts";
import { SimulatedStore } from "./simulated-store.ts";

/** One play of the simulation: how long it is, and what goes wrong how often. */
export interface Course {
  readonly name: string;
  readonly steps: number;
  readonly seed: number;
  readonly killChance: number;
  readonly failureChance: number;
  readonly jumpChance: number;
}

interface Worker {
  readonly id: number;
  readonly credits: Credits;
  isAlive: boolean;
  /** Takes that have no answer yet. */
  waiting: number;
}

interface Refund {
  readonly worker: Worker;
  readonly accountId: string;
  readonly name: string | null;
  readonly cost: number;
  readonly atMs: number;
}

const accounts: readonly { id: string; allowance: bigint | null }[] = [
  { id: "tiny", allowance: 40n },
  { id: "small", allowance: 900n },
  { id: "large", allowance: 60_000n },
  { id: "unlimited", allowance: null },
];
const costs = [1, 1, 1, 1, 5, 10, 25];
const workersMax = 4;
const blockMax = 256;
/** A killed worker held, of each account, at most a lease, one being fetched (or reported), and what was waited for. */
const lostPerKillMax = accounts.length * (2 * blockMax + 2_000);
const startMs = Date.UTC(2026, 9, 30);

export class Simulation {
  readonly #course: Course;
  readonly #random: Random;
  readonly #store: SimulatedStore;
  readonly #clock = new ManualClock(startMs);
  readonly #workers: Worker[] = [];
  /** Credits granted to callers, less refunds: in all, and where it is certain of which month they are. */
  #granted = 0;
  readonly #grantedOfMonth = new Map<string, number>();
  readonly #refunds: Refund[] = [];
  /** How often the month changed, and to what. */
  #turns = 0;
  #shownMonth = monthOf(startMs);
  #isStopping = false;
  #kills = 0;
  #nextWorker = 0;

  constructor(course: Course) {
    this.#course = course;
    this.#random = seededRandom(course.seed);
    this.#store = new SimulatedStore(this.#random);
    for (let index = 0; index < workersMax; index += 1) this.#boot();
  }

  async play(): Promise<string | null> {
    for (let step = 0; step < this.#course.steps; step += 1) {
      await this.#step();
      const fault = this.#overdrawn();
      if (fault !== null) return `step ${step}: ${fault}`;
    }
    while (this.#refunds.length > 0) this.#refund();
    await this.#stopAll();
    if (this.#workers.some((worker) => worker.waiting > 0)) return "a take was never answered";
    return this.#settlement() ?? (await this.#lastCredits());
  }

  get summary(): string {
    return `${this.#course.name}: ${this.#granted} credits over ${this.#store.used.size} account months, ${this.#kills} kills`;
  }

  #boot(): void {
    this.#nextWorker += 1;
    const id = this.#nextWorker;
    const credits = createCredits(
      { blockMin: 8, blockMax, sweepIntervalMs: null, leaseTimeoutMs: 3_600_000 },
      { clock: this.#clock, store: this.#store.facet(id), log: { warn: () => undefined } },
    );
    this.#workers.push({ id, credits, isAlive: true, waiting: 0 });
  }

  async #step(): Promise<void> {
    const { killChance, jumpChance, failureChance } = this.#course;
    const worker = this.#workers[this.#upTo(this.#workers.length)];
    if (worker === undefined) throw new Error("no worker");
    const chance = this.#random.next();
    if (chance < killChance) this.#kill(worker);
    else if (chance < killChance + jumpChance) this.#clock.jump(startMs + this.#upTo(70 * 86_400_000));
    else if (chance < 0.05) void worker.credits.sweep();
    else if (chance < 0.08) this.#refund();
    else if (chance < 0.6) this.#take(worker);
    else this.#store.step(failureChance);
    this.#clock.advance(this.#upTo(200));
    const month = monthOf(this.#clock.now());
    if (month !== this.#shownMonth) this.#turns += 1;
    this.#shownMonth = month;
    await drainMicrotasks();
  }

  #take(worker: Worker): void {
    const account = accounts[this.#upTo(accounts.length)];
    const cost = costs[this.#upTo(costs.length)] ?? 1;
    if (account === undefined) return;
    const atMs = this.#clock.now();
    const month = monthOf(atMs);
    const turns = this.#turns;
    const outcome = worker.credits.take(account.id, account.allowance, cost);
    const isRefunded = this.#random.next() < 0.1;
    const record = (isTaken: boolean): void => {
      if (!isTaken || !worker.isAlive) return;
      // A take that waited over the turn of the month, or over a jump, may have been charged to either.
      const isCertain = this.#turns === turns;
      const name = isCertain ? `${account.id} ${month}` : null;
      this.#count(name, cost);
      if (isRefunded && isCertain) this.#refunds.push({ worker, accountId: account.id, name, cost, atMs });
    };
    if (typeof outcome === "boolean") record(outcome);
    else {
      worker.waiting += 1;
      const settle = (isTaken: boolean): void => {
        worker.waiting -= 1;
        record(isTaken);
        // A caller that asks again in the turn of its answer meets whatever is still being put in order.
        if (worker.isAlive && !this.#isStopping && this.#random.next() < 0.3) this.#take(worker);
      };
      outcome.then(settle, () => settle(false));
    }
  }

  #count(name: string | null, credits: number): void {
    this.#granted += credits;
    if (name !== null) this.#grantedOfMonth.set(name, (this.#grantedOfMonth.get(name) ?? 0) + credits);
  }

  /** A call that nobody could answer costs nothing: what it took comes back later, perhaps in another month. */
  #refund(): void {
    const [refund] = this.#refunds.splice(this.#upTo(this.#refunds.length), 1);
    if (refund === undefined || !refund.worker.isAlive) return;
    refund.worker.credits.refund(refund.accountId, refund.cost, refund.atMs);
    this.#count(refund.name, -refund.cost);
  }

  #kill(worker: Worker): void {
    worker.isAlive = false;
    this.#kills += 1;
    this.#store.orphan(worker.id);
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    this.#boot();
  }

  /** The allowance is never exceeded: not by what the store gave out, not by what callers got. */
  #overdrawn(): string | null {
    for (const { id, allowance } of accounts) {
      if (allowance === null) continue;
      for (const [name, used] of this.#store.used) {
        if (!name.startsWith(`${id} `)) continue;
        const granted = this.#grantedOfMonth.get(name) ?? 0;
        if (used > allowance || used < 0n) return `${name}: ${used} used of ${allowance}`;
        if (BigInt(granted) > allowance) return `${name}: ${granted} granted of ${allowance}`;
      }
    }
    return null;
  }

  async #stopAll(): Promise<void> {
    this.#isStopping = true;
    const stopping = Promise.all(this.#workers.map((worker) => worker.credits[Symbol.asyncDispose]()));
    let isStopped = false;
    void stopping.then(() => {
      isStopped = true;
    });
    while (!isStopped) {
      this.#store.step(0);
      await drainMicrotasks();
    }
  }

  /** What was used is what was granted, and beyond it only what kills and failures cost: never less. */
  #settlement(): string | null {
    let used = 0;
    for (const amount of this.#store.used.values()) used += Number(amount);
    const lost = used - this.#granted;
    const lostMax = this.#kills * lostPerKillMax + this.#store.lostByFailures;
    // A killed worker takes unlimited usage that was not reported yet with it: nobody is charged for that.
    const lostMin = this.#kills === 0 ? 0 : -this.#kills * 2_000;
    if (lost >= lostMin && lost <= lostMax) return null;
    return `${used} used, ${this.#granted} granted: ${lost} lost, of at most ${lostMax}`;
  }

  /** All that is left of an allowance can be had, to the last credit, by workers in turns. */
  async #lastCredits(): Promise<string | null> {
    this.#workers.splice(0);
    for (let index = 0; index < workersMax; index += 1) this.#boot();
    const account = accounts[1];
    if (account === undefined || account.allowance === null) return "no account";
    const left = Number(
      account.allowance - (this.#store.used.get(`${account.id} ${monthOf(this.#clock.now())}`) ?? 0n),
    );
    let taken = 0;
    for (let round = 0; round < 40 && taken < left; round += 1) {
      for (const worker of this.#workers) {
        for (let take = 0; take < left; take += 1) {
          if (!(await this.#settle(worker.credits.take(account.id, account.allowance, 1)))) break;
          taken += 1;
        }
      }
      this.#clock.advance(1_000);
      await this.#settle(Promise.all(this.#workers.map((worker) => worker.credits.sweep())));
    }
    await this.#stopAll();
    return taken === left ? null : `${taken} of the last ${left} credits could be taken`;
  }

  /** Plays the store until a promise is there. */
  async #settle<T>(outcome: T | Promise<T>): Promise<T> {
    if (!(outcome instanceof Promise)) return outcome;
    let isSettled = false;
    const settled = outcome.finally(() => {
      isSettled = true;
    });
    while (!isSettled) {
      this.#store.step(0);
      await drainMicrotasks();
    }
    return settled;
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }
}

/** Lets everything run that waits for nothing but its turn. */
async function drainMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 24; turn += 1) await Promise.resolve();
}
