import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ManualClock, systemClock } from "@sluice/lib";
import type { ExchangeId } from "../../../../devnet/market/model/listings.ts";
import { marketStartMs } from "../../../../devnet/market/testing/market.ts";
import { type Ledger, openLedger } from "../../ledger/index.ts";
import { ledgerDirectory, recordingLog } from "../../ledger/testing/ledger-directory.ts";
import { exchanges } from "../sources/exchanges/index.ts";
import { World } from "../sources/testing/world.ts";
import { bootOracle } from "../testing/booted-oracle.ts";

// What is waited for decides; this only ends a run that waits in vain on a busy machine.
setDefaultTimeout(120_000);

const minuteMs = 60_000;
const symbols = ["BTC", "UNI", "FTT", "USDC", "USDT"];

interface Candle {
  readonly timestamp: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number | null;
}

type Booted = Awaited<ReturnType<typeof bootOracle>>;

/** Volumes as whole numbers of 10^-18, as they stand in the answer. */
const volumesIn = (text: string): bigint[] =>
  [...text.matchAll(/"volume":(\d+)(?:\.(\d+))?/g)].map(([, whole = "", rest = ""]) =>
    BigInt(whole + rest.padEnd(18, "0")),
  );

describe("volumes of candles over the eight exchanges of a market", () => {
  const directory = ledgerDirectory();
  // So many seconds before a whole hour that the test crosses it.
  const clock = new ManualClock(Math.ceil(marketStartMs / 3_600_000) * 3_600_000 - 4 * minuteMs);
  const running: Booted[] = [];
  let ledger: Ledger;
  let world: World;

  async function boot(): Promise<Booted> {
    const booted = await bootOracle({ clock, ledger });
    running.push(booted);
    return booted;
  }

  async function stop(booted: Booted): Promise<void> {
    running.splice(running.indexOf(booted), 1);
    await booted.dispose();
  }

  const candles = async (booted: Booted, symbol: string, interval: string, limit: number) => {
    const key = booted.addKey({ "oracle-v2": "enterprise" });
    const answer = await booted.get(`/v1/prices/${symbol}-USD/ohlcv?interval=${interval}&limit=${limit}`, key);
    expect(answer.status).toBe(200);
    return { list: answer.body.data as Candle[], volumes: volumesIn(answer.text) };
  };

  /** What the exchanges traded in a minute by the market's own trades, in dollars. */
  function tradedUsd(base: string, atMs: number, without: readonly ExchangeId[] = []): number {
    let sum = 0;
    for (const { id, markets } of exchanges) {
      const market = markets.find((each) => each.base === base);
      const venue = world.market.venues[id];
      const listed = venue.markets().find(({ listing }) => listing.base === base && listing.quote === market?.quote);
      if (market === undefined || listed === undefined || without.includes(id)) continue;
      const { pricePlaces, sizePlaces } = listed.listing;
      const quote = Number(listed.tape.bar(atMs, atMs + minuteMs).quote) / 10 ** (pricePlaces + sizePlaces);
      sum += quote * (market.quote === "USD" ? 1 : world.usd("USDT"));
    }
    return sum;
  }

  const minuteOf = (list: readonly Candle[], atMs: number): Candle => {
    const found = list.find(({ timestamp }) => Date.parse(timestamp) === atMs);
    if (found === undefined) throw new Error(`no candle at ${new Date(atMs).toISOString()}`);
    return found;
  };

  /** Waits until a minute begins and returns the one that ended, once its volume is settled. */
  async function passMinute(): Promise<number> {
    await world.pass((minuteMs - (clock.now() % minuteMs)) / 1_000 + 30);
    return Math.floor(clock.now() / minuteMs) * minuteMs - minuteMs;
  }

  beforeAll(async () => {
    ledger = await openLedger(
      { directory: directory.path, clickhouseUrl: null, cluster: null },
      { clock: systemClock, log: recordingLog() },
    );
    world = new World({
      symbols,
      startMs: clock.now(),
      clock,
      listener: {
        onTick: (tick) => {
          for (const { feed } of running) feed.play(tick);
        },
        onTraded: (minute) => {
          for (const { feed } of running) feed.trade(minute);
        },
      },
    });
    await boot();
    await world.pass(70);
  });
  afterAll(async () => {
    await Promise.all(running.map((booted) => booted.dispose()));
    await world?.[Symbol.asyncDispose]();
    await ledger?.[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  const first = (): Booted => {
    const [booted] = running;
    if (booted === undefined) throw new Error("no oracle runs");
    return booted;
  };

  test("are what the exchanges traded, whoever trades how much", async () => {
    const atMs = await passMinute();
    for (const symbol of ["BTC", "UNI", "FTT"]) {
      const { list } = await candles(first(), symbol, "1m", 3);
      const expected = tradedUsd(symbol, atMs);
      expect(expected).toBeGreaterThan(0);
      expect(Math.abs((minuteOf(list, atMs).volume ?? 0) / expected - 1)).toBeLessThan(0.003);
    }
  });

  test("grow within the open minute, and never hold what was not traded yet", async () => {
    await world.pass((minuteMs - (clock.now() % minuteMs)) / 1_000 + 20);
    const atMs = Math.floor(clock.now() / minuteMs) * minuteMs;
    const early = minuteOf((await candles(first(), "BTC", "1m", 2)).list, atMs).volume ?? 0;
    await world.pass(30);
    const late = minuteOf((await candles(first(), "BTC", "1m", 2)).list, atMs).volume ?? 0;
    expect(early).toBeGreaterThan(0);
    expect(late).toBeGreaterThan(early);
    expect(late).toBeLessThanOrEqual(tradedUsd("BTC", atMs) * 1.003);
  });

  test("of the minutes of longer candles add up to them to the last digit, the open ones included", async () => {
    for (const symbol of ["BTC", "UNI", "FTT"]) {
      const { list, volumes } = await candles(first(), symbol, "1m", 120);
      expect(volumes.length).toBe(list.length);
      for (const [interval, length] of [
        ["5m", 5],
        ["1h", 60],
        ["1d", 1_440],
      ] as const) {
        const longer = await candles(first(), symbol, interval, 2);
        for (const [index, { timestamp }] of longer.list.entries()) {
          const fromMs = Date.parse(timestamp);
          const within = volumes.filter((_, at) => {
            const atMs = Date.parse(list[at]?.timestamp ?? "");
            return atMs >= fromMs && atMs < fromMs + length * minuteMs;
          });
          expect(within.reduce((sum, volume) => sum + volume, 0n)).toBe(longer.volumes[index] ?? -1n);
        }
      }
    }
  });

  test("are not set by an exchange that says it traded nothing, or a billion times as much", async () => {
    for (const factor of [0, 1_000, 1_000_000_000]) {
      await world.fault({ kind: "volume", factor, exchanges: ["binance"] });
      // The fault is on for the whole of a minute.
      await passMinute();
      const atMs = await passMinute();
      for (const symbol of ["BTC", "UNI"]) {
        const volume = minuteOf((await candles(first(), symbol, "1m", 2)).list, atMs).volume ?? 0;
        const others = tradedUsd(symbol, atMs, ["binance"]);
        expect(volume).toBeGreaterThanOrEqual(others * 0.99);
        expect(volume).toBeLessThanOrEqual(tradedUsd(symbol, atMs) * 2);
      }
      await world.heal();
    }
  });

  test("leave out whoever trades at prices that were not agreed on", async () => {
    await world.fault({ kind: "offset", factor: 1.5, exchanges: ["kraken", "gate"], symbols: ["BTC"] });
    await passMinute();
    const atMs = await passMinute();
    await world.heal();
    const volume = minuteOf((await candles(first(), "BTC", "1m", 2)).list, atMs).volume ?? 0;
    expect(Math.abs(volume / tradedUsd("BTC", atMs, ["kraken", "gate"]) - 1)).toBeLessThan(0.003);
    const { counts } = first();
    await stop(first());
    expect(counts.get("volume off-price")).toBeGreaterThanOrEqual(2);
    await boot();
    // Minutes that it lied in have passed, and it counts again.
    await passMinute();
  });

  test("are whole again after a restart, also of the minute in which nobody ran, and nothing is counted twice", async () => {
    await passMinute();
    const before = await candles(first(), "BTC", "1m", 60);
    await stop(first());
    await world.pass(25);
    await boot();
    await world.pass(5);
    const after = await candles(first(), "BTC", "1m", 60);
    const ended = before.list.length - 1;
    expect(after.list.slice(0, ended)).toEqual(before.list.slice(0, ended));
    expect(after.volumes.slice(0, ended)).toEqual(before.volumes.slice(0, ended));
    const atMs = await passMinute();
    const { list } = await candles(first(), "BTC", "1m", 5);
    for (const at of [atMs, atMs - minuteMs]) {
      expect(Math.abs((minuteOf(list, at).volume ?? 0) / tradedUsd("BTC", at) - 1)).toBeLessThan(0.003);
    }
  });

  test("and candles of two processes that write one ledger are those of one, row for row and sum for sum", async () => {
    const second = await boot();
    await passMinute();
    await passMinute();
    const ended = ({ list }: { readonly list: readonly Candle[] }) => list.slice(0, -1);
    // What each of them has not written yet is in its own answers alone: both end, and two others answer.
    await stop(second);
    await stop(first());
    // Rounds of this market's time are older than the engine keeps; a test of the store has two writers of the present.
    const tables = ["oracle_candles_by_minute", "oracle_volumes_by_minute"];
    const figures = async () => {
      const sql = (table: string): string =>
        `SELECT toString(count()) AS rows, toString(uniqExact(symbol, at)) AS keys FROM ${table} FINAL`;
      return await Promise.all(tables.map((table) => ledger.query<{ rows: string; keys: string }>(sql(table))));
    };
    const before = await figures();
    for (const [row] of before) expect(row?.rows).toBe(row?.keys ?? "");
    for (const table of tables) await ledger.command(`OPTIMIZE TABLE ${table} FINAL`);
    expect(await figures()).toEqual(before);
    const [third, fourth] = [await boot(), await boot()];
    const one = ended(await candles(third, "UNI", "1m", 60));
    expect(one.length).toBeGreaterThan(2);
    expect(ended(await candles(fourth, "UNI", "1m", 60))).toEqual(one);
    for (const { timestamp, volume } of one.slice(-2)) {
      expect(Math.abs((volume ?? 0) / tradedUsd("UNI", Date.parse(timestamp)) - 1)).toBeLessThan(0.003);
    }
  });
});
