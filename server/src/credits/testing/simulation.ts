import { ManualClock, type Random, seededRandom } from "@sluice/lib";
import { monthOf } from "../account-credits.ts";
import { SimulatedAdvances } from "./simulated-advances.ts";
import { SimulatedStore, type StoreFaults } from "./simulated-store.ts";
import { accounts, Verifier } from "./simulated-verifier.ts";
import { SimulatedWorkers, type Worker } from "./simulated-workers.ts";

/** One play of the simulation: how long it is, and what goes wrong how often. */
export interface Course extends StoreFaults {
  readonly name: string;
  readonly steps: number;
  readonly seed: number;
  readonly killChance: number;
  /** Of a kill: that the machine goes down with the process, and its tally with it. */
  readonly crashChance: number;
  readonly jumpChance: number;
  /** Of a step: that the store goes away for all. It is back after some hundred steps. */
  readonly outageChance: number;
  /** Whether those who settle for the dead are killed too. */
  readonly killsSettlers: boolean;
}

interface Refund {
  readonly worker: Worker;
  readonly accountId: string;
  readonly name: string | null;
  readonly cost: number;
  readonly atMs: number;
}

const costs = [1, 1, 1, 1, 5, 10, 25];
const workersMax = 4;
const startMs = Date.UTC(2026, 9, 30);

export class Simulation {
  readonly #course: Course;
  readonly #random: Random;
  readonly #store: SimulatedStore;
  readonly #advances: SimulatedAdvances;
  readonly #clock = new ManualClock(startMs);
  readonly #workers: SimulatedWorkers;
  readonly #verifier: Verifier;
  readonly #refunds: Refund[] = [];
  /** How often the month changed, and to what. */
  #turns = 0;
  #shownMonth = monthOf(startMs);
  #isStopping = false;
  /** What came of it; there when it was played. */
  summary = "";

  constructor(course: Course) {
    this.#course = course;
    this.#random = seededRandom(course.seed);
    this.#store = new SimulatedStore(course, this.#random);
    this.#advances = new SimulatedAdvances(workersMax, this.#random);
    const stores = { store: this.#store, advances: this.#advances };
    this.#workers = new SimulatedWorkers(stores, this.#clock, this.#random);
    this.#verifier = new Verifier(this.#store, this.#advances);
    for (let index = 0; index < workersMax; index += 1) this.#workers.boot();
  }

  async play(): Promise<string | null> {
    const { isLate, killsSettlers } = this.#course;
    // Calls that the database carries out late and the death of who settles may fall together.
    const mayChargeTwice = isLate && killsSettlers;
    for (let step = 0; step < this.#course.steps; step += 1) {
      await this.#step();
      const fault = this.#verifier.overdrawn(mayChargeTwice);
      if (fault !== null) return `step ${step}: ${fault}`;
    }
    this.#store.isAway = false;
    while (this.#refunds.length > 0) this.#refund();
    await this.#stopAll();
    if (this.#workers.alive.some((worker) => worker.waiting > 0)) return "a take was never answered";
    this.#store.finishLate();
    await this.#settled(this.#workers.settleAll());
    const { kills, crashes } = this.#workers;
    const fault = this.#verifier.settlement(kills, mayChargeTwice ? kills : crashes);
    this.summary = this.#summarise();
    if (this.#course.outageChance > 0 && this.#advances.charged === 0) return "no advance was spent";
    return fault ?? (await this.#lastCredits());
  }

  #summarise(): string {
    const { kills, crashes } = this.#workers;
    const over = accounts.map(({ id }) => this.#verifier.overcharge(id)).join(", ");
    const deaths = kills === 0 ? "" : `, ${kills} kills, ${crashes} with the machine, charged beyond: ${over}`;
    const advanced = [...this.#advances.recorded.values()].reduce((sum, credits) => sum + credits, 0);
    const away = advanced === 0 ? "" : `, ${advanced} advanced, ${this.#advances.charged} of them spent and charged`;
    return `${this.#course.name}: ${this.#verifier.granted} credits in ${this.#store.meter.months.size} account months${deaths}${away}`;
  }

  async #step(): Promise<void> {
    const { killChance, crashChance, jumpChance, outageChance } = this.#course;
    if (this.#store.isAway) this.#store.isAway = this.#random.next() >= 0.005;
    else if (outageChance > 0) this.#store.isAway = this.#random.next() < outageChance;
    if (this.#random.next() < 0.2) this.#advances.step();
    const worker = this.#workers.alive[this.#upTo(this.#workers.alive.length)];
    if (worker === undefined) throw new Error("no worker");
    const chance = this.#random.next();
    if (chance < killChance) this.#kill(worker, this.#random.next() < crashChance);
    else if (chance < killChance + jumpChance) this.#clock.jump(startMs + this.#upTo(70 * 86_400_000));
    else if (chance < 0.05) void worker.credits.sweep();
    else if (chance < 0.08) this.#refund();
    else if (chance < 0.085) this.#settleDead();
    else if (chance < 0.6) this.#take(worker);
    else this.#store.step();
    this.#clock.advance(this.#upTo(200));
    const month = monthOf(this.#clock.now());
    if (month !== this.#shownMonth) this.#turns += 1;
    this.#shownMonth = month;
    await drainMicrotasks();
  }

  #settleDead(): void {
    if (this.#course.killsSettlers && this.#random.next() < 0.3) this.#workers.killSettler();
    else this.#workers.startSettling();
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
      this.#verifier.count(account.id, name, cost);
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

  /** A call that could not be answered costs nothing: what it took comes back later, perhaps in another month. */
  #refund(): void {
    const [refund] = this.#refunds.splice(this.#upTo(this.#refunds.length), 1);
    if (refund === undefined || !refund.worker.isAlive) return;
    refund.worker.credits.refund(refund.accountId, refund.cost, refund.atMs);
    this.#verifier.count(refund.accountId, refund.name, -refund.cost);
  }

  #kill(worker: Worker, isCrash: boolean): void {
    this.#workers.kill(worker, isCrash);
    this.#workers.boot();
  }

  async #stopAll(): Promise<void> {
    this.#isStopping = true;
    await this.#settled(Promise.all(this.#workers.alive.slice().map((worker) => this.#workers.end(worker))));
  }

  /** All that is left of an allowance can be had, to the last credit, by workers in turns. */
  async #lastCredits(): Promise<string | null> {
    this.#workers.alive.splice(0);
    for (let index = 0; index < workersMax; index += 1) this.#workers.boot();
    const account = accounts[1];
    if (account === undefined || account.allowance === null) return "no account";
    const used = this.#store.meter.usedNow(account.id, monthOf(this.#clock.now()));
    const left = Math.max(0, Number(account.allowance - used));
    let taken = 0;
    for (let round = 0; round < 40 && taken < left; round += 1) {
      for (const worker of this.#workers.alive) {
        for (let take = 0; take < left; take += 1) {
          if (!(await this.#settled(worker.credits.take(account.id, account.allowance, 1)))) break;
          taken += 1;
        }
      }
      this.#clock.advance(1_000);
      await this.#settled(Promise.all(this.#workers.alive.map((worker) => worker.credits.sweep())));
    }
    await this.#stopAll();
    return taken === left ? null : `${taken} of the last ${left} credits could be taken`;
  }

  /** Plays the store, which fails no more, until a promise is there. */
  async #settled<T>(outcome: T | Promise<T>): Promise<T> {
    if (!(outcome instanceof Promise)) return outcome;
    let isSettled = false;
    const settled = outcome.finally(() => {
      isSettled = true;
    });
    while (!isSettled) {
      this.#store.step(false);
      this.#advances.step();
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
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
}
