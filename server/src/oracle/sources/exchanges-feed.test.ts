import { expect, setDefaultTimeout, test } from "bun:test";
import { seededRandom, systemClock } from "@sluice/lib";
import { startMarket } from "../../../../devnet/market/market.ts";
import { defaultOptions } from "../../../../devnet/market/options.ts";
import { startExchanges } from "./feed.ts";

// What is waited for decides; this only ends a run that waits in vain on a busy machine.
setDefaultTimeout(60_000);

const nothing = (): void => {};

test("what streams and requests of a source come to is reported, each with its source and how it ended", async () => {
  const clock = {
    now: () => systemClock.now(),
    sleep: () => Promise.resolve(),
    every: () => ({ [Symbol.dispose]: nothing }),
  };
  await using market = startMarket({ ...defaultOptions, tickMs: 0, symbols: ["BTC"] }, { clock });
  const { kraken } = market.exchanges;
  // Every other exchange is sent where nothing listens.
  const closed = { rest: "http://127.0.0.1:1", ws: "ws://127.0.0.1:1" };
  const others = Object.fromEntries(Object.keys(market.exchanges).map((id) => [id, closed]));
  const reported = new Set<string>();
  const whole = Promise.withResolvers<void>();
  const record = (fact: string): void => {
    reported.add(fact);
    const expected = [
      "ticked kraken",
      "opened kraken",
      "kraken unknown-market",
      "gate unreachable",
      "ended gate connect-failed",
    ];
    if (expected.every((each) => reported.has(each))) whole.resolve();
  };
  const feed = startExchanges(
    { endpoints: { ...others, kraken }, pools: [], node: null },
    {
      clock: systemClock,
      random: seededRandom(1),
      onTick: nothing,
      onTraded: nothing,
      events: {
        sourceDropped: nothing,
        sourceStatusChanged: nothing,
        sourceFault: nothing,
        sourceTicked: (source, delayMs) => record(Number.isFinite(delayMs) ? `ticked ${source}` : "no delay"),
        sourceTraded: nothing,
        sourceStreamOpened: (source) => record(`opened ${source}`),
        sourceStreamEnded: (source, reason) => record(`ended ${source} ${reason}`),
        sourceRequestEnded: (source, end, durationMs) => record(durationMs >= 0 ? `${source} ${end}` : "no duration"),
      },
    },
  );
  await whole.promise;
  const symbolsOf = (id: string): readonly string[] => feed.states().find((state) => state.id === id)?.symbols ?? [];
  // A market that is read and not found missing counts; nobody knows yet what the unreachable ones lack.
  expect(symbolsOf("kraken")).toContain("BTC");
  expect(symbolsOf("bitstamp")).toContain("USDT");
  expect(symbolsOf("bitstamp")).not.toContain("XNT");
  expect(symbolsOf("chain")).toEqual([]);
  const rateOf = (id: string): number | undefined => feed.states().find((state) => state.id === id)?.successRate;
  // Nothing was asked of the chain, and nothing but failures came of what cannot be reached.
  expect([rateOf("chain"), rateOf("gate")]).toEqual([0, 0]);
  expect(rateOf("kraken")).toBeGreaterThan(0);
  await feed[Symbol.asyncDispose]();
  expect(reported).toContain("ended kraken stopped");
  expect(reported).not.toContain("opened gate");
});
