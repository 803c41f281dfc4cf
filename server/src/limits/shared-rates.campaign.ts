import { ManualClock, type Random, seededRandom } from "@sluice/lib";
import type { SharedLimits } from "./shared-interfaces.ts";
import { createSharedLimits } from "./shared-limits.ts";
import { SimulatedStore } from "./testing/simulated-store.ts";

/** One play: what goes wrong how often, and what that may cost. */
interface Course {
  readonly name: string;
  readonly steps: number;
  readonly seed: number;
  readonly killChance: number;
  readonly lossChance: number;
  readonly jumpChance: number;
  /** Whether all that flows in is asked for and must be given, but for one part in a thousand. */
  readonly isFullyUsed: boolean;
}

interface Worker {
  readonly holder: string;
  readonly limits: SharedLimits;
}

const tiers = [10, 50, 200, 1_000];
const workersMax = 4;
const knownAfterMs = 2_000;

/**
 * One bucket over real time, in the plainest form. Grants keep within `burst + rate x time` over every span exactly
 * when this never falls below zero.
 */
class Reference {
  level: number;
  atMs: number;
  granted = 0;
  readonly sinceMs: number;
  readonly rate: number;
  readonly burst: number;

  constructor(rate: number, nowMs: number) {
    this.rate = rate;
    this.burst = rate * 2;
    this.level = this.burst;
    this.atMs = nowMs;
    this.sinceMs = nowMs;
  }

  grant(nowMs: number, cost: number): number {
    this.level = Math.min(this.burst, this.level + ((nowMs - this.atMs) * this.rate) / 1_000) - cost;
    this.atMs = nowMs;
    this.granted += cost;
    return this.level;
  }
}

class Simulation {
  readonly #course: Course;
  readonly #random: Random;
  readonly #clock = new ManualClock(1_800_000_000_000);
  readonly #store: SimulatedStore;
  readonly #references: readonly Reference[];
  readonly #workers: Worker[] = [];
  #booted = 0;
  #fault: string | null = null;
  #lowest = 0;
  kills = 0;
  losses = 0;
  allowed = 0;
  refused = 0;

  constructor(course: Course) {
    this.#course = course;
    this.#random = seededRandom(course.seed);
    this.#store = new SimulatedStore(this.#clock, this.#random);
    this.#references = tiers.map((rate) => new Reference(rate, this.#clock.monotonic()));
    for (let index = 0; index < workersMax; index += 1) this.#boot();
  }

  async play(): Promise<string | null> {
    for (const worker of this.#workers) void worker.limits.tick();
    for (let step = 0; step < this.#course.steps && this.#fault === null; step += 1) {
      await this.#step();
    }
    return this.#fault ?? (this.#course.isFullyUsed ? this.#unused() : null);
  }

  get summary(): string {
    const { name } = this.#course;
    const bursts = Math.max(0, -this.#lowest).toFixed(2);
    const counts = `${this.allowed} allowed, ${this.refused} refused, ${this.kills} kills, ${this.losses} losses`;
    return `${name}: ${counts}, at most ${bursts} bursts beyond one bucket`;
  }

  /**
   * What losing Redis may give beyond one bucket: the shares' own fullness once, and for each loss the second that it
   * takes until all have noticed its end, when some go by their shares and others by the bucket. Else nothing.
   */
  get #extraBursts(): number {
    return this.losses === 0 ? 0 : 1 + this.losses * 0.75;
  }

  #boot(): void {
    this.#booted += 1;
    const holder = `worker-${this.#booted}`;
    const events = { sharingLost: () => {}, sharingRestored: () => {}, replicasCounted: () => {} };
    const limits = createSharedLimits(
      { holder, tickIntervalMs: null, waitMs: 3_600_000 },
      { clock: this.#clock, store: this.#store, events },
    );
    this.#workers.push({ holder, limits });
  }

  async #step(): Promise<void> {
    const { killChance, lossChance, jumpChance } = this.#course;
    const worker = this.#workers[this.#upTo(this.#workers.length)];
    if (worker === undefined) throw new Error("no worker");
    const chance = this.#random.next();
    if (chance < killChance && !this.#store.isLost) this.#kill(worker);
    else if (chance < killChance + lossChance) this.#lose();
    else if (chance < killChance + lossChance + jumpChance) this.#jump();
    // Each process sweeps four times a second, and a step is a millisecond and a half.
    else if (this.#random.next() < 0.025) void worker.limits.tick();
    else
      for (let takes = 0; takes < 8; takes += 1) this.#take(this.#workers[this.#upTo(this.#workers.length)] ?? worker);
    for (let steps = 0; steps < 12; steps += 1) this.#store.step();
    await drainMicrotasks();
    this.#clock.advance(this.#random.next() * 3);
  }

  #take({ holder, limits }: Worker): void {
    const index = this.#upTo(tiers.length);
    const reference = this.#references[index];
    if (reference === undefined) return;
    const cost = this.#upTo(20) === 0 ? 1 + this.#upTo(5) : 1;
    const outcome = limits.take(`bucket ${index}`, reference.rate, reference.burst, cost);
    const record = ({ allowed }: { readonly allowed: boolean }): void => {
      if (!allowed) {
        this.refused += 1;
        return;
      }
      // What a killed process would have answered was not received.
      if (!this.#workers.some((worker) => worker.holder === holder)) return;
      this.allowed += 1;
      const level = reference.grant(this.#clock.monotonic(), cost);
      this.#lowest = Math.min(this.#lowest, level / reference.burst);
      // Redis counts whole milliseconds: a millisecond's tokens may come a millisecond early.
      if (level >= -reference.rate / 1_000 - reference.burst * this.#extraBursts) return;
      this.#fault ??= `bucket of ${reference.rate}/s: ${-level} tokens beyond one bucket`;
    };
    if (outcome instanceof Promise) void outcome.then(record);
    else record(outcome);
  }

  #kill(worker: Worker): void {
    this.kills += 1;
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    this.#store.orphan(worker.holder);
    this.#boot();
    void this.#workers.at(-1)?.limits.tick();
  }

  /** Redis is lost, or back. Processes that have only just started do not know yet how many they are. */
  #lose(): void {
    if (this.#clock.monotonic() < knownAfterMs) return;
    this.#store.isLost = !this.#store.isLost;
    if (this.#store.isLost) this.losses += 1;
  }

  /** The machines' wall clocks move at will, Redis's own never forward: that would be a refill. */
  #jump(): void {
    this.#clock.jump(1_700_000_000_000 + this.#upTo(200_000_000_000));
    if (this.#upTo(2) === 0) this.#store.aheadMs -= this.#upTo(500);
  }

  /** Demand is beyond every rate: what flowed in was given, but for a thousandth and what is held by a process. */
  #unused(): string | null {
    for (const { rate, burst, granted, atMs, sinceMs } of this.#references) {
      const flowed = burst + ((atMs - sinceMs) * rate) / 1_000;
      const inHands = workersMax * Math.max(2, rate / 8) + 1;
      if (granted < flowed * 0.999 - inHands) return `bucket of ${rate}/s: ${granted} given of ${flowed}`;
    }
    return null;
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }
}

/** Lets everything run that waits for nothing but its turn. */
async function drainMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
}

/**
 * Several processes spend from the same four buckets through a store that answers late and in any order. `n` is the
 * number of steps in all.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const calm = { killChance: 0, lossChance: 0, jumpChance: 0, isFullyUsed: false };
  const steps = Math.ceil(n / 4);
  const courses: Course[] = [
    { ...calm, name: "calm", steps, seed, isFullyUsed: true },
    { ...calm, name: "kills and jumping clocks", steps, seed: seed + 1, killChance: 0.004, jumpChance: 0.004 },
    { ...calm, name: "losses of Redis", steps, seed: seed + 2, lossChance: 0.002 },
    {
      ...calm,
      name: "all of it",
      steps,
      seed: seed + 3,
      killChance: 0.002,
      lossChance: 0.002,
      jumpChance: 0.002,
    },
  ];
  const summaries: string[] = [];
  for (const course of courses) {
    const simulation = new Simulation(course);
    const fault = await simulation.play();
    const summary = fault === null ? simulation.summary : `${course.name}, seed ${course.seed}: ${fault}`;
    if (fault !== null) return { passed: false, summary };
    if (simulation.allowed === 0 || simulation.refused === 0) return { passed: false, summary: "decided one way only" };
    summaries.push(summary);
  }
  return { passed: true, summary: summaries.join("; ") };
}
