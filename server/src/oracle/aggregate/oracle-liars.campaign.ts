/**
 * The real eight exchanges with their real currencies: for sets of liars of every size, the worst lie that a search
 * finds, by how far a served price is from the truth. `n` is the number of rounds simulated for each size.
 */
import { oracleMajors } from "@sluice/contract/oracle";
import { type Random, seededRandom } from "@sluice/lib";
import type { SourceId } from "../model/tick.ts";
import { exchanges } from "../sources/exchanges/index.ts";
import {
  deviationBps,
  type Lie,
  listedBy,
  type PricedSymbol,
  pricedSymbols,
  RealEight,
  shapes,
  targets,
} from "./testing/real-eight.ts";

/** Honest seconds before a lie, and seconds of it: four of its periods, within these bounds. */
const warmUp = 20;
const lyingSecondsMin = 60;
const lyingSecondsMax = 1_200;
const lyingSecondsOf = ({ period }: Lie): number => Math.min(lyingSecondsMax, Math.max(lyingSecondsMin, 4 * period));
/** Basis points that a minority may move a major: an honest spread of some 4 beside the goal's 10 elsewhere. */
const majorMaxBps = 10;
/** FTT moves three basis points a second and has four exchanges: twice its honest spread. */
const otherMaxBps = 24;
/** All exchanges in dollars together move the rate of USDT within its peg (docs/decisions/0033). */
const dollarsMaxBps = 26;
/** Beyond this a lie is obvious, and takes no price away. */
const obviousBps = 100;

const dollars: readonly SourceId[] = ["coinbase", "kraken", "bitstamp"];
const majors: ReadonlySet<string> = new Set(oracleMajors);
const listed = new Map(pricedSymbols.map((symbol) => [symbol, listedBy(symbol)]));

interface Outcome {
  /** Largest distance of a served price from the truth where the liars are a minority, by what is allowed. */
  readonly worst: number;
  readonly worstBps: number;
  /** Largest distance in symbols in which they are not. */
  readonly majorityBps: number;
  /** Share of the rounds of symbols with a lying minority that have no price. */
  readonly refused: number;
}

const isMinority = (liars: ReadonlySet<SourceId>, symbol: PricedSymbol): boolean => {
  const of = listed.get(symbol) ?? new Set();
  return liars.size * 2 < exchanges.length && [...liars].filter((id) => of.has(id)).length * 2 < of.size;
};

const allowedBps = (liars: ReadonlySet<SourceId>, symbol: PricedSymbol): number => {
  const bound = majors.has(symbol) ? majorMaxBps : otherMaxBps;
  return dollars.every((id) => liars.has(id)) ? Math.max(bound, dollarsMaxBps) : bound;
};

function evaluate(liars: ReadonlySet<SourceId>, lie: Lie, seed: number): Outcome {
  const market = new RealEight({ liars, lie }, seededRandom(seed));
  for (let second = 0; second < warmUp; second += 1) market.step(null);
  let [worst, worstBps, majorityBps, refused, rounds] = [0, 0, 0, 0, 0];
  for (let since = 0; since < lyingSecondsOf(lie); since += 1) {
    for (const [symbol, round] of market.step(since)) {
      const bps = deviationBps(round, market.truth(symbol));
      if (!isMinority(liars, symbol)) {
        majorityBps = Math.max(majorityBps, bps ?? 0);
        continue;
      }
      rounds += 1;
      if (bps === null) refused += 1;
      else if (bps / allowedBps(liars, symbol) > worst) {
        worst = bps / allowedBps(liars, symbol);
        worstBps = bps;
      }
    }
  }
  return { worst, worstBps, majorityBps, refused: refused / Math.max(1, rounds) };
}

const pick = <T>(values: readonly T[], random: Random): T => values[Math.floor(random.next() * values.length)] as T;
const signed = (random: Random, size: number): number => (random.next() < 0.5 ? -1 : 1) * size;

/** Sizes from below the noise to a hundred times the price. */
const drawnBps = (random: Random): number => signed(random, 10 ** (random.next() * 5.5 - 0.5));

function drawLie(random: Random): Lie {
  const bps = drawnBps(random);
  return {
    shape: pick(shapes, random),
    target: pick(targets, random),
    bps,
    coinBps: random.next() < 0.5 ? bps : drawnBps(random),
    period: Math.ceil(10 ** (random.next() * 2.5)),
    volume: pick([0, 0.01, 1, 100, 1e9], random),
    away: random.next() < 0.7 ? 0 : random.next(),
  };
}

/** One parameter of a lie changed. */
function nearby(lie: Lie, random: Random): Lie {
  const factor = pick([0.5, 0.8, 0.9, 1.1, 1.25, 2, -1], random);
  const changes: readonly (() => Partial<Lie>)[] = [
    () => ({ bps: lie.bps * factor }),
    () => ({ coinBps: lie.coinBps * factor }),
    () => ({ bps: lie.bps * factor, coinBps: lie.coinBps * factor }),
    () => ({ coinBps: lie.bps }),
    () => ({ period: Math.max(1, Math.ceil(lie.period * Math.abs(factor))) }),
    () => ({ shape: pick(shapes, random) }),
    () => ({ target: pick(targets, random) }),
    () => ({ volume: pick([0, 1, 1e9], random) }),
    () => ({ away: random.next() < 0.5 ? 0 : random.next() }),
  ];
  return { ...lie, ...pick(changes, random)() };
}

function subsetsOf(size: number): ReadonlySet<SourceId>[] {
  const ids = exchanges.map(({ id }) => id);
  const all: ReadonlySet<SourceId>[] = [];
  for (let bits = 1; bits < 2 ** ids.length; bits += 1) {
    const chosen = ids.filter((_, place) => (bits & (1 << place)) !== 0);
    if (chosen.length === size) all.push(new Set(chosen));
  }
  return all;
}

interface Found {
  readonly liars: ReadonlySet<SourceId>;
  readonly lie: Lie;
  readonly outcome: Outcome;
}

/** Steps of one search from a drawn lie. */
const climbs = 6;

/** The worst lies of sets of one size, one after the other for as long as there are rounds left. */
function search(size: number, rounds: number, random: Random): { found: Found; refused: number; obvious: number } {
  const subsets = subsetsOf(size);
  let best: Found | null = null;
  let [refused, obviousRefused, obvious, made, left] = [0, 0, 0, 0, rounds];
  for (let at = 0; left > 0; at += 1) {
    const liars = subsets[at % subsets.length] ?? new Set();
    let current: Found | null = null;
    for (let climb = 0; climb < climbs && left > 0; climb += 1) {
      const lie: Lie = current === null ? drawLie(random) : nearby(current.lie, random);
      const outcome = evaluate(liars, lie, Math.floor(random.next() * 2 ** 31));
      made += 1;
      left -= (warmUp + lyingSecondsOf(lie)) * pricedSymbols.length;
      refused += outcome.refused;
      if (isObvious(lie, liars)) {
        obvious += 1;
        obviousRefused += outcome.refused;
      }
      const found = { liars, lie, outcome };
      if (current === null || scoreOf(found) > scoreOf(current)) current = found;
      if (best === null || scoreOf(found) > scoreOf(best)) best = found;
    }
  }
  if (best === null) throw new Error("nothing was searched");
  return { found: best, refused: refused / made, obvious: obvious === 0 ? 0 : obviousRefused / obvious };
}

/** A majority is bound by nothing but continuity: what it reaches is reported. */
const scoreOf = ({ liars, outcome }: Found): number =>
  liars.size * 2 < exchanges.length ? outcome.worst : outcome.majorityBps;

/** Far off all the time on everything that it is about, by exchanges of which at least one in dollars is honest. */
const isObvious = ({ shape, bps, coinBps, target }: Lie, liars: ReadonlySet<SourceId>): boolean =>
  shape === "offset" &&
  target === "all" &&
  Math.min(Math.abs(bps), Math.abs(coinBps)) > 2 * obviousBps &&
  !dollars.every((id) => liars.has(id));

const described = ({ liars, lie }: Found): string => {
  const { shape, target, bps, coinBps, period, volume, away } = lie;
  const turn = `period ${period} s, volume ${volume}, away ${away.toFixed(2)}`;
  return `${[...liars].join("+")}: ${shape} ${bps.toFixed(1)} bps, USDT ${coinBps.toFixed(1)} bps, on ${target}, ${turn}`;
};

export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let passed = true;
  const lines: string[] = [];
  for (let size = 1; size <= 7; size += 1) {
    const { found, refused, obvious } = search(size, n, seededRandom(seed * 100 + size));
    const { outcome } = found;
    const isRight = outcome.worst <= 1 && obvious <= 0.001;
    passed &&= isRight;
    const figures =
      size * 2 < exchanges.length
        ? `worst ${outcome.worstBps.toFixed(1)} bps (${outcome.worst.toFixed(2)} of what is allowed)`
        : `a majority, or half, reached ${outcome.majorityBps.toFixed(0)} bps`;
    const without = `without a price ${(refused * 100).toFixed(2)}%, of obvious lies ${(obvious * 100).toFixed(2)}%`;
    lines.push(`${isRight ? " " : "!"} ${size} of 8: ${figures}; ${without}; ${described(found)}`);
  }
  return { passed, summary: lines.join("\n") };
}
