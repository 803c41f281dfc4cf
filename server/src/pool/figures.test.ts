import { expect, test } from "bun:test";
import { decimalText } from "./decimal.ts";
import { poolFigures } from "./figures.ts";
import { playedPool } from "./testing/played-pool.ts";

const { snapshot, facts } = playedPool();
const [entry] = snapshot.validators;
const [known] = facts?.validators.values() ?? [];
if (entry === undefined || known === undefined || facts === null) throw new Error("the played pool has a validator");
const names = new Map<string, string>();

test("a score is by all stake with a validator, which is at least the pool's own where nodes tell less", () => {
  for (const totalStake of [0n, 1n, 500_000_000n]) {
    const behind = { ...facts, validators: new Map([[known.vote, { ...known, totalStake }]]) };
    const [shown] = poolFigures(snapshot, { facts: behind, names, kept: null }).validators;
    expect(decimalText(shown?.mevScore ?? { units: 0n, places: 2 })).toBe("50");
  }
});
