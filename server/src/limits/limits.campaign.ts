import { ManualClock, type MonotonicMs, monotonicMs, seededRandom } from "@sluice/lib";
import { createLimits } from "./limits.ts";

/**
 * The rule in its plainest form: a level in exact fractions (bigint millionths) for one bucket that is never forgotten.
 */
class Reference {
  level: bigint | null = null;
  at = 0n;
  rate = 0n;
  burst = 0n;

  take(nowMicros: bigint, rate: bigint, burst: bigint, cost: bigint): boolean {
    if (this.level === null) {
      this.level = burst * 1_000_000n;
      this.at = nowMicros;
    } else if (nowMicros > this.at) {
      const grown = this.level + (nowMicros - this.at) * this.rate;
      const cap = this.burst * 1_000_000n;
      this.level = grown < cap ? grown : cap;
    }
    if (nowMicros > this.at) this.at = nowMicros;
    this.rate = rate;
    this.burst = burst;
    if (this.level > burst * 1_000_000n) this.level = burst * 1_000_000n;
    if (this.level < cost * 1_000_000n) return false;
    this.level -= cost * 1_000_000n;
    return true;
  }
}

/** A monotonic clock that misbehaves on demand, which no clock of a machine should. */
class JumpingClock extends ManualClock {
  #offsetMs = 0;

  override monotonic(): MonotonicMs {
    return monotonicMs(super.monotonic() + this.#offsetMs);
  }

  jumpMonotonic(byMs: number): void {
    this.#offsetMs += byMs;
  }
}

interface Course {
  readonly steps: number;
  readonly seed: number;
  readonly bucketsMax: number;
  /**
   * Whether a name keeps its tier. A bucket forgotten before a tier rises begins with the new burst, as a new name
   * does.
   */
  readonly fixedTiers: boolean;
}

const tiers = [10, 50, 200, 500, 1_000];

/** One course of takes; a fault is reported as text, the counts otherwise. */
function compare(course: Course): string | { allowed: number; refused: number } {
  const random = seededRandom(course.seed);
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  const clock = new JumpingClock(1_800_000_000_000);
  const limits = createLimits({ bucketsMax: course.bucketsMax }, { clock });
  const references = new Map<string, Reference>();
  const counts = { allowed: 0, refused: 0 };
  for (let step = 0; step < course.steps; step += 1) {
    const chance = random.next();
    if (chance < 0.005) clock.jumpMonotonic(-upTo(5_000));
    else if (chance < 0.01) clock.advance(upTo(86_400_000));
    else clock.advance(random.next() * (chance < 0.5 ? 2 : 40));
    // The names in use move on, so that old ones are left behind to be forgotten.
    const number = upTo(8) + Math.floor(step / 2_000) * 3;
    const name = `bucket:${number}`;
    const rate = tiers[course.fixedTiers ? number % tiers.length : upTo(tiers.length)] ?? 10;
    const burst = rate * 2;
    const cost = upTo(10) === 0 ? upTo(burst + 5) : 1;
    const reference = references.get(name) ?? new Reference();
    references.set(name, reference);
    const decision = limits.take(name, rate, burst, cost);
    const nowMicros = BigInt(Math.floor(clock.monotonic() * 1_000));
    const expected = reference.take(nowMicros, BigInt(rate), BigInt(burst), BigInt(cost));
    const remaining = Number((reference.level ?? 0n) / 1_000_000n);
    const isRight = decision.allowed === expected && decision.remaining === remaining;
    if (!isRight || decision.allowed !== (decision.retryAfterSeconds === 0)) {
      return `take ${step} of ${name}: ${JSON.stringify(decision)}, expected ${expected} with ${remaining}`;
    }
    if (decision.allowed) counts.allowed += 1;
    else counts.refused += 1;
  }
  return counts;
}

/**
 * Random takes on random buckets under a clock that also jumps, each decision compared with the reference: once with so
 * little room that full buckets are forgotten all the time, once with tiers that change at every take. `n` is the
 * number of takes in all.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const steps = Math.ceil(n / 2);
  const courses: Course[] = [
    { steps, seed, bucketsMax: 24, fixedTiers: true },
    { steps, seed: seed + 1, bucketsMax: 100_000, fixedTiers: false },
  ];
  const summaries: string[] = [];
  for (const course of courses) {
    const outcome = compare(course);
    if (typeof outcome === "string") return { passed: false, summary: `seed ${course.seed}: ${outcome}` };
    if (outcome.allowed === 0 || outcome.refused === 0)
      return { passed: false, summary: "a course decided one way only" };
    summaries.push(`${outcome.allowed} allowed and ${outcome.refused} refused`);
  }
  return { passed: true, summary: `${steps * 2} takes as the reference has them: ${summaries.join(", ")}` };
}
