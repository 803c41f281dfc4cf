/**
 * bench/matching: for which of many subscriptions a transaction of 25 keys is: the inverted index of the room `events`
 * beside a matcher that asks each subscription in turn, in alternating rounds; what the facts of a transaction cost,
 * which are read once for all matchers; and 100 filters of 100,000 addresses each. CPU of the process.
 * `npm run bench -- matching [--rounds 5] [--transactions 2000] [--most 1000000]`.
 */
import { parseArgs } from "node:util";
import { seededRandom } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { AddressTexts } from "@sluice/wire/address-texts";
import { TransactionFacts, type TransactionFilter, TransactionMatcher } from "../../server/src/events/index.ts";
import { drawFilter, drawList, drawTransaction, keysOfTransaction } from "./workload.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    transactions: { type: "string", default: "2000" },
    most: { type: "string", default: "1000000" },
  },
});
const rounds = Number(values.rounds);
const most = Number(values.most);
/** Looks of the naive matcher at subscriptions that one of its rounds may take. */
const naiveLooks = 3_000_000;
const warmUps = 3;

const random = seededRandom(20_261_127);
const confirmed = Array.from({ length: Number(values.transactions) }, () => drawTransaction(random));
const texts = new AddressTexts();
const views = confirmed.map((transaction) => new TransactionView(transaction, texts));
const facts = views.map((view) => new TransactionFacts(view));

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0;

/** Microseconds of CPU. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** A transaction as the naive matcher has it. */
interface Named {
  readonly keys: ReadonlySet<string>;
  readonly programs: ReadonlySet<string>;
  readonly failed: boolean;
}

const named = views.map(
  (view): Named => ({ keys: new Set(view.keys), programs: new Set(view.programIds), failed: view.failed }),
);

const listed = (keys: TransactionFilter["programs"] = []): readonly string[] =>
  keys instanceof Uint8Array ? [] : keys;

function naivelyMatching(filters: readonly TransactionFilter[], { keys, programs, failed }: Named): number {
  let found = 0;
  for (const filter of filters) {
    const { accountInclude, accountRequired, accountExclude, programs: called } = filter;
    if (filter.failed !== undefined && filter.failed !== failed) continue;
    if (accountInclude !== undefined && !listed(accountInclude).some((key) => keys.has(key))) continue;
    if (accountRequired !== undefined && !listed(accountRequired).every((key) => keys.has(key))) continue;
    if (accountExclude !== undefined && listed(accountExclude).some((key) => keys.has(key))) continue;
    if (called !== undefined && !listed(called).some((key) => programs.has(key))) continue;
    found += 1;
  }
  return found;
}

interface Measured {
  readonly subscriptions: number;
  readonly groups: number;
  readonly addMicros: number;
  readonly indexMicros: number;
  readonly naiveMicros: number;
  readonly matches: number;
}

function measure(filters: readonly TransactionFilter[]): Measured {
  const matcher = new TransactionMatcher<number>(seededRandom(1));
  const addMicros = cpuOf(() => {
    for (const [at, filter] of filters.entries()) matcher.add(filter, at);
  });
  const naiveCount = Math.max(1, Math.min(facts.length, Math.floor(naiveLooks / filters.length)));
  let subscribers = 0;
  const index = (): void => {
    for (const each of facts) for (const group of matcher.match(each)) subscribers += group.size;
  };
  const naive = (): number => {
    let found = 0;
    for (let at = 0; at < naiveCount; at++) {
      const each = named[at];
      if (each !== undefined) found += naivelyMatching(filters, each);
    }
    return found;
  };
  for (let round = 0; round < warmUps; round++) index();
  const found = naive();
  subscribers = 0;
  for (const each of facts.slice(0, naiveCount)) for (const group of matcher.match(each)) subscribers += group.size;
  if (found !== subscribers) throw new Error(`the index has ${subscribers} matches and the naive matcher ${found}`);
  const [indexed, asked]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    indexed.push(cpuOf(index) / facts.length);
    asked.push(cpuOf(naive) / naiveCount);
  }
  return {
    subscriptions: filters.length,
    groups: matcher.groups,
    addMicros: addMicros / filters.length,
    indexMicros: median(indexed),
    naiveMicros: median(asked),
    matches: found / naiveCount,
  };
}

function factsMicros(): number {
  const taken: number[] = [];
  for (let round = 0; round < rounds + warmUps; round++) {
    taken.push(
      cpuOf(() => {
        for (const view of views) new TransactionFacts(view);
      }) / views.length,
    );
  }
  return median(taken.slice(warmUps));
}

const listKeys = 100_000;
const lists = 100;

/** What typed arrays and the heap hold, in bytes. */
function heldBytes(): number {
  Bun.gc(true);
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function measureLists(): void {
  const matcher = new TransactionMatcher<number>(seededRandom(1));
  const before = heldBytes();
  const [added, removed]: [number[], number[]] = [[], []];
  const members: Disposable[] = [];
  for (let list = 0; list < lists; list++) {
    const accountInclude = drawList(random, listKeys);
    added.push(cpuOf(() => members.push(matcher.add({ accountInclude }, list))) / 1e3);
  }
  const bytes = (heldBytes() - before) / matcher.keys;
  const index = (): void => {
    for (const each of facts) matcher.match(each);
  };
  for (let round = 0; round < warmUps; round++) index();
  const indexed = Array.from({ length: rounds }, () => cpuOf(index) / facts.length);
  for (const member of members) removed.push(cpuOf(() => member[Symbol.dispose]()) / 1e3);
  console.log(
    `${lists} filters of ${listKeys.toLocaleString("en")} addresses: ${median(indexed).toFixed(2)} us a transaction, ` +
      `${bytes.toFixed(0)} bytes a key; one is added in ${median(added).toFixed(0)} ms ` +
      `(at most ${Math.max(...added).toFixed(0)}) and removed in ${median(removed).toFixed(0)} ms`,
  );
}

console.log(`facts of a transaction of ${keysOfTransaction} keys: ${factsMicros().toFixed(2)} us`);
// First, since what the matchers below leave behind would be counted.
measureLists();
console.log("subscriptions  groups     matches  add us   index us  naive us");
for (let count = 100; count <= most; count *= 10) {
  const filters = Array.from({ length: count }, () => drawFilter(random));
  const { subscriptions, groups, addMicros, indexMicros, naiveMicros, matches } = measure(filters);
  const columns = [subscriptions, groups, matches.toFixed(1), addMicros.toFixed(2), indexMicros.toFixed(2)];
  console.log([...columns, naiveMicros.toFixed(1)].map((column) => String(column).padEnd(11)).join(""));
}
