import type { TokenBalance, TransactionMeta } from "@sluice/encode";
import { parseTransaction } from "../parse.ts";
import { TransactionView } from "../transaction-view.ts";
import { built, key } from "./built.ts";

export interface ScenarioCall {
  /** An address. */
  readonly program: string;
  /** Names, or addresses. */
  readonly accounts: readonly string[];
  /** Hex. */
  readonly data: string;
  readonly inner?: readonly ScenarioCall[];
}

export interface ScenarioTokens {
  readonly mint: string;
  readonly owner: string;
  readonly before: bigint;
  readonly after: bigint;
  readonly decimals?: number;
  /** The token program; the node does not tell it where it is left out. */
  readonly program?: string;
}

export interface Scenario {
  readonly calls: readonly ScenarioCall[];
  /** Lamports before and after by name; what is not told holds 1,000,000,000 all the time. */
  readonly lamports?: Readonly<Record<string, readonly [bigint, bigint]>>;
  readonly tokens?: Readonly<Record<string, ScenarioTokens>>;
  readonly error?: TransactionMeta["error"];
  readonly logs?: readonly string[];
}

const addressLength = 32;

/** The address that a name stands for: always the same for the same name. */
export function addressOf(name: string): string {
  if (name.length >= addressLength) return name;
  let sum = 7;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 251;
  return key(sum + 1);
}

function keysOf({ calls, tokens = {} }: Scenario): string[] {
  const keys = ["payer"];
  const add = (names: readonly string[]): void => {
    for (const name of names) if (!keys.includes(name)) keys.push(name);
  };
  const visit = ({ accounts, program, inner = [] }: ScenarioCall): void => {
    add([...accounts, program]);
    inner.forEach(visit);
  };
  calls.forEach(visit);
  add(Object.keys(tokens));
  if (new Set(keys.map(addressOf)).size < keys.length) throw new Error(`two names have one address: ${keys.join()}`);
  return keys;
}

/** A transaction that `payer` signs and that calls programs as stated; inner calls are one below the outer one. */
export function scenario(told: Scenario): TransactionView {
  const keys = keysOf(told);
  const { calls, tokens = {}, lamports = {}, error = null, logs = [] } = told;
  const compiled = ({ program, accounts, data }: ScenarioCall) => ({
    program: keys.indexOf(program),
    accounts: accounts.map((name) => keys.indexOf(name)),
    data: [...Buffer.from(data, "hex")],
  });
  const balances = (at: 0 | 1) =>
    keys.map((name) => lamports[name]?.[at] ?? 1_000_000_000n - (at === 1 && name === "payer" ? 5000n : 0n));
  const held = (when: "before" | "after"): TokenBalance[] =>
    Object.entries(tokens).flatMap(([name, { mint, owner, decimals = 6, program = null, [when]: amount }]) => {
      const accountIndex = keys.indexOf(name);
      const known = { accountIndex, mint: addressOf(mint), owner: addressOf(owner), programId: program, decimals };
      return amount === 0n && when === "after" && tokens[name]?.before === 0n ? [] : [{ ...known, amount }];
    });
  const meta: Partial<TransactionMeta> & Pick<TransactionMeta, "preBalances" | "postBalances"> = {
    preBalances: balances(0),
    postBalances: balances(1),
    preTokenBalances: held("before"),
    postTokenBalances: held("after"),
    error,
    logs,
    innerInstructions: calls.flatMap(({ inner = [] }, index) =>
      inner.length === 0
        ? []
        : [
            {
              index,
              instructions: inner.map((each) => {
                const { program, accounts, data } = compiled(each);
                return { programIdIndex: program, accounts, data: Uint8Array.from(data), stackHeight: 2 };
              }),
            },
          ],
    ),
  };
  return new TransactionView(built({ keys: keys.map(addressOf), calls: calls.map(compiled), meta }));
}

export function parsedScenario(told: Scenario): ReturnType<typeof parseTransaction> {
  return parseTransaction(scenario(told));
}
