/**
 * bench/invariants: what the assertions of production cost for each unit of work, as the time of its work with them
 * and without. Rounds alternate; medians. `npm run bench -- invariants [rounds]`; it takes about 20 seconds.
 */
import { invariant } from "@sluice/lib";

const rounds = Math.max(1, Number(process.argv[2] ?? 5));

interface Unit {
  readonly title: string;
  readonly times: number;
  /** Does the work so many times, and gives something that depends on it. */
  readonly work: (times: number, checked: boolean) => number;
}

/** A lease's number and its spent credits, as credits/tally.ts keeps them. */
const cells = new Float64Array([7, 0]);

function spend(times: number, checked: boolean): number {
  for (let at = 0; at < times; at++) {
    const spent = (cells[1] ?? 0) + (at & 3);
    if (checked) {
      invariant(cells[0] === 7, "credits are spent on a lease account that is open");
      invariant(spent >= 0, "no more credits come back than were spent");
    }
    cells[1] = spent;
  }
  return cells[1] ?? 0;
}

function lease(times: number, checked: boolean): number {
  let left = 1_000_000_000;
  for (let at = 0; at < times; at++) {
    const [granted, returned, held] = [at & 7, 0, at & 7];
    left -= granted;
    if (left < 8) left = 1_000_000_000;
    if (checked) {
      invariant(granted >= 0 && returned >= 0 && held >= returned, "a lease grants, or gives back what is held");
      invariant(granted === 0 || left >= 0, "a lease never overdraws its bucket");
    }
  }
  return left;
}

const prices = Array.from({ length: 8 }, (_, at) => 71_000_000_000_000n + BigInt(at * 1_000_000));

function round(times: number, checked: boolean): number {
  let sum = 0n;
  for (let at = 0; at < times; at++) {
    const sorted = prices.toSorted((one, other) => (one < other ? -1 : 1));
    const [lowest = 0n, highest = 0n] = [sorted[0], sorted.at(-1)];
    const price = sorted[at & 7] ?? 0n;
    if (checked) invariant(price > 0n && price >= lowest && price <= highest, "a price lies outside its quotes");
    sum += price;
  }
  return Number(sum & 0xffffn);
}

const units: readonly Unit[] = [
  { title: "credits spent for a call: 2 checks", times: 20_000_000, work: spend },
  { title: "tokens of a rate leased: 2 checks", times: 20_000_000, work: lease },
  { title: "eight quotes sorted to a price: 1 check", times: 200_000, work: round },
];

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

for (const { title, times, work } of units) {
  const taken = { checked: [] as number[], unchecked: [] as number[] };
  for (let at = -1; at < rounds; at++) {
    for (const checked of at % 2 === 0 ? [true, false] : [false, true]) {
      const start = performance.now();
      work(times, checked);
      const ns = ((performance.now() - start) * 1e6) / times;
      if (at >= 0) taken[checked ? "checked" : "unchecked"].push(ns);
    }
  }
  const [with_, without] = [median(taken.checked), median(taken.unchecked)];
  console.log(
    `${title.padEnd(44)} ${with_.toFixed(1)} ns, ${without.toFixed(1)} ns without: ${(with_ - without).toFixed(1)} ns`,
  );
}
