/**
 * Honest markets of the real eight exchanges: how much of the time a price is refused, and how far a served one is from
 * the truth, while coins leave the dollar, prices fall and exchanges are silent. `n` is the seconds of each regime.
 */
import { seededRandom } from "@sluice/lib";
import type { SourceId } from "../model/tick.ts";
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

const nobody: Lie = { shape: "offset", target: "one", bps: 0, coinBps: 0, period: 1, volume: 1, away: 0 };

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

export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let passed = true;
  const lines = regimes.map((regime, index) => {
    const { share, worstBps, bySymbol } = refusals(regime, n, seed + index);
    const isRight = share <= regime.refusedMax;
    passed &&= isRight;
    return `${isRight ? " " : "!"} ${regime.name}: ${(share * 100).toFixed(2)}% refused (${bySymbol}), worst ${worstBps.toFixed(1)} bps`;
  });
  return { passed, summary: lines.join("\n") };
}
