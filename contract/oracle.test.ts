import { expect, test } from "bun:test";
import { oracleIntervals, oraclePeriods, oracleTierTerms, oracleV2TierTerms } from "./oracle.ts";

const plans = (tiers: Readonly<Record<string, (typeof oracleTierTerms)["community"]>>) =>
  Object.values(tiers).map(({ name, requestsMonthly, rate, priceMonthlyUsd }) => [
    name,
    requestsMonthly,
    rate,
    priceMonthlyUsd,
  ]);

test("the plans are those of the documentation: requests a month, rate, US dollars a month", () => {
  expect(plans(oracleTierTerms)).toEqual([
    ["Community Access", 1_000, 1, 0],
    ["Builders", 50_000, 30, 0],
    ["Professional", 100_000, 10, 29],
    ["Enterprise", 1_000_000, 100, 199],
    ["Ultra Access", null, 1_000, 999],
  ]);
  expect(plans(oracleV2TierTerms)).toEqual([
    ["Community", 1_000, 10, 0],
    ["Developer", 10_000, 60, 9],
    ["Professional", 100_000, 300, 29],
    ["Enterprise", null, 1_000, null],
  ]);
});

test("the stream is for Enterprise and above, and a burst is two seconds of the first variant, a minute of the second", () => {
  const first = Object.values(oracleTierTerms);
  expect(first.map(({ webSocketConnections }) => webSocketConnections > 0)).toEqual([false, false, false, true, true]);
  expect(first.map(({ burst, rate }) => burst / rate)).toEqual([2, 2, 2, 2, 2]);
  expect(Object.values(oracleV2TierTerms).map(({ burst, rate }) => burst / rate)).toEqual([1, 1, 1, 1]);
});

test("of two plans the dearer one has prices as fresh and history as long, or better, and none is older than a minute", () => {
  for (const tiers of [oracleTierTerms, oracleV2TierTerms].map((each) => Object.values(each))) {
    const ages = tiers.map(({ updateFrequencySeconds }) => updateFrequencySeconds);
    expect(ages).toEqual(ages.toSorted((one, other) => other - one));
    expect([ages[0], ages.at(-1)]).toEqual([60, 1]);
    const days = tiers.map(({ historyRetentionDays }) => historyRetentionDays ?? Number.POSITIVE_INFINITY);
    expect(days).toEqual(days.toSorted((one, other) => one - other));
    expect([days[0], days.at(-1)]).toEqual([1, Number.POSITIVE_INFINITY]);
  }
});

test("an interval and a period last as long as their names say", () => {
  const minutes = { m: 1, h: 60, d: 1_440 } as const;
  const minutesOf = (name: string): number => Number.parseInt(name, 10) * minutes[name.at(-1) as keyof typeof minutes];
  for (const [name, length] of Object.entries<number>(oracleIntervals))
    expect([name, length]).toEqual([name, minutesOf(name)]);
  for (const [name, hours] of Object.entries<number>(oraclePeriods))
    expect([name, hours * 60]).toEqual([name, minutesOf(name)]);
});
