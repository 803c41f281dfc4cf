import { absolute, add, type Decimal, decimal, divide, multiply, subtract, unit } from "../model/decimal.ts";

/**
 * What one dollar coin is worth in dollars, by which quotes in the coin are converted.
 * - `agreed`: the exchanges that trade in dollars agree on it.
 * - `held`: they do not, or are silent; the last agreed rate, whose error grows with its age.
 * - `unsure`: no usable rate; quotes in the coin are left out.
 */
export type CoinRate =
  | {
      readonly state: "agreed" | "held";
      readonly price: Decimal;
      /** How far it may be off, in dollars: an estimate, by which confidence falls. */
      readonly error: Decimal;
    }
  | {
      readonly state: "unsure";
      /** Whether USDC/USDT shows that one of the coins has left the dollar. */
      readonly isDepegged: boolean;
    };

export const unsure: CoinRate = { state: "unsure", isDepegged: false };

/** This far from the dollar a coin has left it. */
const depegMin = decimal("0.005");
const hasLeft = (price: Decimal): boolean => absolute(subtract(price, unit)) > depegMin;

/** Whether a coin has left the dollar, as far as is known. */
export const isDepegged = (rate: CoinRate): boolean =>
  rate.state === "unsure" ? rate.isDepegged : hasLeft(rate.price);

/** What is known of USDT at one moment. */
export interface RateEvidence {
  readonly atMs: number;
  /** One estimate of USDT in dollars for each exchange that trades in dollars and is heard, sorted. */
  readonly estimates: readonly Decimal[];
  /** USDC in USDT, by a majority of all exchanges; null while fewer than three tell it. */
  readonly usdcInUsdt: Decimal | null;
}

/**
 * Estimates this close agree. An honest one among those that agree bounds the error of what is made of them by two
 * thirds of it; it grows by a tenth of what USDC/USDT has left parity, since exchanges differ in a real depeg.
 */
const agreement = decimal("0.0006");
const agreementMax = decimal("0.003");
const meanMax = decimal("0.0002");
const depegShare = 10n;
/**
 * How far a claim may go beyond what USDC/USDT shows. All dollar exchanges together can move the rate by this much and
 * no further while the two coins are at parity.
 */
const beyondCross = decimal("0.002");
/** How long a rate serves that exchanges dispute, and one of which no exchange speaks while USDC/USDT stands still. */
const disputedMs = 600_000;
const silentMs = 3_600_000;
/** Growth of a held rate's error: a basis point for each half minute. */
const errorPerMs = decimal("0.0001") / 30_000n;
/** Part (one in 20) of the distance from parity that is added to the error: a falling coin moved since it was read. */
const errorOfDepeg = 20n;

interface Agreed {
  readonly price: Decimal;
  readonly error: Decimal;
  /** USDC in USDT when it was agreed. */
  readonly usdcInUsdt: Decimal | null;
  readonly atMs: number;
}

/**
 * The rate of USDT. Every price in USDT rests on it, and only the few exchanges that trade in dollars know it, so a
 * majority of them is not enough: two of three could move all prices. A new rate needs agreement of all whose claim is
 * plausible; while they disagree, the last agreed rate serves for a time.
 */
export class DollarRate {
  #agreed: Agreed | null = null;
  /** When the last agreed rate was last supported, and until when it is held since. */
  #supportedAtMs = 0;
  #heldUntilMs = 0;
  #rate: CoinRate = unsure;

  get rate(): CoinRate {
    return this.#rate;
  }

  /** The next time at which the rate changes without further evidence; infinite when it does not. */
  get expiresAtMs(): number {
    return this.#rate.state === "held" ? this.#heldUntilMs + 1 : Number.POSITIVE_INFINITY;
  }

  next(evidence: RateEvidence): CoinRate {
    const rate = this.#next(evidence);
    const { usdcInUsdt } = evidence;
    const isParted = usdcInUsdt !== null && hasLeft(usdcInUsdt);
    this.#rate = rate.state === "unsure" && isParted ? { state: "unsure", isDepegged: true } : rate;
    return this.#rate;
  }

  /** Forgets everything, after the clock was set. */
  reset(): void {
    this.#agreed = null;
    this.#rate = unsure;
  }

  #next(evidence: RateEvidence): CoinRate {
    const { estimates, usdcInUsdt, atMs } = evidence;
    const claims = estimates.filter((claim) => isPlausible(claim, usdcInUsdt));
    const width = agreementWidth(claims, usdcInUsdt);
    const isUnanimous = isWithin(claims, width);
    // One alone is believed where nobody contradicts it, and only as far as the crosses allow.
    const isAlone = estimates.length === 1 && usdcInUsdt !== null;
    if (isUnanimous && claims.length > (isAlone ? 0 : 1)) return this.#agree(claims, width, evidence);
    if (usdcInUsdt === null) {
      // Too few exchanges quote in USDT to tell; most of those in dollars are most of all.
      const most = agreeing(claims, claims.length === 0 ? unit : medianOf(claims), width);
      if (most.length > 1 && most.length * 2 > estimates.length) return this.#agree(most, width, evidence);
    }
    const before = this.#agreed;
    if (before === null) return unsure;
    const moved = movedByCross(before, usdcInUsdt);
    const isQuiet = isNear(moved, before.price, (width / 2n) as Decimal);
    const isStaying = agreeing(claims, before.price, width).length > 0;
    // Others are beyond belief: what is left stays, or moves as the crosses say that USDT alone did.
    const price = isUnanimous && !isStaying ? moved : before.price;
    const supporters = agreeing(claims, price, width);
    // Supporters on both sides of the agreed rate dispute it as well.
    const isMost = supporters.length * 2 > estimates.length && isQuiet && isWithin(supporters, width);
    if (supporters.length > 0 && (isUnanimous || isMost)) {
      this.#supportedAtMs = atMs;
      // The agreed rate itself: two of three that support it from a width away would move it by that much again.
      return { state: "agreed", price, error: errorOf(before.error, usdcInUsdt) };
    }
    return this.#hold(before, atMs, estimates.length === 0 && isQuiet ? silentMs : disputedMs);
  }

  #agree(claims: readonly Decimal[], width: Decimal, { atMs, usdcInUsdt }: RateEvidence): CoinRate {
    const price = middleOf(claims);
    const spread = subtract(claims.at(-1) ?? price, claims[0] ?? price);
    // One exchange alone shows no differences; it may be wrong by the width that it is believed within.
    const error = claims.length === 1 ? width : ((spread / 2n) as Decimal);
    this.#agreed = { price, error, usdcInUsdt, atMs };
    this.#supportedAtMs = atMs;
    return { state: "agreed", price, error: errorOf(error, usdcInUsdt) };
  }

  #hold({ price, error, usdcInUsdt }: Agreed, atMs: number, lastsMs: number): CoinRate {
    const ageMs = Math.max(0, atMs - this.#supportedAtMs);
    this.#heldUntilMs = this.#supportedAtMs + lastsMs;
    if (ageMs > lastsMs) return unsure;
    const grown = (errorOf(error, usdcInUsdt) + errorPerMs * BigInt(ageMs)) as Decimal;
    return { state: "held", price, error: grown };
  }
}

/**
 * Whether a claim lies between the two ways to read USDC/USDT, of which either coin alone left the dollar, or near
 * them. That both left it in step no other exchange can tell from a lie. Without USDC/USDT everything is plausible.
 */
function isPlausible(claim: Decimal, usdcInUsdt: Decimal | null): boolean {
  if (usdcInUsdt === null) return true;
  const alone = divide(unit, usdcInUsdt);
  const [low, high] = alone < unit ? [alone, unit] : [unit, alone];
  return claim >= low - beyondCross && claim <= high + beyondCross;
}

/** Where the rate is when USDT alone moved since the agreement; the agreed rate when that is not known. */
function movedByCross({ price, usdcInUsdt: before }: Agreed, now: Decimal | null): Decimal {
  return before === null || now === null ? price : divide(multiply(price, before), now);
}

function agreementWidth(claims: readonly Decimal[], usdcInUsdt: Decimal | null): Decimal {
  if (claims.length === 0) return agreement;
  const stands = usdcInUsdt === null ? medianOf(claims) : divide(unit, usdcInUsdt);
  const width = agreement + absolute(subtract(stands, unit)) / depegShare;
  return (width > agreementMax ? agreementMax : width) as Decimal;
}

const errorOf = (error: Decimal, usdcInUsdt: Decimal | null): Decimal =>
  (usdcInUsdt === null ? error : error + absolute(subtract(usdcInUsdt, unit)) / errorOfDepeg) as Decimal;

const agreeing = (claims: readonly Decimal[], rate: Decimal, width: Decimal): Decimal[] =>
  claims.filter((claim) => isNear(claim, rate, width));

/** Whether sorted values lie within a width of each other. */
const isWithin = (sorted: readonly Decimal[], width: Decimal): boolean =>
  subtract(sorted.at(-1) ?? unit, sorted[0] ?? unit) <= width;

const isNear = (value: Decimal, to: Decimal, by: Decimal): boolean => absolute(subtract(value, to)) <= by;

/**
 * The mean of sorted claims, but no further than `meanMax` from their median. The median alone gives two liars of three
 * the whole width, the mean two thirds of it; in a depeg, when the width is large, one liar moves the mean too far.
 */
function middleOf(claims: readonly Decimal[]): Decimal {
  const median = medianOf(claims);
  const mean = claims.reduce((sum, value) => sum + value, 0n) / BigInt(claims.length);
  if (mean > median + meanMax) return add(median, meanMax);
  return mean < median - meanMax ? subtract(median, meanMax) : (mean as Decimal);
}

/** The median of sorted values. @throws {RangeError} when there are none */
export function medianOf(sorted: readonly Decimal[]): Decimal {
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new RangeError("the median of no values");
  return ((low + high) / 2n) as Decimal;
}
