import { invariant } from "@sluice/lib";
import { type Choice, choose, isBlocked, isChosen } from "./choice.ts";
import type { AuctionBundle, AuctionCaps, AuctionLoss, AuctionOptions, AuctionOutcome } from "./interfaces.ts";
import { fitsAlone, freeOf, type Problem, problemOf } from "./problem.ts";
import { rankBundles } from "./rank.ts";
import { solve } from "./solve.ts";

/** Steps of a tick, about 7 ms, and the share of them that each bundle costs before the search begins. */
const tickSteps = 3_500_000;
const stepsPerBundle = 1_000;
/** The least for any number of bundles. */
const searchStepsMin = 1_500_000;

/** The search steps of a tick with this number of bundles. */
export function defaultSearchSteps(bundles: number): number {
  return Math.max(searchStepsMin, tickSteps - stepsPerBundle * bundles);
}

/**
 * Runs the auction of one tick: finds the set of bundles with the highest sum of tips in which no two conflict and the
 * compute units of the block and of every account suffice. The result is a function of the arguments; the order of
 * `bundles` has no influence.
 *
 * Exactness: each conflict group of up to 28 bundles contributes its best set, independent of `searchSteps`, where the
 * caps have room for the best sets of all groups. Otherwise, and for larger groups, the search ends with its steps, and
 * `gap` bounds the missing revenue; 0 proves an optimum. Caps that couple groups make the problem a knapsack, for which no
 * bounded work can promise more.
 *
 * One more bundle never lowers the revenue where the gap is 0, nor anywhere when the winners without it are the `incumbent`.
 *
 * @throws {RangeError} when a tip is negative, or compute units are not a whole number of at least 0.
 */
export function runAuction<B extends AuctionBundle>(
  bundles: readonly B[],
  caps: AuctionCaps,
  { searchSteps = defaultSearchSteps(bundles.length), incumbent = [] }: AuctionOptions = {},
): AuctionOutcome<B> {
  const ranked = rankBundles(bundles);
  const free = freeOf(caps);
  const standing: B[] = [];
  const oversized: B[] = [];
  for (const bundle of ranked) (fitsAlone(bundle, free, caps) ? standing : oversized).push(bundle);
  const contested = problemOf(standing, free, caps);
  const { problem } = contested;
  const budget = { steps: searchSteps };
  const solution = solve(contested, budget, choiceOf(problem, standing, incumbent));

  const winners = standing.filter((_, index) => isChosen(problem, solution.choice, index));
  const revenue = winners.reduce((sum, { tip }) => sum + tip, 0n);
  assertValid(winners, contested.locks.accounts, free, caps);
  const upperBound = upperBoundOf(problem, solution.bound, revenue);
  invariant(winners.length + oversized.length <= bundles.length, "a winner is one of the bundles, once");
  const losers = [
    ...lossesOf(problem, standing, solution.choice),
    ...oversized.map((bundle) => ({ bundle, lost: "winning_batch", auctionId: bundle.id }) as const),
  ];
  const { groups } = problem.conflicts;
  return {
    winners,
    losers,
    revenue,
    upperBound,
    gap: upperBound - revenue,
    facts: {
      groups: groups.length,
      largestGroup: groups.reduce((largest, { members }) => Math.max(largest, members.length), 0),
      capsBound: solution.capsBound || oversized.length > 0,
      nodes: solution.nodes,
      steps: searchSteps - budget.steps,
    },
  };
}

/**
 * The winners are delivered to a leader as one block: two in conflict, or more compute than the block has, would cost
 * searchers their order and the leader its block. Other caps of accounts need no look here: an account that is no tip
 * account has one writing winner, and each winner fits alone. Takes 0.05 ms of a tick of 2,000 bundles (shared cores, p50).
 */
function assertValid(
  winners: readonly AuctionBundle[],
  accounts: number,
  free: (account: number) => number,
  caps: AuctionCaps,
): void {
  const readOrWritten = new Uint8Array(accounts);
  const usedOfTips = new Map<number, number>();
  let computeUnits = 0;
  for (const { computeUnits: units, locks } of winners) {
    computeUnits += units;
    for (let at = 0; at < locks.writes.length; at++) {
      const account = locks.writes[at] ?? 0;
      if (caps.tipAccounts.has(account)) {
        const used = (usedOfTips.get(account) ?? 0) + (locks.writeComputeUnits?.[at] ?? units);
        usedOfTips.set(account, used);
      } else {
        invariant(readOrWritten[account] === unlocked, "an account that a winner writes is locked by no other winner");
        readOrWritten[account] = written;
      }
    }
    for (let at = 0; at < locks.reads.length; at++) {
      const account = locks.reads[at] ?? 0;
      if (caps.tipAccounts.has(account)) continue;
      invariant(readOrWritten[account] !== written, "an account that a winner reads is written by no other winner");
      readOrWritten[account] = read;
    }
  }
  invariant(computeUnits <= caps.computeUnits, "the winners fit into the free compute units of the block");
  for (const [account, used] of usedOfTips) {
    invariant(used <= free(account), "the winners fit into the free compute units of each tip account");
  }
}

const unlocked = 0;
const read = 1;
const written = 2;

/** The incumbents that compete; null when there are none. They may conflict or exceed caps. */
function choiceOf(problem: Problem, standing: readonly AuctionBundle[], incumbent: readonly string[]): Choice | null {
  if (incumbent.length === 0) return null;
  const ids = new Set(incumbent);
  const choice = new Int32Array(problem.conflicts.bitWords);
  for (let index = 0; index < standing.length; index++) {
    if (ids.has(standing[index]?.id ?? "")) choose(problem, choice, index);
  }
  return choice;
}

function upperBoundOf({ scale, cutBits, size }: Problem, bound: number, revenue: bigint): bigint {
  const whole = BigInt(Math.floor(bound / scale)) << cutBits;
  const cutOff = BigInt(size) * ((1n << cutBits) - 1n);
  return whole + cutOff > revenue ? whole + cutOff : revenue;
}

function lossesOf<B extends AuctionBundle>(problem: Problem, standing: readonly B[], choice: Choice): AuctionLoss<B>[] {
  const { groups, groupOf } = problem.conflicts;
  const losses: AuctionLoss<B>[] = [];
  for (let index = 0; index < standing.length; index++) {
    const bundle = standing[index];
    if (bundle === undefined || isChosen(problem, choice, index)) continue;
    const first = groups[groupOf[index] ?? 0]?.members[0] ?? index;
    const lost = isBlocked(problem, choice, index) ? "state_auction" : "winning_batch";
    losses.push({ bundle, lost, auctionId: standing[first]?.id ?? bundle.id });
  }
  return losses;
}
