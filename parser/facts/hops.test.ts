import { describe, expect, test } from "bun:test";
import { decodeAddress } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { jupiterV6 } from "../programs/jupiter-v6.ts";
import { pumpFun } from "../programs/pump-fun.ts";
import { raydiumCpmm } from "../programs/raydium-cpmm.ts";
import { raydiumLaunchlab } from "../programs/raydium-launchlab.ts";
import { u64 } from "../testing/built.ts";
import { addressOf, parsedScenario, type ScenarioCall } from "../testing/scenario.ts";

const bytesOf = (name: string): number[] => [...(decodeAddress(addressOf(name)) ?? [])];
const hex = (bytes: readonly number[]): string => Buffer.from(bytes).toString("hex");
const send = (from: string, to: string, amount: bigint, by = "payer"): ScenarioCall => ({
  program: programs.token,
  accounts: [from, to, by],
  data: hex([3, ...u64(amount)]),
});
const selfCall = (program: string, rest: readonly number[]): ScenarioCall => ({
  program,
  accounts: ["events"],
  data: hex([0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d, ...rest]),
});
const swapEvent = (program: string, input: readonly [string, bigint], output: readonly [string, bigint]) =>
  selfCall(program, [
    ...[0x40, 0xc6, 0xcd, 0xe8, 0x26, 0x08, 0x71, 0xe2],
    ...bytesOf(raydiumCpmm.id),
    ...[...bytesOf(input[0]), ...u64(input[1]), ...bytesOf(output[0]), ...u64(output[1])],
  ]);
const tradeEvent = (program: string, mint: string, lamports: bigint, amount: bigint) =>
  selfCall(program, [
    ...[0xbd, 0xdb, 0x7f, 0xd3, 0x4e, 0xe6, 0x61, 0xee],
    ...[...bytesOf(mint), ...u64(lamports), ...u64(amount), 1],
  ]);

const stranger = addressOf("a program that nobody knows");
const tokens = {
  mineA: { mint: "mintA", owner: "payer", before: 100n, after: 40n },
  mineB: { mint: "mintB", owner: "payer", before: 0n, after: 30n },
  vaultA: { mint: "mintA", owner: "pool", before: 500n, after: 560n },
  vaultB: { mint: "mintB", owner: "pool", before: 500n, after: 470n },
};
const given = send("mineA", "vaultA", 60n);
const got = send("vaultB", "mineB", 30n, "pool");
const route = (inner: readonly ScenarioCall[]): ScenarioCall => ({
  program: jupiterV6.id,
  accounts: [programs.token, "payer", "mineA", "mineB"],
  data: "e517cb977ae3ad2a",
  inner,
});
const legs = (calls: readonly ScenarioCall[]) => {
  const { type, swap } = parsedScenario({ calls, tokens });
  const hops = swap?.hops.map(({ source, input, output }) => [
    source,
    input.mint,
    input.amount,
    output.mint,
    output.amount,
  ]);
  return { type, hops, input: swap?.input?.amount, output: swap?.output?.amount };
};
const told = [addressOf("mintA"), 60n, addressOf("mintB"), 30n];

describe("events of a route", () => {
  test("of the program of the route name the pools and amounts of its exchanges", () => {
    const event = swapEvent(jupiterV6.id, ["mintA", 60n], ["mintB", 30n]);
    expect(legs([route([given, got, event])])).toEqual({
      type: "SWAP",
      hops: [["raydium_cpmm", ...told]],
      input: 60n,
      output: 30n,
    });
  });

  test("that another program tells are no exchange, and leave those that moved as they are", () => {
    const forged = swapEvent(stranger, ["mintA", 60n], ["mintB", 30_000n]);
    expect(legs([route([given, got, forged])])).toEqual({
      type: "SWAP",
      hops: [["jupiter_v6", ...told]],
      input: 60n,
      output: 30n,
    });
  });

  test("of more than what moved are not believed", () => {
    const event = swapEvent(jupiterV6.id, ["mintA", 60n], ["mintB", 31n]);
    expect(legs([route([given, got, event])]).hops).toEqual([["jupiter_v6", ...told]]);
    const other = swapEvent(jupiterV6.id, ["mintA", 60n], ["mintC", 1n]);
    expect(legs([route([given, got, other])]).hops).toEqual([["jupiter_v6", ...told]]);
  });

  test("alone are no swap, whoever tells them", () => {
    for (const program of [stranger, jupiterV6.id]) {
      const event = swapEvent(program, ["mintA", 60n], ["mintB", 30n]);
      expect(legs([{ program: stranger, accounts: ["mineA"], data: "01", inner: [given, event] }]).type).toBe(
        "UNKNOWN",
      );
    }
  });
});

describe("the event of a trade with a bonding curve", () => {
  const curve = (program: string, data: string, inner: readonly ScenarioCall[]): ScenarioCall => ({
    program,
    accounts: ["a", "b", "mintB", "pool", "vaultB", "mineB", "payer"],
    data,
    inner,
  });
  const paid = { payer: [1_000_000n, 994_910n], pool: [500n, 590n] } as const;
  const trade = (call: ScenarioCall) => {
    const { mineB, vaultB } = tokens;
    const parsed = parsedScenario({ calls: [call], tokens: { mineB, vaultB }, lamports: paid });
    return { type: parsed.type, hops: parsed.swap?.hops.map(({ input, output }) => [input.amount, output.amount]) };
  };
  const pay: ScenarioCall = {
    program: programs.system,
    accounts: ["payer", "pool"],
    data: hex([2, 0, 0, 0, ...u64(90n)]),
  };
  const unknownTag = "0011223344556677";

  test("of the curve's own program says what was bought, also by an instruction that is not known", () => {
    const inner = [pay, got, tradeEvent(pumpFun.id, "mintB", 90n, 30n)];
    for (const data of ["66063d1201daebea", unknownTag]) {
      expect(trade(curve(pumpFun.id, data, inner))).toEqual({ type: "SWAP", hops: [[90n, 30n]] });
    }
  });

  test("of another program makes no swap of an instruction that is not known, and no amounts of one that is", () => {
    const inner = [pay, got, tradeEvent(stranger, "mintB", 90n, 3_000n)];
    expect(trade(curve(pumpFun.id, unknownTag, inner)).type).toBe("UNKNOWN");
    expect(trade(curve(pumpFun.id, "66063d1201daebea", inner)).hops).toEqual([]);
  });

  test("of more tokens than moved is not believed", () => {
    const inner = [pay, got, tradeEvent(pumpFun.id, "mintB", 90n, 31n)];
    expect(trade(curve(pumpFun.id, "66063d1201daebea", inner)).hops).toEqual([]);
  });

  test("that has the same name in another program has another layout, and is not read", () => {
    const call: ScenarioCall = {
      ...curve(raydiumLaunchlab.id, "faea0d7bd59c13ec", [given, got, tradeEvent(raydiumLaunchlab.id, "pool", 1n, 0n)]),
      accounts: ["payer", "b", "c", "d", "pool"],
    };
    expect(legs([call]).hops).toEqual([["raydium_launchlab", ...told]]);
  });
});
