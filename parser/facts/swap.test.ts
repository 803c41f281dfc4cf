import { describe, expect, test } from "bun:test";
import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import { jupiterV6 } from "../programs/jupiter-v6.ts";
import { raydiumCpmm } from "../programs/raydium-cpmm.ts";
import { u64 } from "../testing/built.ts";
import { addressOf, parsedScenario, type Scenario, type ScenarioCall } from "../testing/scenario.ts";

const { wrappedNativeMint } = wellKnownAddresses;
const hex = (bytes: readonly number[]): string => Buffer.from(bytes).toString("hex");
const send = (from: string, to: string, amount: bigint, by = "payer"): ScenarioCall => ({
  program: programs.token,
  accounts: [from, to, by],
  data: hex([3, ...u64(amount)]),
});
const pay = (to: string, lamports: bigint): ScenarioCall => ({
  program: programs.system,
  accounts: ["payer", to],
  data: `02000000${hex(u64(lamports))}`,
});
const exchange = (from: string, to: string, given: ScenarioCall, got: ScenarioCall): ScenarioCall => ({
  program: jupiterV6.id,
  accounts: [programs.token, "payer", from, to],
  data: "e517cb977ae3ad2a",
  inner: [{ program: raydiumCpmm.id, accounts: ["payer"], data: "00" }, given, got],
});
const held = (mint: string, owner: string, before: bigint, after: bigint) => ({ mint, owner, before, after });
const vaults = { vaultA: held("mintA", "pool", 500n, 560n), vaultB: held("mintB", "pool", 500n, 470n) };
const swap = exchange("mineA", "mineB", send("mineA", "vaultA", 60n), send("vaultB", "mineB", 30n, "pool"));

const told = (scenario: Scenario) => {
  const { type, swap: facts } = parsedScenario(scenario);
  const leg = (of: { readonly mint: string; readonly amount: bigint } | null | undefined) => of && [of.mint, of.amount];
  return { type, input: leg(facts?.input), output: leg(facts?.output), facts };
};
const [mintA, mintB] = [addressOf("mintA"), addressOf("mintB")];
const [payer, friend] = [addressOf("payer"), addressOf("friend")];

describe("tokens that the trader sends to another beside the swap", () => {
  const friends = { theirsA: held("mintA", "friend", 0n, 0n), theirsB: held("mintB", "friend", 0n, 0n) };

  test("are no part of what he gave or got, and are told apart", () => {
    const { type, input, output, facts } = told({
      calls: [send("mineA", "theirsA", 15n), swap, send("mineB", "theirsB", 10n)],
      tokens: {
        ...vaults,
        ...{ mineA: held("mintA", "payer", 100n, 25n), mineB: held("mintB", "payer", 0n, 20n) },
        ...{ theirsA: { ...friends.theirsA, after: 15n }, theirsB: { ...friends.theirsB, after: 10n } },
      },
    });
    expect([type, input, output]).toEqual(["SWAP", [mintA, 60n], [mintB, 30n]]);
    expect(facts?.tokenFees).toMatchObject([
      { userAccount: payer, tokenAccount: addressOf("theirsA"), mint: mintA, amount: 15n },
      { userAccount: payer, tokenAccount: addressOf("theirsB"), mint: mintB, amount: 10n },
    ]);
  });

  test("may be all that he got", () => {
    const { output } = told({
      calls: [swap, send("mineB", "theirsB", 30n)],
      tokens: {
        ...vaults,
        ...{ mineA: held("mintA", "payer", 100n, 40n), mineB: held("mintB", "payer", 0n, 0n) },
        theirsB: { ...friends.theirsB, after: 30n },
      },
    });
    expect(output).toEqual([mintB, 30n]);
  });

  test("are his own still where they go to another account of his", () => {
    const { input, output, facts } = told({
      calls: [swap, send("mineB", "otherB", 30n)],
      tokens: {
        ...vaults,
        ...{ mineA: held("mintA", "payer", 100n, 40n), otherB: held("mintB", "payer", 5n, 35n) },
        mineB: held("mintB", "payer", 0n, 0n),
      },
    });
    expect([input, output, facts?.tokenFees]).toEqual([[mintA, 60n], [mintB, 30n], []]);
  });

  test("are lamports where they are wrapped", () => {
    const wrapped = (owner: string, before: bigint, after: bigint) => ({
      ...held(wrappedNativeMint, owner, before, after),
      decimals: 9,
    });
    const { input, output, facts } = told({
      calls: [
        exchange("mineA", "mineW", send("mineA", "vaultA", 60n), send("vaultW", "mineW", 700n, "pool")),
        send("mineW", "theirsW", 300n),
        pay("jito", 9n),
      ],
      lamports: {
        payer: [1_000_000n, 994_991n],
        mineW: [2_039_280n, 2_039_680n],
        theirsW: [2_039_280n, 2_039_580n],
        vaultW: [2_040_000n, 2_039_300n],
        jito: [0n, 9n],
      },
      tokens: {
        ...{ mineA: held("mintA", "payer", 100n, 40n), vaultA: vaults.vaultA },
        ...{ mineW: wrapped("payer", 0n, 400n), theirsW: wrapped("friend", 0n, 300n) },
        vaultW: wrapped("pool", 720n, 20n),
      },
    });
    expect([input, output]).toEqual([
      [mintA, 60n],
      [wrappedNativeMint, 700n],
    ]);
    expect(facts?.nativeFees).toEqual([
      { account: addressOf("theirsW"), lamports: 300n },
      { account: addressOf("jito"), lamports: 9n },
    ]);
  });
});

describe("a swap into an account of another", () => {
  test("has what came into it", () => {
    const { type, input, output, facts } = told({
      calls: [exchange("mineA", "theirsB", send("mineA", "vaultA", 60n), send("vaultB", "theirsB", 30n, "pool"))],
      tokens: { ...vaults, mineA: held("mintA", "payer", 100n, 40n), theirsB: held("mintB", "friend", 7n, 37n) },
    });
    expect([type, input, output]).toEqual(["SWAP", [mintA, 60n], [mintB, 30n]]);
    expect(facts).toMatchObject({ user: payer, tokenOutputs: [{ userAccount: friend, amount: 30n }] });
  });

  test("that is of nobody who is told, as in a round trip, has none", () => {
    const back = exchange("mineB", "mineA", send("mineB", "vaultB", 30n), send("vaultA", "mineA", 60n, "pool"));
    const { input, output } = told({
      calls: [swap, back],
      tokens: {
        ...{ vaultA: held("mintA", "pool", 500n, 500n), vaultB: held("mintB", "pool", 500n, 500n) },
        ...{ mineA: held("mintA", "payer", 100n, 100n), mineB: held("mintB", "payer", 3n, 3n) },
      },
    });
    expect([input, output]).toEqual([null, null]);
  });
});

test("two swaps that follow one another are one from the first token to the last", () => {
  const second = exchange("mineB", "mineC", send("mineB", "vaultB", 30n), send("vaultC", "mineC", 90n, "pool"));
  const { input, output, facts } = told({
    calls: [swap, second],
    tokens: {
      ...{
        vaultA: vaults.vaultA,
        vaultB: held("mintB", "pool", 500n, 500n),
        vaultC: held("mintC", "pool", 500n, 410n),
      },
      ...{ mineA: held("mintA", "payer", 100n, 40n), mineB: held("mintB", "payer", 0n, 0n) },
      mineC: held("mintC", "payer", 0n, 90n),
    },
  });
  expect([input, output]).toEqual([
    [mintA, 60n],
    [addressOf("mintC"), 90n],
  ]);
  expect(facts?.hops).toHaveLength(2);
});
