/**
 * The real eight exchanges with their real currencies: of every subset of one to seven of them, the worst lie that a
 * hill climb finds, by how far a served price is from the truth. `n` is the least number of rounds for each size; from
 * 200,000 on every subset is searched.
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
const lyingSecondsMax = 600;
/** One search in so many goes on for longer than a disputed rate is held. */
const patientOneIn = 24;
const patientSeconds = 720;
const lyingSecondsOf = ({ period }: Lie, isPatient: boolean): number =>
  isPatient ? patientSeconds : Math.min(lyingSecondsMax, Math.max(lyingSecondsMin, 4 * period));
/**
 * Basis points that a minority may move a major, and another symbol: twice the honest spread of FTT, which moves three
 * basis points a second and has four exchanges. A price that is no further off than the outermost honest quote is not
 * counted: of a million rounds some have an honest quote that is off by more. Beside that quote the rate that converts
 * it may be off by as much as honest estimates are.
 */
const majorMaxBps = 10;
const otherMaxBps = 24;
const rateNoiseBps = 1;
/** All exchanges in dollars together move the rate of USDT within its peg (docs/decisions/0033). */
const dollarsMaxBps = 26;
/** Beyond twice this a lie is obvious, and takes no price away. */
const obviousBps = 100;
const obviousRefusedMax = 0.001;

const dollars: readonly SourceId[] = ["coinbase", "kraken", "bitstamp"];
const majors: ReadonlySet<string> = new Set(oracleMajors);
const listed = new Map(pricedSymbols.map((symbol) => [symbol, listedBy(symbol)]));
const lieTogether = (liars: ReadonlySet<SourceId>): boolean => dollars.every((id) => liars.has(id));

/** Largest distances of served prices from the truth, in basis points. */
interface Distances {
  /** In majors of which a minority lies, and in other symbols. */
  readonly majors: number;
  readonly others: number;
  /** In both, where all exchanges in dollars lie. */
  readonly dollars: number;
  /** In symbols of which half lie, or of all eight half; and in those of which more do. */
  readonly half: number;
  readonly majority: number;
}

interface Outcome {
  readonly distances: Distances;
  /** Those of prices that are further from the truth than every honest quote and its conversion. */
  readonly beyond: Distances;
  /** The largest of these where the liars are a minority, as a share of what is allowed. */
  readonly worst: number;
  /** Rounds of symbols with a lying minority, and those of them that have no price. */
  readonly rounds: number;
  readonly refused: number;
}

type Kind = keyof Distances;
const kindsOfDistance = ["majors", "others", "dollars", "half", "majority"] as const satisfies readonly Kind[];
const noDistances = (): Record<Kind, number> => ({ majors: 0, others: 0, dollars: 0, half: 0, majority: 0 });
function widen(distances: Record<Kind, number>, by: Distances): void {
  for (const kind of kindsOfDistance) distances[kind] = Math.max(distances[kind], by[kind]);
}

function kindOf(liars: ReadonlySet<SourceId>, symbol: PricedSymbol): Kind {
  const of = listed.get(symbol) ?? new Set();
  const lying = [...liars].filter((id) => of.has(id)).length;
  if (liars.size * 2 > exchanges.length || lying * 2 > of.size) return "majority";
  if (liars.size * 2 === exchanges.length || lying * 2 === of.size) return "half";
  if (lieTogether(liars)) return "dollars";
  return majors.has(symbol) ? "majors" : "others";
}

interface Attack {
  readonly liars: ReadonlySet<SourceId>;
  readonly lie: Lie;
  readonly seconds: number;
}

function evaluate({ liars, lie, seconds }: Attack, seed: number): Outcome {
  const market = new RealEight({ liars, lie }, seededRandom(seed));
  const kinds = new Map(pricedSymbols.map((symbol) => [symbol, kindOf(liars, symbol)]));
  for (let second = 0; second < warmUp; second += 1) market.step(null);
  const [distances, beyond] = [noDistances(), noDistances()];
  let [refused, rounds] = [0, 0];
  for (let since = 0; since < seconds; since += 1) {
    for (const [symbol, round] of market.step(since)) {
      const kind = kinds.get(symbol) ?? "majority";
      const bps = deviationBps(round, market.truth(symbol));
      distances[kind] = Math.max(distances[kind], bps ?? 0);
      if (bps !== null && bps > beyond[kind] && bps > market.honestBps(symbol) + rateNoiseBps) beyond[kind] = bps;
      if (kind === "half" || kind === "majority") continue;
      rounds += 1;
      if (bps === null) refused += 1;
    }
  }
  const { majors: ofMajors, others, dollars: ofDollars } = beyond;
  const worst = Math.max(ofMajors / majorMaxBps, others / otherMaxBps, ofDollars / dollarsMaxBps);
  return { distances, beyond, worst, rounds, refused };
}

const pick = <T>(values: readonly T[], random: Random): T => values[Math.floor(random.next() * values.length)] as T;
const signed = (random: Random, size: number): number => (random.next() < 0.5 ? -1 : 1) * size;
/** From a third of a basis point to a hundred thousand, by its order of magnitude. */
const drawnBps = (random: Random): number => signed(random, 10 ** (random.next() * 5.5 - 0.5));
/** Nothing, or up to a billion times an honest volume. */
const drawnVolume = (random: Random): number => (random.next() < 0.2 ? 0 : 10 ** (random.next() * 11 - 2));

function drawLie(random: Random): Lie {
  const bps = drawnBps(random);
  return {
    shape: pick(shapes, random),
    target: pick(targets, random),
    bps,
    coinBps: random.next() < 0.5 ? bps : drawnBps(random),
    period: Math.ceil(10 ** (random.next() * 2.2)),
    volume: drawnVolume(random),
    away: random.next() < 0.7 ? 0 : random.next(),
  };
}

/** One parameter of a lie changed, the sizes more often than the rest. */
function nearby(lie: Lie, random: Random): Lie {
  const factor = pick([0.5, 0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 2, -1], random);
  const changes: readonly (() => Partial<Lie>)[] = [
    () => ({ bps: lie.bps * factor }),
    () => ({ coinBps: lie.coinBps * factor }),
    () => ({ bps: lie.bps * factor, coinBps: lie.coinBps * factor }),
    () => ({ coinBps: lie.bps }),
    () => ({ bps: lie.coinBps }),
    () => ({ period: Math.min(200, Math.max(1, Math.ceil(lie.period * Math.abs(factor)))) }),
    () => ({ shape: pick(shapes, random) }),
    () => ({ target: pick(targets, random) }),
    () => ({ volume: drawnVolume(random) }),
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

interface Found extends Attack {
  readonly outcome: Outcome;
}

/** What was searched for one size. */
interface Searched {
  readonly best: Found;
  readonly distances: Distances;
  readonly beyond: Distances;
  /** Subsets that were searched, and searches over all of them. */
  readonly subsets: number;
  readonly searches: number;
  readonly rounds: number;
  /** Shares of rounds of a minority's symbols without a price: of all lies, and of the obvious ones. */
  readonly refused: number;
  readonly obviousRefused: number;
}

/** Lies drawn for the begin of a climb, and steps in a row without a worse lie that end it. */
const drawn = 3;
const idleSteps = 5;

/** A climb from the worst of a few drawn lies. */
function* climb(liars: ReadonlySet<SourceId>, random: Random): Generator<Found> {
  const isPatient = random.next() * patientOneIn < 1;
  const found = (lie: Lie): Found => {
    const attack = { liars, lie, seconds: lyingSecondsOf(lie, isPatient) };
    return { ...attack, outcome: evaluate(attack, Math.floor(random.next() * 2 ** 31)) };
  };
  let current = found(drawLie(random));
  yield current;
  const take = (next: Found): boolean => {
    const isWorse = scoreOf(next) > scoreOf(current);
    if (isWorse) current = next;
    return isWorse;
  };
  for (let index = 1; index < drawn; index += 1) {
    const next = found(drawLie(random));
    yield next;
    take(next);
  }
  for (let idle = 0; idle < idleSteps; idle += 1) {
    const next = found(nearby(current.lie, random));
    yield next;
    if (take(next)) idle = -1;
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(Math.floor(random.next() * rest.length), 1)[0] as T);
}

/** A smaller number of rounds is a first slice. */
const roundsOfWhole = 200_000;

/** The worst lies of all subsets of one size, in turn for as long as there are rounds left. */
function search(size: number, n: number, random: Random): Searched {
  const subsets = shuffled(subsetsOf(size), random);
  const [distances, beyond] = [noDistances(), noDistances()];
  let best: Found | null = null;
  let [rounds, searches, counted, refused, obviousCounted, obviousRefused] = [0, 0, 0, 0, 0, 0];
  const isWhole = n >= roundsOfWhole;
  for (let index = 0; rounds < n || (isWhole && index < subsets.length); index += 1) {
    searches += 1;
    for (const found of climb(subsets[index % subsets.length] ?? new Set(), random)) {
      const { outcome, lie, liars, seconds } = found;
      rounds += (warmUp + seconds) * pricedSymbols.length;
      widen(distances, outcome.distances);
      widen(beyond, outcome.beyond);
      counted += outcome.rounds;
      refused += outcome.refused;
      if (isObvious(lie, liars)) {
        obviousCounted += outcome.rounds;
        obviousRefused += outcome.refused;
      }
      if (best === null || scoreOf(found) > scoreOf(best)) best = found;
      if (rounds >= n && !isWhole) break;
    }
  }
  if (best === null) throw new Error("nothing was searched");
  const share = (part: number, of: number): number => (of === 0 ? 0 : part / of);
  return {
    ...{ best, distances, beyond, rounds, searches, subsets: Math.min(searches, subsets.length) },
    ...{ refused: share(refused, counted), obviousRefused: share(obviousRefused, obviousCounted) },
  };
}

/** A majority is bound by nothing but continuity: what it reaches is reported. */
const scoreOf = ({ liars, outcome }: Found): number =>
  liars.size * 2 < exchanges.length
    ? outcome.worst
    : liars.size * 2 === exchanges.length
      ? outcome.distances.half
      : outcome.distances.majority;

/** Far off all the time on everything that it is about, by exchanges of which at least one in dollars is honest. */
const isObvious = ({ shape, bps, coinBps, target }: Lie, liars: ReadonlySet<SourceId>): boolean =>
  shape === "offset" &&
  target === "all" &&
  Math.min(Math.abs(bps), Math.abs(coinBps)) > 2 * obviousBps &&
  !lieTogether(liars);

const described = ({ liars, lie }: Found): string => {
  const { shape, target, bps, coinBps, period, volume, away } = lie;
  const turn = `period ${period} s, volume ${volume.toExponential(0)}, away ${away.toFixed(2)}`;
  return `${[...liars].join("+")}: ${shape} ${bps.toFixed(1)} bps, USDT ${coinBps.toFixed(1)} bps, on ${target}, ${turn}`;
};

/** One line of the table. */
function lineOf(size: number, searched: Searched): string {
  const { distances, beyond, rounds, searches, refused, obviousRefused, best } = searched;
  const bps = (kind: Kind): string =>
    distances[kind] === 0 ? "" : `${distances[kind].toFixed(1)} (${beyond[kind].toFixed(1)})`;
  const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;
  const isSmall = size * 2 < exchanges.length;
  const cells = [
    `${size} of 8`,
    `${searched.subsets} of ${subsetsOf(size).length}`,
    ...[searches, rounds].map(String),
    ...kindsOfDistance.slice(0, 3).map(bps),
    ...[distances.half, distances.majority].map((value) => (value === 0 ? "" : value.toFixed(0))),
    ...(isSmall ? [percent(refused), percent(obviousRefused)] : ["", ""]),
    described(best),
  ];
  return `| ${cells.join(" | ")} |`;
}

export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let passed = true;
  const lines = [
    "| liars | subsets | climbs | rounds | majors | others | all dollars | half | more | refused | obvious | worst |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
  ];
  for (let size = 1; size <= 7; size += 1) {
    const searched = search(size, n, seededRandom(seed * 100 + size));
    const isRight = searched.best.outcome.worst <= 1 && searched.obviousRefused <= obviousRefusedMax;
    passed &&= isRight;
    lines.push(`${lineOf(size, searched)}${isRight ? "" : " !"}`);
  }
  return { passed, summary: lines.join("\n") };
}
