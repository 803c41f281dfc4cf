import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord, record, records } from "@sluice/encode/testing/fixtures";
import { movementsOf } from "./neutral/movements.ts";
import { breaches, lostLamports, restsOf } from "./testing/conservation.ts";
import { realTransactions } from "./testing/fixtures.ts";
import { TransactionView } from "./transaction-view.ts";

const transactions = realTransactions();

/** Balances that were altered by hand where they were published. */
const altered = new Set(["swap-jupiter_v6-58FymkjJ.json"]);

for (const { name, executed } of transactions) {
  test(`${name}: movements and the fee are the change of every balance`, () => {
    const view = new TransactionView(executed);
    expect(breaches(view, movementsOf(view))).toEqual([]);
  });
}

/** The program of a reason. */
const programOf = (reason: string): string => reason.slice(0, reason.lastIndexOf(" "));

for (const { name, executed } of transactions) {
  test(`${name}: lamports that no call states were taken and given by a call that may, and none are lost`, () => {
    const view = new TransactionView(executed);
    const rests = restsOf(view, movementsOf(view));
    expect(rests.filter(({ reasons }) => reasons.length === 0)).toEqual([]);
    // Who gave them is who took them.
    const takers = new Set(rests.flatMap(({ change, reasons }) => (change < 0n ? reasons.map(programOf) : [])));
    const given = rests.filter(({ change }) => change > 0n);
    expect(given.filter(({ reasons }) => !reasons.some((reason) => takers.has(programOf(reason))))).toEqual([]);
    expect(lostLamports(view)).toBe(0n);
  });
}

test("what no call states is the rent of accounts that markets close, and the lamports of a bonding curve", () => {
  const programs = new Set<string>();
  for (const { executed } of transactions) {
    const view = new TransactionView(executed);
    for (const { reasons } of restsOf(view, movementsOf(view)))
      for (const each of reasons) programs.add(programOf(each));
  }
  if (transactions.length === 0) return;
  expect([...programs].toSorted()).toEqual([
    "digital_eyes",
    "exchange_art",
    "formfunction",
    "magic_eden_mmm",
    "magic_eden_v1",
    "magic_eden_v2",
    "metaplex_auction_house",
    "photon",
    "pump_fun",
    "solanart",
    "tensorswap",
  ]);
});

/** What independent readers say was transferred: manifest.json of the same data. */
function labelled(): { file: string; transfers: unknown[] }[] {
  const path = join(import.meta.dir, "../../shared/fixtures/transactions/manifest.json");
  if (!existsSync(path)) return [];
  return records(record(JSON.parse(readFileSync(path, "utf8")))["files"]).flatMap((entry) =>
    entry["type"] === "TRANSFER" ? [{ file: String(entry["file"]), transfers: records(entry["transfers"]) }] : [],
  );
}

for (const { file, transfers } of labelled()) {
  test(`${file}: the transfers are those that its independent label names`, () => {
    const found = transactions.find(({ name }) => name === file);
    if (found === undefined) throw new Error(`no ${file}`);
    const { native, tokens } = movementsOf(new TransactionView(found.executed));
    const ofTokens = tokens
      .filter(({ kind }) => kind === "transfer")
      .map(({ fromOwner, toOwner, mint, amount, fromAccount, toAccount }) => ({
        from: fromOwner,
        to: toOwner,
        mint,
        amount: String(amount),
        fromTokenAccount: fromAccount,
        toTokenAccount: toAccount,
      }));
    const ofLamports = native
      .filter(({ kind }) => kind === "transfer")
      .map(({ from, to, lamports }) => ({ from, to, mint: null, amount: String(lamports) }));
    const expected = transfers.map((each) => (isRecord(each) ? each : {}));
    const wanted = expected.some(({ mint }) => mint !== null) ? ofTokens : ofLamports;
    expect<unknown>(wanted.map((each) => onlyMembersOf(each, expected))).toEqual(expected);
  });
}

/** Labels leave out what their reader did not need. */
function onlyMembersOf(each: object, expected: readonly object[]): object {
  const members = new Set(expected.flatMap((one) => Object.keys(one)));
  return Object.fromEntries(Object.entries(each).filter(([member]) => members.has(member)));
}

test("few changes of real transactions are without a call that states them", () => {
  const kinds = new Map<string, number>();
  for (const { name, executed, hasTokenBalances } of transactions) {
    if (altered.has(name) || !hasTokenBalances) continue;
    for (const { kind } of movementsOf(new TransactionView(executed)).tokens)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  expect(kinds.get("program") ?? 0).toBe(0);
  expect(transactions.length === 0 || (kinds.get("transfer") ?? 0) > 50).toBe(true);
});
