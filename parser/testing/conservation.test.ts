import { expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { movementsOf, type NativeMovement } from "../neutral/movements.ts";
import { u64 } from "./built.ts";
import { breaches, lostLamports, restsOf } from "./conservation.ts";
import { addressOf, type Scenario, scenario } from "./scenario.ts";

const paid = (lamports: bigint, more: Partial<Scenario> = {}): Scenario => ({
  calls: [
    {
      program: programs.system,
      accounts: ["payer", "friend"],
      data: Buffer.from([2, 0, 0, 0, ...u64(lamports)]).toString("hex"),
    },
  ],
  lamports: { payer: [1_000_000n, 994_993n], friend: [10n, 17n] },
  ...more,
});
const rest = (from: string, to: string, lamports: bigint): NativeMovement => ({
  ...{ kind: "program", from: addressOf(from), to: addressOf(to), lamports, call: null },
});

test("a transfer whose amount is read wrongly leaves a rest that no call explains", () => {
  const wrong = scenario(paid(5n));
  expect(breaches(wrong, movementsOf(wrong))).toEqual([]);
  expect(restsOf(wrong, movementsOf(wrong))).toEqual(
    [
      { account: addressOf("friend"), change: 2n, reasons: [] },
      { account: addressOf("payer"), change: -2n, reasons: [] },
    ].toSorted((one, other) => Number(one.change - other.change)),
  );
  const right = scenario(paid(7n));
  expect(restsOf(right, movementsOf(right))).toEqual([]);
});

test("a program explains what it takes from accounts that may be its own, and never what a wallet loses", () => {
  const stranger = addressOf("a program that nobody knows");
  const view = scenario({ calls: [{ program: stranger, accounts: ["payer", "state", "friend"], data: "01" }] });
  const reasons = (from: string, to: string) =>
    restsOf(view, { native: [rest(from, to, 3n)], tokens: [] }).map((each) => each.reasons);
  expect(reasons("state", "friend")).toEqual([[`${stranger} ?`], [`${stranger} ?`]]);
  expect(reasons("payer", "friend")).toEqual([[], [`${stranger} ?`]]);
  expect(reasons("state", "elsewhere")[1]).toEqual([]);
});

test("lamports that vanish are told", () => {
  expect(lostLamports(scenario(paid(7n)))).toBe(0n);
  expect(lostLamports(scenario(paid(7n, { lamports: { payer: [1_000_000n, 994_993n], friend: [10n, 16n] } })))).toBe(
    1n,
  );
});
