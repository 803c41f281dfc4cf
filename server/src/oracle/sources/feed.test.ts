import { expect, setDefaultTimeout, test } from "bun:test";
import { seededRandom, systemClock } from "@sluice/lib";
import { startMarket } from "../../../../devnet/market/market.ts";
import { defaultOptions } from "../../../../devnet/market/options.ts";
import type { SourceEvents } from "../model/events.ts";
import type { Tick } from "../model/tick.ts";
import { sourceCadenceMs, startSources } from "./index.ts";

// What is waited for decides; this only ends a run that waits in vain on a busy machine.
setDefaultTimeout(60_000);

const nothing = (): void => {};
const events: SourceEvents = {
  sourceStatusChanged: nothing,
  sourceTicked: nothing,
  sourceDropped: nothing,
  sourceTraded: nothing,
  sourceStreamOpened: nothing,
  sourceStreamEnded: nothing,
  sourceRequestEnded: nothing,
  sourceFault: nothing,
};

test("sources run by themselves until they are disposed of, and those that are not enabled say so", async () => {
  const clock = {
    now: () => systemClock.now(),
    sleep: () => Promise.resolve(),
    every: () => ({ [Symbol.dispose]: nothing }),
  };
  await using market = startMarket({ ...defaultOptions, tickMs: 0, symbols: ["BTC", "ETH"] }, { clock });
  const ticks: Tick[] = [];
  let received = nothing;
  const onTick = (tick: Tick): void => {
    ticks.push(tick);
    if (new Set(ticks.map(({ source }) => source)).size === 3) received();
  };
  const whole = new Promise<void>((resolve) => {
    received = resolve;
  });
  const sources = startSources(
    { endpoints: market.exchanges, symbols: ["BTC", "NOSUCH"], enabled: ["kraken", "okx", "gate", "chain"] },
    { clock: systemClock, random: seededRandom(1), events, onTick, onTraded: nothing },
  );
  await whole;
  expect(new Set(ticks.map(({ base }) => base))).toEqual(new Set(["BTC"]));
  const statuses = Object.fromEntries(sources.health().map(({ source, status }) => [source, status]));
  expect(statuses).toMatchObject({ binance: "disabled", kucoin: "disabled", chain: "disabled" });
  expect(statuses["kraken"]).not.toBe("disabled");
  await sources[Symbol.asyncDispose]();
  const before = ticks.length;
  market.tick();
  await (await fetch(`${market.adminUrl}/state`)).text();
  expect(ticks.length).toBe(before);
});

test("every source has a cadence", async () => {
  const symbols = ["BTC"];
  const sources = startSources(
    { symbols, enabled: [] },
    { clock: systemClock, random: seededRandom(1), events, onTick: nothing, onTraded: nothing },
  );
  for (const { source } of sources.health()) expect(sourceCadenceMs[source]).toBeGreaterThan(0);
  await sources[Symbol.asyncDispose]();
});
