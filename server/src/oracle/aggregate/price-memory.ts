import { absolute, type Decimal, decimal, divide, multiply, squareRoot, subtract, unit } from "../model/decimal.ts";
import type { PricedRound, Round } from "../model/round.ts";

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

interface Jump {
  readonly price: Decimal;
  readonly rounds: number;
  readonly countedAtMs: number;
}

/**
 * All that a symbol remembers of its price: the last good one, and a jump away from it that waits until the sources
 * have agreed on it for three rounds.
 */
export class PriceMemory {
  #last: PricedRound | null = null;
  #jump: Jump | null = null;

  /** The last round that had a price, however old. */
  get last(): PricedRound | null {
    return this.#last;
  }

  /**
   * Whether a price is no jump, or one on which the sources have agreed for three rounds. `reach` is the share within
   * which two rounds agree. One that is `unproved` is a jump.
   */
  passes(price: Decimal, { atMs, reach, isUnproved }: { atMs: number; reach: Decimal; isUnproved: boolean }): boolean {
    const [last, jump] = [this.#last, this.#jump];
    if (!isUnproved && (last === null || share(price, last.price) <= jumpLimit(atMs - last.atMs))) {
      this.#jump = null;
      return true;
    }
    if (jump === null || atMs < jump.countedAtMs || share(price, jump.price) > reach) {
      this.#jump = { price, rounds: 1, countedAtMs: atMs };
      return false;
    }
    if (atMs - jump.countedAtMs < roundMsMin) return false;
    const rounds = jump.rounds + 1;
    this.#jump = rounds < agreeingRounds ? { price, rounds, countedAtMs: atMs } : null;
    return rounds >= agreeingRounds;
  }

  /** Takes the round that was made. One that is refused for another reason than the jump itself ends its rounds. */
  take(round: Round): void {
    if (round.kind === "price") this.#last = round;
    else if (round.reason !== "breaker") this.#jump = null;
  }
}

const share = (price: Decimal, from: Decimal): Decimal => divide(absolute(subtract(price, from)), from);
