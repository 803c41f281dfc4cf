import { expect, test } from "bun:test";
import { creditCost } from "@sluice/contract/credits";
import { MethodRegistry } from "./method-registry.ts";

const passing = new MethodRegistry({ allowUnknownMethods: true });

test("a call priced by item costs for each item of its list, and for one where none is found", () => {
  const bundle = (count: number) => `[{"encodedTransactions":[${Array(count).fill('"2"').join(",")}]}]`;
  for (const method of ["simulateBundle", "getAssetBatch"]) {
    const one = creditCost(method);
    const price = (params: string | null) => passing.find(method)?.price(params);
    expect([price(null), price("[1"), price("[]"), price('["x"]')]).toEqual([one, one, one, one]);
    expect(price(method === "simulateBundle" ? bundle(3) : '{"ids":["a","b","c"]}')).toBe(3 * one);
  }
  expect(passing.find("getBalance")?.price('[["a","b","c"]]')).toBe(creditCost("getBalance"));
  expect(passing.find("getMoon")?.price('[["a","b","c"]]')).toBe(creditCost("getMoon"));
});

test("calls are recorded under names of the tables alone, and only sendTransaction is a send", () => {
  const recorded = ["getBalance", "getAssetBatch", "getMoon"].map((name) => passing.find(name)?.recordedName);
  expect(recorded).toEqual(["getBalance", "getAssetBatch", "unknown"]);
  const sends = ["sendTransaction", "simulateTransaction", "requestAirdrop", "getMoon"];
  expect(sends.map((name) => passing.find(name)?.isSend)).toEqual([true, false, false, false]);
});

test("parameters of up to 1,024 characters are planned once, and of methods that are never stored up to 128", () => {
  for (const [method, lengthMax] of [
    ["getSlot", 1_024],
    ["getLatestBlockhash", 128],
  ] as const) {
    const page = passing.find(method);
    const isRemembered = (length: number): boolean => {
      const text = `[${" ".repeat(length - 2)}]`;
      const first = page?.plan(text);
      return page?.plan(text) === first;
    };
    expect([method, isRemembered(lengthMax), isRemembered(lengthMax + 1)]).toEqual([method, true, false]);
  }
});

test("plans are remembered within their bytes: those asked for again stay, the others go after two generations", () => {
  /** Which of the plans A, B and C are still known after A B A C, each of 6,500 bytes. */
  const known = (rememberedBytesMax: number) => {
    const page = new MethodRegistry({ allowUnknownMethods: false, rememberedBytesMax }).find("getSlot");
    const texts = ["", " ", "  "].map((space) => `${space}[${" ".repeat(998 - space.length)}]`);
    const planOf = (index: number) => page?.plan(texts[index] ?? "");
    const first = [planOf(0), planOf(1), planOf(0), planOf(2)];
    return [planOf(0) === first[0], planOf(2) === first[3], planOf(1) === first[1]];
  };
  expect(known(26_000)).toEqual([true, true, false]);
  expect(known(26_002)).toEqual([true, true, true]);
});

test("without a bound of its own it remembers thousands of plans", () => {
  const page = new MethodRegistry({ allowUnknownMethods: false }).find("getBlock");
  const first = page?.plan("[0]");
  for (let slot = 1; slot < 5_000; slot += 1) page?.plan(`[${slot}]`);
  expect(page?.plan("[0]")).toBe(first as never);
});
