import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { programs } from "@sluice/wire/programs";
import { decimal, formatDecimal } from "../model/decimal.ts";
import type { SourceEvents } from "../model/events.ts";
import type { Tick } from "../model/tick.ts";
import { type AccountReading, type ChainPoolOptions, ChainPools } from "./chain-pools.ts";
import { PoolPrice, poolSlotsMin } from "./pool-price.ts";

const million = 1_000_000n;
const options = { baseDecimals: 9, quoteDecimals: 6 };
/** A pool of a thousand whole bases at this price. */
const at = (slot: number, price: number) => ({
  slot: BigInt(slot),
  baseAmount: 1_000n * 1_000n * million,
  quoteAmount: BigInt(Math.round(price * 1e6)) * 1_000n,
});
/** A pool that has stood at 100 for as long as a price needs. */
function settled(): PoolPrice {
  const pool = new PoolPrice(options);
  for (let slot = 1; slot <= 32; slot++) pool.observe(at(slot, 100));
  return pool;
}
const priceOf = (verdict: ReturnType<PoolPrice["observe"]>): number =>
  verdict.kind === "price" ? Number(formatDecimal(verdict.price)) : Number.NaN;

describe("a pool's price", () => {
  test("is the ratio of what it holds, in whole tokens, once enough slots were seen", () => {
    const pool = new PoolPrice(options);
    for (let slot = 1; slot < poolSlotsMin; slot++) expect(pool.observe(at(slot, 100)).kind).toBe("waiting");
    expect(priceOf(pool.observe(at(poolSlotsMin, 100)))).toBe(100);
    expect(pool.observe(at(poolSlotsMin, 100)).kind).toBe("waiting");
  });

  test("moves by no more than an eighth of a percent for what one slot can do", () => {
    const pool = settled();
    const moved = priceOf(pool.observe(at(33, 101.99)));
    expect(moved).toBeGreaterThan(100);
    expect(moved).toBeLessThan(100 * (1 + 0.02 / 16));
  });

  test("is not reported in a slot that jumped, and is unmoved when the pool is back", () => {
    const pool = settled();
    expect(pool.observe(at(33, 150))).toEqual({ kind: "dropped", reason: "pool-moved" });
    expect(priceOf(pool.observe(at(34, 100)))).toBe(100);
  });

  test("follows a pool that stays where it jumped to, and none that jumps to and fro", () => {
    const pool = settled();
    for (let slot = 33; slot < 33 + 16; slot++) expect(pool.observe(at(slot, 150)).kind).toBe("dropped");
    expect(priceOf(pool.observe(at(49, 150)))).toBe(150);
    for (let slot = 50; slot < 150; slot++)
      expect(pool.observe(at(slot, slot % 2 === 0 ? 200 : 300)).kind).toBe("dropped");
  });

  test("is none for a pool that is shallow or empty, and begins anew after that", () => {
    const pool = settled();
    const shallow = { slot: 33n, baseAmount: 100n * 1_000n * million, quoteAmount: 10_000n * million };
    expect(pool.observe(shallow)).toEqual({ kind: "dropped", reason: "shallow-pool" });
    expect(pool.observe(at(34, 100)).kind).toBe("waiting");
    expect(pool.observe({ ...at(35, 100), baseAmount: 0n })).toEqual({ kind: "dropped", reason: "not-positive" });
    expect(pool.observe({ ...at(36, 100), quoteAmount: 0n })).toEqual({ kind: "dropped", reason: "not-positive" });
    const deep = new PoolPrice({ ...options, depthMin: decimal("300000") });
    expect(deep.observe(at(1, 100))).toEqual({ kind: "dropped", reason: "shallow-pool" });
  });

  test("is not taken from a slot before the newest", () => {
    expect(settled().observe(at(31, 100))).toEqual({ kind: "dropped", reason: "older" });
  });
});

const address = (digit: string): string => digit.repeat(32);
const [baseVault, quoteVault] = [address("2"), address("3")];
/** Base58 of 32 equal bytes is not at hand, so the mints are what these bytes are read as. */
const [baseMint, quoteMint] = ["11111111111111111111111111111111", programs.token as string];

function vault(mint: "base" | "quote", amount: bigint, state = 1): Uint8Array {
  const data = new Uint8Array(165);
  if (mint === "quote") data.set(tokenProgramBytes, 0);
  new DataView(data.buffer).setBigUint64(64, amount, true);
  data[108] = state;
  return data;
}
const { decodeBase58 } = await import("@sluice/wire/base58");
const tokenProgramBytes = decodeBase58(quoteMint, 32) ?? new Uint8Array(32);

function bench(pool: Partial<ChainPoolOptions> = {}) {
  const clock = new ManualClock(Date.parse("2026-11-01T00:00:00Z"));
  const ticks: Tick[] = [];
  const dropped: string[] = [];
  const faults: unknown[] = [];
  let reading: () => Promise<AccountReading> = () => Promise.resolve({ kind: "unavailable" });
  const events: SourceEvents = {
    sourceStatusChanged: () => {},
    sourceTicked: () => {},
    sourceDropped: (_source, reason) => void dropped.push(reason),
    sourceTraded: () => {},
    sourceStreamOpened: () => {},
    sourceStreamEnded: () => {},
    sourceRequestEnded: () => {},
    sourceFault: (_source, fault) => void faults.push(fault),
  };
  const asked: (readonly string[])[] = [];
  const options: ChainPoolOptions = {
    ...{ base: "SOL", quote: "USDC", baseVault, quoteVault, baseMint, quoteMint, baseDecimals: 9, quoteDecimals: 6 },
    ...pool,
  };
  const readAccounts = (addresses: readonly string[]): Promise<AccountReading> => {
    asked.push(addresses);
    return reading();
  };
  const source = new ChainPools(
    { pools: [options] },
    { clock, events, onTick: (tick) => void ticks.push(tick), readAccounts },
  );
  const step = async (): Promise<void> => {
    clock.advance(400);
    source.step();
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  const answer = (next: () => Promise<AccountReading>): void => {
    reading = next;
  };
  return { clock, ticks, dropped, faults, asked, source, step, answer };
}

describe("the chain as a source", () => {
  const owner = programs.token as string;
  const accounts = (slot: bigint, base: Uint8Array, quote: Uint8Array, by = owner): AccountReading => ({
    kind: "accounts",
    slot,
    accounts: [
      { owner: by, data: base },
      { owner: by, data: quote },
    ],
  });
  const holding = (slot: bigint) =>
    accounts(slot, vault("base", 1_000n * 1_000n * million), vault("quote", 100_000n * million));

  test("reads both vaults of a pool in one call and reports a tick for each new slot", async () => {
    const { ticks, asked, source, step, answer } = bench();
    let slot = 0n;
    answer(() => Promise.resolve(holding(++slot)));
    for (let steps = 0; steps < 20; steps++) await step();
    expect(asked[0]).toEqual([baseVault, quoteVault]);
    expect(ticks.length).toBe(20 - poolSlotsMin + 1);
    expect(formatDecimal(ticks[0]?.price ?? decimal("0"))).toBe("100");
    expect(ticks[0]).toMatchObject({ source: "chain", base: "SOL", quote: "USDC", bid: null, quoteVolume24h: null });
    expect(source.health()).toMatchObject({ source: "chain", status: "active", transport: "rest" });
  });

  test("reports nothing while the chain stands still, and is down after a while", async () => {
    const { ticks, source, step, answer, clock } = bench();
    let slot = 0n;
    answer(() => Promise.resolve(holding(slot < 20n ? ++slot : slot)));
    for (let steps = 0; steps < 40; steps++) await step();
    expect(ticks.length).toBe(5);
    clock.advance(20_000);
    source.step();
    expect(source.health().status).toBe("down");
  });

  test("believes no account that is not a live token account of the right mint", async () => {
    const { ticks, dropped, step, answer } = bench();
    const good = vault("base", 10n ** 12n);
    const wrong: readonly AccountReading[] = [
      accounts(1n, vault("quote", 10n ** 12n), vault("quote", 10n ** 11n)),
      accounts(2n, good, vault("quote", 10n ** 11n), "11111111111111111111111111111111"),
      accounts(3n, good, vault("quote", 10n ** 11n, 2)),
      accounts(4n, good, vault("quote", 10n ** 11n, 0)),
      accounts(5n, good, new Uint8Array(10)),
      { kind: "accounts", slot: 6n, accounts: [{ owner, data: good }, null] },
      { kind: "accounts", slot: 7n, accounts: [] },
    ];
    for (const reading of wrong) {
      answer(() => Promise.resolve(reading));
      await step();
    }
    expect(dropped).toEqual(wrong.map(() => "wrong-kind"));
    expect(ticks).toEqual([]);
  });

  test("outlives a reader that fails, rejects or never answers", async () => {
    const { faults, asked, source, step, answer } = bench();
    await step();
    answer(() => Promise.reject(new Error("broken")));
    await step();
    expect(faults.length).toBe(1);
    answer(() => new Promise(() => {}));
    await step();
    const before = asked.length;
    for (let steps = 0; steps < 10; steps++) await step();
    expect(asked.length).toBe(before);
    for (let steps = 0; steps < 5; steps++) await step();
    expect(asked.length).toBe(before + 1);
    await source[Symbol.asyncDispose]();
    await step();
    expect(asked.length).toBe(before + 1);
  });

  test("is refused with decimals that no mint has", () => {
    expect(() => bench({ baseDecimals: 19 })).toThrow(RangeError);
    expect(() => bench({ quoteDecimals: 1.5 })).toThrow(RangeError);
  });
});
