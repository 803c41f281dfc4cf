/**
 * bench/parse: the parser of transactions on real ones, and beside solana-dex-parser on the same swaps, in one process
 * and one run. The order alternates from round to round; each round goes once through all transactions, and of each
 * transaction the median over the rounds counts. What is measured starts with a transaction as it is held in memory
 * (ours: wire bytes and meta; theirs: the object of getTransaction) and ends with what it was; ours also with the JSON
 * of its record. `npm run bench -- parse --dex-parser DIRECTORY` names a directory where
 * `npm install solana-dex-parser@2.6.7` has run; without it the other parser is not run. `--only blocks` measures whole
 * blocks of 1,000 transactions instead, as the writer of the ledger reads them: CPU of one transaction, and how many of
 * them one core parses in a second. `--only http [--requests 100]` measures the enhanced API of a whole Sluice instead:
 * requests with 100 signatures each, of which no one is asked for twice.
 */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { ConfirmedTransaction } from "@sluice/encode";
import { enhancedRecord, parseTransaction, recordText, TransactionView } from "@sluice/parser";
import { readFixtures } from "../../encode/testing/fixtures.ts";
import { realTransactions } from "../../parser/testing/fixtures.ts";
import { measureBlocks } from "./blocks.ts";
import { measureHttp } from "./http.ts";

const rounds = 60;
const warmUpRounds = 30;
const place = { slot: 1n, blockTime: null };

type Work = () => unknown;

const { values } = parseArgs({
  options: { "dex-parser": { type: "string" }, only: { type: "string" }, requests: { type: "string", default: "100" } },
});

const parse = (executed: ConfirmedTransaction): ReturnType<typeof parseTransaction> =>
  parseTransaction(new TransactionView(executed));

function record(executed: ConfirmedTransaction): string {
  const view = new TransactionView(executed);
  return recordText(enhancedRecord(view, parseTransaction(view), { place }));
}

/** Microseconds of each piece of work: the median over the rounds. */
function measure(subjects: ReadonlyMap<string, readonly Work[]>): Map<string, number[]> {
  const times = new Map([...subjects].map(([name, works]) => [name, works.map((): number[] => [])]));
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [...subjects] : [...subjects].toReversed();
    for (const [name, works] of order) {
      for (const [at, work] of works.entries()) {
        const startedMs = performance.now();
        work();
        if (round >= 0) times.get(name)?.[at]?.push((performance.now() - startedMs) * 1_000);
      }
    }
  }
  return new Map([...times].map(([name, lists]) => [name, lists.map(median)]));
}

function median(list: readonly number[]): number {
  return list.toSorted((left, right) => left - right)[list.length >> 1] ?? Number.NaN;
}

function line(name: string, micros: readonly number[]): string {
  const sorted = micros.toSorted((left, right) => left - right);
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(1);
  const perSecond = Math.round((micros.length * 1e6) / micros.reduce((sum, each) => sum + each, 0));
  return `  ${name.padEnd(44)}${String(micros.length).padStart(4)}  ${at(0.5).padStart(8)} ${at(0.95).padStart(8)} µs  ${perSecond} /s`;
}

/** What solana-dex-parser makes of the object of getTransaction; null where it is not at hand. */
async function dexParser(): Promise<((result: unknown) => unknown) | null> {
  const directory = values["dex-parser"];
  if (directory === undefined) {
    console.warn("NOT RUN: solana-dex-parser, which --dex-parser names a directory of");
    return null;
  }
  const entry = Bun.resolveSync("solana-dex-parser", resolve(directory));
  const { DexParser } = await import(entry);
  const parser = new DexParser();
  return (result) => parser.parseAll(result);
}

const real = realTransactions();
const results = new Map(readFixtures().map(({ name, result }) => [name, result]));
const typed = real.map((each) => ({ ...each, type: parse(each.executed).type }));
const swaps = typed.filter(({ type, executed }) => type === "SWAP" && executed.meta?.error === null);
const simple = typed.filter(({ type }) => type === "TRANSFER");

if (values.only === "http") {
  const { times, records } = await measureHttp(Number(values.requests), 5);
  const sorted = times.toSorted((left, right) => left - right);
  const at = (part: number): number => sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
  const [middle, most, last] = [at(0.5), at(0.99), sorted.at(-1) ?? Number.NaN].map((ms) => `${ms.toFixed(1)} ms`);
  console.log(`  100 signatures: ${times.length} requests, ${records} records`);
  console.log(`  median ${middle}, p99 ${most}, slowest ${last}; the goal is a p99 below 150 ms`);
  process.exit(at(0.99) < 150 ? 0 : 1);
}

if (values.only === "blocks") {
  const executed = (each: readonly { readonly executed: ConfirmedTransaction }[]) => each.map((one) => one.executed);
  const kinds = new Map([
    ["simple transfers", executed(simple)],
    ["swaps", executed(swaps)],
    ["all kinds", executed(typed)],
  ]);
  console.log(`  ${"CPU µs of a transaction".padEnd(26)}  unpacked    parsed    events      one core`);
  for (const [kind, { unpacked, parsed, told }] of measureBlocks(kinds)) {
    const shown = [unpacked, parsed, told].map((micros) => micros.toFixed(1).padStart(10));
    console.log(`  ${kind.padEnd(26)}${shown.join("")}${`${Math.round(1e6 / parsed)} /s`.padStart(14)}`);
  }
  process.exit(0);
}

const theirs = await dexParser();
const subjects = new Map<string, Work[]>([
  [
    "swaps: ours, parsed",
    swaps.map(
      ({ executed }) =>
        () =>
          parse(executed),
    ),
  ],
  [
    "swaps: ours, parsed and written as a record",
    swaps.map(
      ({ executed }) =>
        () =>
          record(executed),
    ),
  ],
]);
if (theirs !== null) {
  subjects.set(
    "swaps: solana-dex-parser 2.6.7, parseAll",
    swaps.map(
      ({ name }) =>
        () =>
          theirs(results.get(name)),
    ),
  );
}
subjects.set(
  "simple transfers: ours, parsed",
  simple.map(
    ({ executed }) =>
      () =>
        parse(executed),
  ),
);
subjects.set(
  "simple transfers: ours, with record",
  simple.map(
    ({ executed }) =>
      () =>
        record(executed),
  ),
);
subjects.set(
  "all kinds: ours, with record",
  typed.map(
    ({ executed }) =>
      () =>
        record(executed),
  ),
);

console.log(`  ${"".padEnd(44)}   n    median      p95     one core`);
for (const [name, micros] of measure(subjects)) console.log(line(name, micros));
