import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { createLog, createMetrics } from "../../observe/index.ts";
import { createOracleEvents } from "./events.ts";

function observed() {
  const lines: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
  const metrics = createMetrics({}, { clock: new ManualClock(0) });
  const events = createOracleEvents({ log, metrics }, { requestServed: () => {}, requestRefused: () => {} });
  const said = () => lines.splice(0).map((line) => JSON.parse(line).msg);
  return { events, said, metrics };
}

test("the log tells how the rate of a coin is known when that changes, and nothing of a rate that is agreed from the start", async () => {
  const { events, said, metrics } = observed();
  events.rateChanged("USDT", "agreed");
  expect(said()).toEqual([]);
  for (const status of ["held", "unsure", "agreed"]) events.rateChanged("USDT", status);
  expect(said()).toEqual([
    "exchanges disagree on the rate of a dollar coin, or are silent; the last agreed one is used",
    "the rate of a dollar coin is unknown; quotes in it are left out",
    "the rate of a dollar coin is agreed again",
  ]);
  const text = await metrics.render();
  expect(text).toContain('sluice_oracle_coin_rate_status{coin="USDT",status="agreed"} 1');
  expect(text).toContain('sluice_oracle_coin_rate_status{coin="USDT",status="held"} 0');
});

test("the log tells that a price is served with very low confidence, and that it no longer is", () => {
  const { events, said } = observed();
  events.confidenceChanged("BTC", true, 4.2);
  events.confidenceChanged("BTC", false, 80);
  expect(said()).toEqual(["a price is served with very low confidence", "a price is served with confidence again"]);
});
