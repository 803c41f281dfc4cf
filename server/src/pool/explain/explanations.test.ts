import { expect, test } from "bun:test";
import { decimalText } from "./decimal.ts";
import { chainRecords, explainBundles, explainChain } from "./explain.ts";
import { noPool } from "./figures.ts";
import { playedPool } from "./testing/played-pool.ts";

test("every record of the chain names its accounts and comes to the figures that are shown", () => {
  const read = playedPool();
  const { total, base, mev } = read.figures.apy;
  for (const record of chainRecords) {
    const { inputs, steps, slot } = explainChain(record, read);
    expect(slot).toBe(String(read.snapshot?.slot));
    expect(inputs.length).toBeGreaterThan(0);
    for (const { where, value } of inputs) expect([where, value].includes("")).toBe(false);
    expect(steps.join("\n")).not.toMatch(/undefined|NaN/);
  }
  const apy = explainChain("apy", read).steps;
  expect(apy.at(-1)).toBe(`baseApy = ${decimalText(total)} - ${decimalText(mev)} = ${decimalText(base)}`);
  expect(explainChain("exchange-rate", read).steps).toEqual([
    `exchange rate = (1200000000 / 10^9) / (1000000000 / 10^9) = ${decimalText(read.figures.rate)}`,
  ]);
  // 1,000 tips of which a tenth stays with the validator, half of the rest for the pool.
  expect(explainChain("validators", read).steps[0]).toContain(
    "1000 - floor(1000 · 1000 / 10000) = 900, floor(900 · 500000000 / 1000000000) = 450",
  );
});

test("without a pool, and before the first epoch, it says so", () => {
  const none = explainChain("pool", { figures: noPool, snapshot: null, facts: null });
  expect([none.slot, none.steps.join("")]).toEqual([null, expect.stringContaining("no pool")]);
  const young = explainChain("apy", { ...playedPool(), facts: null });
  expect(young.steps.join("")).toContain("no epoch");
});

test("tips are explained by each bundle that landed, and their sums by type", () => {
  const bundles = [
    { id: "a", mevType: "jit", slot: 5n, tip: 7n },
    { id: "b", mevType: "unknown", slot: 6n, tip: 8n },
  ];
  const { inputs, steps } = explainBundles("mev", bundles, 1_000);
  expect(inputs.map(({ where, value }) => `${where}: ${value}`)).toEqual(["a in 5: 7", "b in 6: 8"]);
  expect(steps).toContain("JIT: 1 bundles, 7 lamports");
  expect(steps.at(-1)).toBe("2 bundles, 15 lamports");
  expect(explainBundles("mev", bundles, 2).steps.at(-1)).toContain("the newest ones alone");
});
