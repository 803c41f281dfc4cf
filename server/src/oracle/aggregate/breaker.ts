import { absolute, type Decimal, decimal, divide, multiply, squareRoot, subtract, unit } from "../model/decimal.ts";

const jumpBase = decimal("0.15");
const jumpMax = decimal("0.25");
/** Of the square of the growth with time, per minute. */
const growthPerMinute = decimal("0.0075");
const agreeingRounds = 3;
/** Rounds closer in time than this count as one, because a burst of ticks gives many rounds of one opinion. */
const roundMsMin = 1_000;

/** The largest jump that passes at once, `sinceMs` after the last good price; it grows as a price's own spread does. */
export function jumpLimit(sinceMs: number): Decimal {
  const minutes = ((BigInt(Math.max(0, sinceMs)) * unit) / 60_000n) as Decimal;
  const limit = multiply(jumpBase, (unit + squareRoot(multiply(growthPerMinute, minutes))) as Decimal);
  if (limit > jumpMax) return jumpMax;
  return limit;
}

export interface LastGood {
  readonly price: Decimal;
  readonly atMs: number;
}

interface BreakerContext {
  readonly atMs: number;
  readonly last: LastGood | null;
  readonly reach: Decimal;
  readonly isUnproved: boolean;
}

/** Refuses a jump until the sources have agreed on it for three rounds. One for each symbol. */
export class Breaker {
  #held: { price: Decimal; rounds: number; countedAtMs: number } | null = null;

  /** Whether `price` passes. `reach` is the share within which two rounds agree. One that is `unproved` is a jump. */
  passes(price: Decimal, { atMs, last, reach, isUnproved }: BreakerContext): boolean {
    if (!isUnproved && (last === null || share(price, last.price) <= jumpLimit(atMs - last.atMs))) {
      this.#held = null;
      return true;
    }
    const held = this.#held;
    if (held === null || atMs < held.countedAtMs || share(price, held.price) > reach) {
      this.#held = { price, rounds: 1, countedAtMs: atMs };
      return false;
    }
    if (atMs - held.countedAtMs < roundMsMin) return false;
    const rounds = held.rounds + 1;
    this.#held = rounds < agreeingRounds ? { price, rounds, countedAtMs: atMs } : null;
    return rounds >= agreeingRounds;
  }

  /** Whether a jump waits for its rounds. */
  get isHolding(): boolean {
    return this.#held !== null;
  }

  /** A round that is refused for another reason ends the agreement. */
  interrupt(): void {
    this.#held = null;
  }
}

const share = (price: Decimal, from: Decimal): Decimal => divide(absolute(subtract(price, from)), from);
