import { expect, test } from "bun:test";
import { type CoinRate, unsure } from "../aggregate/dollar-rate.ts";
import { decimal } from "../model/decimal.ts";
import { priced } from "../testing/rounds.ts";
import { PriceWatch } from "./price-watch.ts";

function watched() {
  const reports: string[] = [];
  const watch = new PriceWatch({
    rateChanged: (coin, status) => reports.push(`${coin} ${status}`),
    confidenceChanged: (symbol, isVeryLow, confidence) => reports.push(`${symbol} ${isVeryLow} ${confidence}`),
  });
  const held: CoinRate = { state: "held", price: decimal("1"), error: decimal("0") };
  const rates = { agreed: { ...held, state: "agreed" }, held, unsure } as const;
  return {
    reports,
    see: (atMs: number, confidence: string, rate: keyof typeof rates = "agreed") =>
      watch.observe(
        [priced({ atMs, price: "1", confidence: decimal(confidence) })],
        { USDT: rates[rate], USDC: rates[rate] },
        atMs,
      ),
  };
}

test("very low confidence is reported once when it lasts, and once when it is over", () => {
  const { see, reports } = watched();
  for (let second = 0; second < 60; second += 1) see(second * 1_000, second < 20 ? "80" : second < 40 ? "9.9" : "20");
  expect(reports).toEqual(["USDT agreed", "BTC true 9.9", "BTC false 20"]);
});

test("a confidence around the bound is reported once, and one that is low for a moment not at all", () => {
  const { see, reports } = watched();
  for (let second = 0; second < 30; second += 1) see(second * 1_000, second % 5 === 0 ? "5" : "80");
  expect(reports).toEqual(["USDT agreed"]);
  for (let second = 30; second < 90; second += 1)
    see(second * 1_000, second < 40 ? "9" : second % 2 === 0 ? "9" : "12");
  expect(reports).toEqual(["USDT agreed", "BTC true 9"]);
});

test("the rate of USDT is reported once for each state that lasts, at the start only when it stays unknown", () => {
  const { see, reports } = watched();
  for (let second = 0; second < 4; second += 1) see(second * 1_000, "80", "unsure");
  for (let second = 4; second < 10; second += 1) see(second * 1_000, "80");
  expect(reports).toEqual(["USDT agreed"]);
  for (let second = 10; second < 40; second += 1) see(second * 1_000, "80", second % 3 === 0 ? "agreed" : "held");
  expect(reports).toEqual(["USDT agreed"]);
  for (let second = 40; second < 60; second += 1) see(second * 1_000, "80", "held");
  for (let second = 60; second < 80; second += 1) see(second * 1_000, "80", "unsure");
  for (let second = 80; second < 100; second += 1) see(second * 1_000, "80");
  expect(reports).toEqual(["USDT agreed", "USDT held", "USDT unsure", "USDT agreed"]);
});
