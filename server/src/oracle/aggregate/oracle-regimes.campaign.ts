/**
 * Honest markets: how much of the time a price is refused, and how far a served one is from the truth. Fifteen kinds of
 * noise, and the real eight exchanges while coins leave the dollar, prices fall and exchanges are silent. `n` is the
 * seconds of each regime.
 */
import { seededRandom } from "@sluice/lib";
import type { SourceId } from "../model/tick.ts";
import { contaminated, laplace, normal, student } from "./testing/noise.ts";
import { NoisyMarket, type NoisyRegime } from "./testing/noisy-market.ts";
import {
  deviationBps,
  type Lie,
  type PricedSymbol,
  pricedSymbols,
  RealEight,
  type Weather,
} from "./testing/real-eight.ts";

interface Regime extends Weather {
  readonly name: string;
  /** Largest share of rounds without a price: what decision 0010 refused, measured by this program. */
  readonly refusedMax: number;
}

const warmUp = 30;
const dollars: ReadonlySet<SourceId> = new Set(["coinbase", "kraken", "bitstamp"]);
const heard = (): boolean => false;
/** 1, then down to `low` within `seconds` from the tenth second on. */
const falling = (low: number, seconds: number, second: number): number =>
  1 - (1 - low) * Math.min(1, Math.max(0, second - warmUp - 10) / seconds);
const only =
  (which: PricedSymbol, factor: (second: number) => number): Weather["factor"] =>
  (symbol, second) =>
    symbol === which ? factor(second) : 1;
const steady = (): number => 1;
const isDuring = (second: number): boolean => second > warmUp + 10;

const regimes: readonly Regime[] = [
  { name: "calm", factor: steady, isSilent: heard, refusedMax: 0 },
  {
    name: "USDT falls to 0.97 in a minute",
    factor: only("USDT", (at) => falling(0.97, 60, at)),
    isSilent: heard,
    refusedMax: 0,
  },
  {
    name: "USDT falls to 0.9 in ten minutes",
    factor: only("USDT", (at) => falling(0.9, 600, at)),
    isSilent: heard,
    refusedMax: 0,
  },
  {
    name: "USDC falls to 0.88 in ten minutes",
    factor: only("USDC", (at) => falling(0.88, 600, at)),
    isSilent: heard,
    refusedMax: 0,
  },
  {
    name: "USDC falls to 0.88 and USDT rises to 1.01",
    factor: (symbol, at) =>
      symbol === "USDC" ? falling(0.88, 600, at) : symbol === "USDT" ? 2 - falling(0.99, 600, at) : 1,
    isSilent: heard,
    refusedMax: 0,
  },
  {
    name: "everything but the coins falls by 40% in ten seconds",
    factor: (symbol, at) => (symbol === "USDC" || symbol === "USDT" ? 1 : falling(0.6, 10, at)),
    isSilent: heard,
    refusedMax: 0,
  },
  {
    name: "one exchange in dollars is silent",
    factor: steady,
    isSilent: (id, at) => id === "kraken" && isDuring(at),
    refusedMax: 0,
  },
  {
    name: "two exchanges in dollars are silent",
    factor: steady,
    isSilent: (id, at) => (id === "kraken" || id === "coinbase") && isDuring(at),
    refusedMax: 0,
  },
  {
    name: "all exchanges in dollars are silent",
    factor: steady,
    isSilent: (id, at) => dollars.has(id) && isDuring(at),
    refusedMax: 0.923,
  },
  {
    name: "all exchanges in USDT are silent",
    factor: steady,
    isSilent: (id, at) => !dollars.has(id) && isDuring(at),
    refusedMax: 0.403,
  },
  {
    name: "four exchanges are silent by turns",
    factor: steady,
    isSilent: (id, at) => isDuring(at) && (id.charCodeAt(1) + Math.floor(at / 60)) % 2 === 0,
    refusedMax: 0.145,
  },
];

/** None of them was refused anything by decision 0010, nor is now. */
const noises: readonly (NoisyRegime & { readonly name: string })[] = [
  { name: "nine, normal", sources: 9, noise: normal, sigmas: [5] },
  { name: "nine, Laplace", sources: 9, noise: laplace, sigmas: [5] },
  { name: "nine, Student", sources: 9, noise: student, sigmas: [5] },
  { name: "eight, one draw in ten wild", sources: 8, noise: contaminated, sigmas: [5] },
  { name: "nine, of which some twice as noisy", sources: 9, noise: normal, sigmas: [4, 8, 4, 8, 4, 4, 8, 4, 8] },
  { name: "seven, normal", sources: 7, noise: normal, sigmas: [5] },
  { name: "five, normal", sources: 5, noise: normal, sigmas: [10] },
  { name: "five, Student", sources: 5, noise: student, sigmas: [10] },
  { name: "three, normal", sources: 3, noise: normal, sigmas: [10] },
  { name: "three, Student", sources: 3, noise: student, sigmas: [10] },
  { name: "nine with offsets of their own", sources: 9, noise: normal, sigmas: [2], offset: 5 },
  { name: "nine, five of them through USDT", sources: 9, noise: normal, sigmas: [3], coin: 2 },
  { name: "nine, moving with the noise", sources: 9, noise: normal, sigmas: [3], movement: 1 },
  { name: "nine, moving faster than the noise", sources: 9, noise: normal, sigmas: [3], movement: 4 },
  { name: "nine on one coarse grid", sources: 9, noise: normal, sigmas: [1], movement: 0.5, grid: 24 },
];

function noiseRefusals(regime: NoisyRegime, n: number, seed: number): { share: number; worstBps: number } {
  const market = new NoisyMarket(regime, seededRandom(seed));
  let [refused, worstBps] = [0, 0];
  for (let second = 0; second < n + warmUp; second += 1) {
    const round = market.step();
    if (second < warmUp || round === undefined) continue;
    const bps = deviationBps(round, market.truth);
    if (bps === null) refused += 1;
    else worstBps = Math.max(worstBps, bps);
  }
  return { share: refused / n, worstBps };
}

const nobody: Lie = { shape: "offset", target: "BTC", bps: 0, coinBps: 0, period: 1, volume: 1, away: 0 };

function refusals(regime: Regime, n: number, seed: number): { share: number; worstBps: number; bySymbol: string } {
  const market = new RealEight({ liars: new Set(), lie: nobody, weather: regime }, seededRandom(seed));
  const refused = new Map<PricedSymbol, number>();
  let [rounds, worstBps] = [0, 0];
  const latest = new Map<PricedSymbol, number | null>();
  for (let second = 0; second < n + warmUp; second += 1) {
    for (const [symbol, round] of market.step(null)) latest.set(symbol, deviationBps(round, market.truth(symbol)));
    if (second < warmUp) continue;
    for (const symbol of pricedSymbols) {
      rounds += 1;
      const bps = latest.get(symbol) ?? null;
      if (bps === null) refused.set(symbol, (refused.get(symbol) ?? 0) + 1);
      else if (symbol !== "FTT") worstBps = Math.max(worstBps, bps);
    }
  }
  const total = refused.values().reduce((sum, count) => sum + count, 0);
  const bySymbol = [...refused].map(([symbol, count]) => `${symbol} ${count}`).join(", ");
  return { share: total / rounds, worstBps, bySymbol };
}

const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;

export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let passed = true;
  const line = (isRight: boolean, name: string, figures: string): string => {
    passed &&= isRight;
    return `${isRight ? " " : "!"} ${name}: ${figures}`;
  };
  const ofNoise = noises.map((regime, index) => {
    const { share, worstBps } = noiseRefusals(regime, n, seed + index);
    return line(share === 0, regime.name, `${percent(share)} refused, worst ${worstBps.toFixed(1)} bps`);
  });
  const ofEight = regimes.map((regime, index) => {
    const { share, worstBps, bySymbol } = refusals(regime, n, seed + index);
    const figures = `${percent(share)} refused (${bySymbol}), worst ${worstBps.toFixed(1)} bps`;
    return line(share <= regime.refusedMax, regime.name, figures);
  });
  return { passed, summary: [...ofNoise, ...ofEight].join("\n") };
}
