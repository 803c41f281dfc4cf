import { type Choice, choose, isBlocked, isChosen } from "./choice.ts";
import type { AuctionBundle, AuctionCaps, AuctionLoss, AuctionOptions, AuctionOutcome } from "./interfaces.ts";
import { fitsAlone, freeOf, type Problem, problemOf } from "./problem.ts";
import { rankBundles } from "./rank.ts";
import { solve } from "./solve.ts";

/** Steps of a tick in all, about 7 ms, and what each bundle takes of them before anything is searched. */
const tickSteps = 3_500_000;
const stepsPerBundle = 1_000;
/** However many bundles there are. */
const searchStepsMin = 1_500_000;

/** The steps that searching may take in a tick of so many bundles. */
export function defaultSearchSteps(bundles: number): number {
  return Math.max(searchStepsMin, tickSteps - stepsPerBundle * bundles);
}

/**
 * One tick's auction: the bundles that pay the most lamports of tip together, where no two conflict and the block's and
 * every account's compute suffice. The order of `bundles` decides nothing, and nothing else does but the options: no clock,
 * no chance.
 *
 * What is exact: each conflict group of up to 28 bundles wins with its best set, whatever that takes and with no steps to
 * search, wherever the caps leave room for all groups' best sets. Where they do not, or a group is larger, the search ends
 * when its steps do, and `gap` says by how much at most the revenue falls short; 0 proves it the highest there is. Caps that
 * couple groups make the choice a knapsack, for which no bound on the work could promise more.
 *
 * One more bundle never lowers the revenue where the gap is 0, and nowhere when the winners without it are the `incumbent`.
 * Throws RangeError for negative tips or compute units that are no whole number.
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
  const upperBound = upperBoundOf(problem, solution.bound, revenue);
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

/** The incumbents that stand; null where there are none. They may conflict or exceed caps. */
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
