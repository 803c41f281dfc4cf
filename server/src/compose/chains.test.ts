import { expect, test } from "bun:test";
import { type Config, loadConfig } from "../config/index.ts";
import { requireSameChains } from "./chains.ts";

const stored = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";
const other = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";

function configOf(env: Readonly<Record<string, string>> = {}, mode: "serve" | "dev" = "serve"): Config {
  const nodes = { UPSTREAMS_DEVNET: "a=http://a,b=http://b", NETWORK_DEFAULT: "devnet" };
  const outcome = loadConfig({ mode, env: { MASTER_KEY: "5e".repeat(32), ...nodes, ...env } });
  if (!outcome.ok) throw new Error("the configuration has faults");
  return outcome.config;
}

const store = { find: async () => ({ genesis: stored, first: null }) };

/** How a start goes whose nodes a and b tell these hashes; null for one that cannot be reached. */
async function startWith(told: readonly [string | null, string | null], config = configOf()): Promise<unknown> {
  let asked = 0;
  const ask = async ({ url }: { readonly url: string }) => {
    asked += 1;
    const result = told[url.includes("//a") ? 0 : 1] ?? null;
    return result === null ? ({ ok: false, reason: "unreachable" } as const) : ({ ok: true, result } as const);
  };
  return await requireSameChains(config, { store, ask }).then(
    () => asked,
    (error: unknown) => error,
  );
}

test("a database of another chain is refused, with both hashes and the ways out", async () => {
  const refused = await startWith([other, other]);
  expect(refused).toMatchObject({ code: "OTHER_CHAIN" });
  for (const part of [stored, other, "UPSTREAMS_DEVNET", "DATABASE_URL", "GENESIS_DEVNET"]) {
    expect(String(refused)).toContain(part);
  }
  expect(await startWith([other, null])).toMatchObject({ code: "OTHER_CHAIN" });
});

test("one node of the chain is enough, and nodes that cannot be reached stop no start", async () => {
  for (const told of [
    [other, stored],
    [stored, null],
    [null, null],
  ] as const)
    expect(await startWith(told)).toBe(2);
});

test("nobody is asked where the operator names the chain, under dev, and without a role that calls nodes", async () => {
  expect(await startWith([other, other], configOf({ GENESIS_DEVNET: other }))).toBe(0);
  expect(await startWith([other, other], configOf({}, "dev"))).toBe(0);
  expect(await startWith([other, other], configOf({ ROLES: "oracle" }))).toBe(0);
});
