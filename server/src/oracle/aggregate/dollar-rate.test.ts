import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { decimal, formatDecimal } from "../model/decimal.ts";
import type { Round } from "../model/round.ts";
import type { SourceId, Tick } from "../model/tick.ts";
import { type CoinRate, DollarRate } from "./dollar-rate.ts";
import { deviationBps, type Lie, RealEight } from "./testing/real-eight.ts";
import { startMs, Table, tickOf } from "./testing/ticks.ts";

const reported = (rate: CoinRate): string =>
  rate.state === "unsure" ? rate.state : `${rate.state} ${formatDecimal(rate.price)}`;

/** A rate after these claims, one after the other, a second apart. */
class Rate {
  readonly #rate = new DollarRate();
  #atMs = startMs;

  claim(claims: readonly string[], usdcInUsdt: string | null = "1", afterMs = 1_000): string {
    this.#atMs += afterMs;
    const estimates = claims.map(decimal).toSorted((one, other) => (one < other ? -1 : 1));
    const cross = usdcInUsdt === null ? null : decimal(usdcInUsdt);
    return reported(this.#rate.next({ atMs: this.#atMs, estimates, usdcInUsdt: cross }));
  }

  get error(): bigint {
    const { rate } = this.#rate;
    return rate.state === "unsure" ? 0n : rate.error;
  }
}

const agreed = ["0.9996", "0.9997", "0.9998"];
const minutes = 60_000;

describe("the rate of USDT", () => {
  test("is the middle of the exchanges that trade in dollars while they agree", () => {
    expect(new Rate().claim(agreed)).toBe("agreed 0.9997");
    expect(new Rate().claim(["0.9996", "0.9998"])).toBe("agreed 0.9997");
    expect(new Rate().claim(["0.9996"])).toBe("agreed 0.9996");
    expect(new Rate().claim([])).toBe("unsure");
  });

  test("is not moved by two of three in step inside the peg: the last agreed one serves for ten minutes, less sure", () => {
    const rate = new Rate();
    rate.claim(agreed);
    expect(rate.claim(["0.9997", "1.001", "1.001"])).toBe("held 0.9997");
    const young = rate.error;
    expect(rate.claim(["0.9997", "1.001", "1.001"], "1", 5 * minutes)).toBe("held 0.9997");
    expect(rate.error > young).toBe(true);
    expect(rate.claim(["0.9997", "1.001", "1.001"], "1", 6 * minutes)).toBe("unsure");
    expect(rate.claim(agreed)).toBe("agreed 0.9997");
  });

  test("stays with two that stand still against one that does not, for as long as they do", () => {
    const rate = new Rate();
    rate.claim(agreed);
    expect(rate.claim(["0.9997", "0.9997", "1.0015"], "1", 60 * minutes)).toBe("agreed 0.9997");
    expect(rate.claim(["0.9997", "0.9997", "1.0015"], "1", 60 * minutes)).toBe("agreed 0.9997");
  });

  test("cannot be walked by those who support it: they stay within one agreement of the last unanimous one", () => {
    const rate = new Rate();
    rate.claim(agreed);
    for (let step = 1; step <= 40; step += 1) {
      const walked = (0.9997 + step * 0.0002).toFixed(4);
      const said = rate.claim(["0.9997", walked, walked]);
      expect(Number(said.split(" ")[1])).toBeLessThanOrEqual(0.9997 + 0.0006);
    }
  });

  test("is moved once by two of three within the agreement, and not again by supporting what they moved it to", () => {
    const rate = new Rate();
    expect(rate.claim(["0.9997", "1.0002", "1.0002"])).toBe("agreed 1.000033333333333333");
    // The honest one's noise takes it just out of reach, and the two go as far again.
    expect(rate.claim(["0.9994", "1.0006", "1.0006"])).toBe("agreed 1.000033333333333333");
  });

  test("is the mean of three in the peg, and near their median in a depeg, where they may lie further apart", () => {
    expect(new Rate().claim(["0.9997", "0.9997", "1.0003"])).toBe("agreed 0.9999");
    const cross = (1 / 0.95).toFixed(9);
    expect(new Rate().claim(["0.95", "0.95", "0.9529"], cross)).toBe("agreed 0.9502");
    expect(new Rate().claim(["0.948", "0.95", "0.95"], cross)).toBe("agreed 0.9498");
  });

  test("leaves those out whose claim no other exchange could bear out, and goes on with one that stays", () => {
    const rate = new Rate();
    rate.claim(agreed);
    expect(rate.claim(["0.9997", "1.05", "1.05"], "1", 60 * minutes)).toBe("agreed 0.9997");
    expect(rate.claim(["1.05", "1.05", "1.05"])).toBe("held 0.9997");
  });

  test("follows a real depeg that USDC/USDT shows, wherever one of three lies", () => {
    for (const price of ["0.99", "0.95", "0.9"]) {
      const rate = new Rate();
      rate.claim(agreed);
      const cross = (1 / Number(price)).toFixed(9);
      expect(rate.claim([price, price, price], cross)).toBe(`agreed ${price}`);
    }
    const rate = new Rate();
    rate.claim(agreed);
    expect(rate.claim(["0.9997", "0.9997", "0.9997"], "0.88")).toBe("agreed 0.9997");
  });

  test("a move of both coins in step is not believed: the last agreed rate, then none", () => {
    const rate = new Rate();
    rate.claim(agreed);
    expect(rate.claim(["0.99", "0.99", "0.99"])).toBe("held 0.9997");
    expect(rate.claim(["0.99", "0.99", "0.99"], "1", 11 * minutes)).toBe("unsure");
    // Inside the peg all of them together are believed: a fifth of a percent from parity.
    expect(new Rate().claim(["1.002", "1.002", "1.002"])).toBe("agreed 1.002");
    expect(new Rate().claim(["1.0021", "1.0021", "1.0021"])).toBe("unsure");
  });

  test("serves for an hour when no exchange trades in dollars and the coins stand still to each other", () => {
    const rate = new Rate();
    rate.claim(agreed);
    expect(rate.claim([], "1", 50 * minutes)).toBe("held 0.9997");
    expect(rate.claim([], "1", 11 * minutes)).toBe("unsure");
    const parted = new Rate();
    parted.claim(agreed);
    expect(parted.claim([], "1.01", 11 * minutes)).toBe("unsure");
  });
});

const venues: readonly SourceId[] = ["binance", "okx", "bybit", "kucoin", "gate"];
const dollars: readonly SourceId[] = ["coinbase", "kraken", "bitstamp"];

/** Bitcoin at 60,000 dollars everywhere, with USDT at `coin` dollars; the rate is known before the quotes come. */
function quotes(coin: number, atMs = startMs): { witnesses: Tick[]; bitcoin: Tick[] } {
  const when = { asOfMs: atMs };
  const usdc = venues.map((source) => tickOf(source, (1 / coin).toFixed(9), { base: "USDC", quote: "USDT", ...when }));
  return {
    witnesses: [...dollars.map((source) => tickOf(source, `${coin}`, { base: "USDT", ...when })), ...usdc],
    bitcoin: [
      ...dollars.map((source) => tickOf(source, "60000", when)),
      ...venues.map((source) => tickOf(source, (60_000 / coin).toFixed(8), { quote: "USDT", ...when })),
    ],
  };
}

function bitcoin(table: Table, coin: number, atMs: number): Round {
  const { witnesses, bitcoin: ticks } = quotes(coin, atMs);
  table.receive(...witnesses).mark(atMs);
  return table.receive(...ticks).round(atMs);
}

const summary = (round: Round): string =>
  round.kind === "price"
    ? `${Math.round(Number(round.price) / 1e18)} of ${round.sources.length}`
    : `${round.reason} of ${round.sources.length}`;

describe("a price through a coin", () => {
  test("follows the coin down: bitcoin's price in dollars does not move while USDT falls to 0.93", () => {
    const table = new Table();
    const seen = [1, 0.999, 0.99, 0.97, 0.95, 0.93].map((coin, step) =>
      summary(bitcoin(table, coin, startMs + step * 1_000)),
    );
    expect(seen).toEqual(Array(6).fill("60000 of 8"));
  });

  test("is known less surely through a coin that has left its peg", () => {
    const table = new Table();
    const [calm, fallen] = [bitcoin(table, 1, startMs), bitcoin(table, 0.95, startMs + 1_000)];
    if (calm.kind !== "price" || fallen.kind !== "price") throw new Error("no price");
    expect(fallen.confidence < calm.confidence).toBe(true);
  });

  test("exchanges whose coin has no rate count for a majority: those in dollars alone are none", () => {
    const table = new Table();
    table.receive(...quotes(1).bitcoin);
    expect(summary(table.round())).toBe("unknown-rate of 8");
  });

  test("is refused as depegged only when USDC/USDT shows that a coin has left the dollar", () => {
    for (const [coin, reason] of [
      [1, "unknown-rate"],
      [0.996, "unknown-rate"],
      [0.95, "depeg"],
    ] as const) {
      const table = new Table();
      const { witnesses, bitcoin: ticks } = quotes(coin);
      table.receive(...witnesses.filter(({ base }) => base === "USDC"), ...ticks).mark();
      expect(summary(table.receive(tickOf("okx", (60_000 / coin).toFixed(8), { quote: "USDT" })).round())).toBe(
        `${reason} of 8`,
      );
    }
  });

  test("is refused where dollars and converted quotes part and the last price lies with neither majority", () => {
    const table = new Table();
    bitcoin(table, 1, startMs);
    const atMs = startMs + 1_000;
    // The venues in USDT move together by one percent, as they do when their coin does and its witnesses sleep.
    const moved = quotes(1, atMs).bitcoin.map((tick) =>
      tick.quote === "USDT" ? { ...tick, price: decimal("60600"), asOfMs: atMs } : tick,
    );
    expect(summary(table.receive(...moved).round(atMs))).toBe("unknown-rate of 8");
  });

  test("an exchange that lies about USDT alone keeps its honest vote on the rate, which its other prices show", () => {
    const lie: Lie = { shape: "offset", target: "coins", bps: 0, coinBps: 27, period: 1, volume: 1, away: 0 };
    const market = new RealEight({ liars: new Set(["coinbase", "kraken"]), lie }, seededRandom(1));
    for (let second = 0; second < 20; second += 1) market.step(null);
    for (let since = 0; since < 1_000; since += 1) {
      for (const [symbol, round] of market.step(since)) {
        if (symbol !== "FTT") expect(deviationBps(round, market.truth(symbol)) ?? 99).toBeLessThan(8);
      }
    }
  });
});

/** The worst distance of served prices of these symbols, in basis points, while the liars lie for a minute. */
function worstOf(liars: readonly SourceId[], lies: readonly Lie[], symbols: readonly string[]): number {
  let worst = 0;
  for (const lie of lies) {
    const market = new RealEight({ liars: new Set(liars), lie }, seededRandom(7));
    for (let second = 0; second < 20; second += 1) market.step(null);
    for (let since = 0; since < 60; since += 1) {
      for (const [symbol, round] of market.step(since)) {
        if (symbols.includes(symbol)) worst = Math.max(worst, deviationBps(round, market.truth(symbol)) ?? 0);
      }
    }
  }
  return worst;
}

describe("lies that set prices once", () => {
  const lie = (changes: Partial<Lie>): Lie => ({
    ...{ shape: "offset", target: "all", bps: 0, coinBps: 0, period: 5, volume: 1, away: 0 },
    ...changes,
  });

  test("two of eight in dollars: USDT first, then twice the price", () => {
    const first = lie({ target: "coins first", bps: 10_000, coinBps: -60 });
    expect(worstOf(["coinbase", "kraken"], [first], ["BTC", "ETH", "SOL"])).toBeLessThan(10);
    const second = lie({ target: "coins first", bps: 1_400, coinBps: 40 });
    expect(worstOf(["coinbase", "bitstamp"], [second], ["BTC", "ETH", "SOL"])).toBeLessThan(10);
  });

  test("two of three in dollars in step, by as much as the peg hides", () => {
    const lies = [27, -10, -30, 15, 19].map((bps) => lie({ bps, coinBps: bps }));
    for (const liars of [
      ["coinbase", "kraken"],
      ["coinbase", "bitstamp"],
      ["kraken", "bitstamp"],
    ] as const)
      expect(worstOf(liars, lies, ["BTC", "ETH", "SOL", "BNB", "USDT"])).toBeLessThan(10);
  });

  test("three of seven with a boundless volume", () => {
    const lies = [1_400, -1_300, 300].flatMap((bps) => [1, 1e6].map((volume) => lie({ bps, volume, target: "all" })));
    expect(worstOf(["binance", "okx", "bybit"], lies, ["BNB"])).toBeLessThan(10);
    expect(worstOf(["kucoin", "gate", "bybit"], lies, ["BNB"])).toBeLessThan(10);
  });

  test("a majority that jumps away is served nothing before it has stood for three rounds, and then surely not at once", () => {
    const market = new RealEight(
      {
        liars: new Set(["binance", "okx", "bybit", "coinbase", "kraken"]),
        lie: lie({ bps: 1_400, target: "BTC" }),
      },
      seededRandom(3),
    );
    for (let second = 0; second < 20; second += 1) market.step(null);
    const rounds = [0, 1, 2, 3].map((since) => market.step(since).get("BTC"));
    expect(rounds.slice(0, 2).map((round) => round?.kind === "refused" && round.reason)).toEqual([
      "breaker",
      "breaker",
    ]);
    const [served] = rounds.filter((round) => round?.kind === "price");
    if (served?.kind === "price") expect(Number(served.confidence) / 1e18).toBeLessThan(10);
  });

  test("confidence is back within half a minute of the end of a lie", () => {
    const market = new RealEight(
      { liars: new Set(["binance", "okx", "bybit", "coinbase", "kraken"]), lie: lie({ bps: 10_000, target: "BTC" }) },
      seededRandom(4),
    );
    const confidenceOf = (round: Round | undefined): number =>
      round?.kind === "price" ? Number(round.confidence) / 1e18 : 0;
    let before = 0;
    for (let second = 0; second < 30; second += 1) before = confidenceOf(market.step(null).get("BTC"));
    for (let since = 0; since < 30; since += 1) market.step(since);
    let after = 0;
    for (let second = 0; second < 30; second += 1) after = confidenceOf(market.step(null).get("BTC"));
    expect(after).toBeGreaterThan(before * 0.8);
  });
});
