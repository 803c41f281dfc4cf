import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { SourceEvents } from "../model/events.ts";
import { SourceRecord, type SourceSummary } from "./source-record.ts";

const hourMs = 3_600_000;
const nothing = (): void => {};

function bench() {
  const clock = new ManualClock(Date.parse("2026-11-01T00:00:00Z"));
  const changes: string[] = [];
  const events: SourceEvents = {
    sourceStatusChanged: (_source, from, to) => void changes.push(`${from} ${to}`),
    sourceTicked: nothing,
    sourceDropped: nothing,
    sourceTraded: () => {},
    sourceStreamOpened: nothing,
    sourceStreamEnded: nothing,
    sourceRequestEnded: nothing,
    sourceFault: nothing,
  };
  const record = new SourceRecord({ source: "kraken", cadenceMs: 15_000, hasStream: true }, { clock, events });
  const market = (base: string) => ({ base, quote: "USD" as const, name: base, streamName: base, aliases: [] });
  /** Ages of the markets in milliseconds; null is one that was never received, "absent" one that the exchange lacks. */
  const summary = (isStreaming: boolean, ...ages: readonly (number | null | "absent")[]): SourceSummary => ({
    isStreaming,
    markets: ages.map((age, index) => ({
      market: market(`M${index}`),
      asOfMs: typeof age === "number" ? clock.now() - age : null,
      isAbsent: age === "absent",
    })),
  });
  return { clock, record, summary, changes };
}

test("the status follows what is fresh and by which way it comes; absent markets count for nothing", () => {
  const { record, summary } = bench();
  const status = (...parts: Parameters<typeof summary>) => record.health(summary(...parts), 0).status;
  expect(status(true, 0, 0, 0)).toBe("active");
  expect(status(true, 45_000, 45_001)).toBe("degraded");
  expect(status(true, 0, 0, 45_001)).toBe("active");
  expect(status(false, 0, 0, 0)).toBe("degraded");
  expect(status(true, 45_001, null)).toBe("down");
  expect(status(true, 0, "absent", "absent", "absent")).toBe("active");
  expect(status(true, "absent")).toBe("down");
});

test("uptime is the share of the last 24 hours, and forgets what is older", () => {
  const { clock, record, summary } = bench();
  const run = (hours: number, age: number): void => {
    for (let minutes = 0; minutes < hours * 60; minutes += 5) {
      record.observe(summary(true, age));
      clock.advance(300_000);
    }
    record.observe(summary(true, age));
  };
  run(6, 0);
  run(18, 100_000);
  const uptime = () => record.health(summary(true, 0), 0).uptimePercent24h;
  expect(Math.abs(uptime() - 25)).toBeLessThan(1.5);
  run(24, 0);
  expect(uptime()).toBeGreaterThan(98.5);
});

test("counts of a day are forgotten after it, and those since the start are kept", () => {
  const { clock, record, summary } = bench();
  record.dropped("crossed");
  record.requestEnded("timeout", 10_000);
  record.requestEnded("rows", 40);
  record.requestEnded("limited", 40);
  record.streamEnded("silent");
  record.streamEnded("replaced");
  record.messageReceived();
  const health = () => record.health(summary(true, 0), 7);
  expect(health()).toMatchObject({
    ...{ requests24h: 3, messages24h: 1, errors24h: 3, restarts24h: 1, responseMs: 40, pausedForMs: 7 },
    drops: { crossed: 1 },
  });
  clock.advance(24 * hourMs + 15 * 60_000);
  expect(health()).toMatchObject({
    requests24h: 0,
    messages24h: 0,
    errors24h: 0,
    restarts24h: 0,
    drops: { crossed: 1 },
  });
});

test("a change of status is reported once", () => {
  const { record, summary, changes } = bench();
  for (let times = 0; times < 3; times++) record.observe(summary(true, 0));
  for (let times = 0; times < 3; times++) record.observe(summary(false, 0));
  record.observe(summary(false, null));
  expect(changes).toEqual(["down active", "active degraded", "degraded down"]);
});
