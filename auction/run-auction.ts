import { invariant } from "@sluice/lib";
import { GapSearch } from "./gap-search.ts";
import type { SearchBudget } from "./graph.ts";
import { GroupOptima } from "./group-optimum.ts";
import type { AuctionBundle, AuctionCaps, AuctionLoss, AuctionOptions, AuctionOutcome } from "./interfaces.ts";
import { type Kernel, kernelOf } from "./kernel.ts";
import { type Evaluation, evaluate, guessPrice, priceMax, searchPrice } from "./prices.ts";
import {
  type Choice,
  type Contested,
  choose,
  exceededBy,
  type Filled,
  fill,
  fitsAlone,
  freeOf,
  isBlocked,
  isChosen,
  type Problem,
  problemOf,
} from "./problem.ts";
import { rankBundles } from "./rank.ts";

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
 * `gap` bounds the missing revenue; 0 proves an optimum. Caps that couple groups make the problem a knapsack, for which
 * no bounded work can promise more.
 *
 * One more bundle never lowers the revenue where the gap is 0, nor anywhere when the winners without it are the
 * `incumbent`.
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
  const candidates: B[] = [];
  const oversized: B[] = [];
  for (const bundle of ranked) (fitsAlone(bundle, free, caps) ? candidates : oversized).push(bundle);
  const contested = problemOf(candidates, free, caps);
  const { problem } = contested;
  const budget = { steps: searchSteps };
  const solution = solve(contested, budget, choiceOf(problem, candidates, incumbent));

  const winners = candidates.filter((_, index) => isChosen(problem, solution.choice, index));
  const revenue = winners.reduce((sum, { tip }) => sum + tip, 0n);
  assertValid(winners, contested.locks.accounts, free, caps);
  const upperBound = upperBoundOf(problem, solution.bound, revenue);
  invariant(winners.length + oversized.length <= bundles.length, "a winner is one of the bundles, once");
  const losers = [
    ...lossesOf(problem, candidates, solution.choice),
    ...oversized.map((bundle) => ({ bundle, lost: "winning_batch" }) as const),
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
 * account has one writing winner, and each winner fits alone. Takes 0.05 ms of a tick of 2,000 bundles (shared cores,
 * p50).
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
function choiceOf(problem: Problem, candidates: readonly AuctionBundle[], incumbent: readonly string[]): Choice | null {
  if (incumbent.length === 0) return null;
  const ids = new Set(incumbent);
  const choice = new Int32Array(problem.conflicts.bitWords);
  for (let index = 0; index < candidates.length; index++) {
    if (ids.has(candidates[index]?.id ?? "")) choose(problem, choice, index);
  }
  return choice;
}

function upperBoundOf({ scale, cutBits, size }: Problem, bound: number, revenue: bigint): bigint {
  const whole = BigInt(Math.floor(bound / scale)) << cutBits;
  const cutOff = BigInt(size) * ((1n << cutBits) - 1n);
  return whole + cutOff > revenue ? whole + cutOff : revenue;
}

function lossesOf<B extends AuctionBundle>(
  problem: Problem,
  candidates: readonly B[],
  choice: Choice,
): AuctionLoss<B>[] {
  const losses: AuctionLoss<B>[] = [];
  for (let index = 0; index < candidates.length; index++) {
    const bundle = candidates[index];
    if (bundle === undefined || isChosen(problem, choice, index)) continue;
    const lost = isBlocked(problem, choice, index) ? "state_auction" : "winning_batch";
    losses.push({ bundle, lost });
  }
  return losses;
}

export interface Solution {
  readonly choice: Choice;
  /** Scaled, as the problem's tips are. */
  readonly worth: number;
  /** No choice is worth more; equals `worth` when the solution is an optimum. */
  readonly bound: number;
  readonly capsBound: boolean;
  readonly nodes: number;
}

/** Rounds over the active caps' prices: each price is found with the others' fixed. */
const priceSweeps = 2;

/**
 * The winners of a problem. Without caps each group is on its own, and the union of the groups' optima is the answer.
 * Where that exceeds a cap the cap's compute gets a price, at which groups are on their own again; the price bounds
 * what can be reached, and the few choices close enough to that bound to matter are combined exactly. Tip accounts'
 * caps are examined only when an answer exceeds them. What it finds is worth no less than `incumbent`, as far as that
 * fits.
 */
export function solve(problem: Contested, budget: SearchBudget, incumbent: Choice | null = null): Solution {
  const solver = new Solver(problem, budget, incumbent);
  solver.run();
  return solver.solution();
}

class Solver {
  readonly #contested: Contested;
  readonly #problem: Problem;
  readonly #budget: SearchBudget;
  #best: Filled;
  #bound = Number.POSITIVE_INFINITY;
  #capsBound = false;
  #nodes = 0;
  /** Those at which the lowest bound so far was found. */
  #prices: readonly number[] = [];

  constructor(contested: Contested, budget: SearchBudget, incumbent: Choice | null) {
    this.#contested = contested;
    this.#problem = contested.problem;
    this.#budget = budget;
    this.#best = fill(this.#problem, null);
    if (incumbent === null) return;
    const kept = fill(this.#problem, incumbent);
    if (kept.worth > this.#best.worth) this.#best = kept;
  }

  solution(): Solution {
    const { choice, worth } = this.#best;
    return { choice, worth, bound: Math.max(worth, this.#bound), capsBound: this.#capsBound, nodes: this.#nodes };
  }

  run(): void {
    let active = firstOf(this.#withoutCaps());
    while (active.length > 0 && this.#bound > this.#best.worth) {
      this.#capsBound = true;
      const exceeded = this.#withCaps(active);
      active = exceeded.length === 0 || this.#budget.steps <= 0 ? [] : [...active, ...firstOf(exceeded)];
    }
  }

  /** The best choice of each group for itself; returns the caps that it exceeds. */
  #withoutCaps(): readonly number[] {
    // Half of the budget is kept for what follows if caps bind, where fewer bundles are worth their price.
    const kept = Math.floor(this.#budget.steps / 2);
    this.#budget.steps -= kept;
    const kernel = kernelOf(this.#contested, [], this.#budget);
    const optima = new GroupOptima(kernel.problem.conflicts, kernel.covers, this.#budget);
    const unpriced = kernel.problem.caps.map(() => 0);
    const free = evaluate(kernel.problem, optima, unpriced, null, true);
    this.#nodes += optima.nodes;
    this.#budget.steps = Math.max(0, this.#budget.steps) + kept;
    this.#bound = free.bound;
    const exceeded = this.#offer(kernel, free.choice);
    const [cap] = exceeded;
    if (cap !== undefined) {
      const price = Math.min(priceMax(kernel.problem, cap), guessPrice(kernel.problem, free, cap));
      this.#prices = unpriced.with(cap, price);
    }
    return exceeded;
  }

  /**
   * The answer where only the active caps count; returns the others that it exceeds, none when nothing better is left.
   */
  #withCaps(active: readonly number[]): readonly number[] {
    const kernel = kernelOf(this.#contested, active, this.#budget);
    const optima = new GroupOptima(kernel.problem.conflicts, kernel.covers, this.#budget);
    const evaluation = this.#findPrices(kernel, optima, active);
    this.#prices = evaluation.prices;
    const inactive = exceededBy(kernel.problem, evaluation.choice).filter((cap) => !active.includes(cap));
    const isSpent = this.#budget.steps <= 0;
    const exceeded = inactive.length > 0 || isSpent ? inactive : this.#combineNear(kernel, optima, evaluation, active);
    this.#nodes += optima.nodes;
    return exceeded;
  }

  /**
   * The exact answer where only the active caps count; returns those that it exceeds, none when nothing better is left.
   */
  #combineNear(
    kernel: Kernel,
    optima: GroupOptima,
    evaluation: Evaluation,
    active: readonly number[],
  ): readonly number[] {
    const combining = new GapSearch(kernel.problem, optima, this.#budget, evaluation, active, this.#best.worth);
    combining.run();
    this.#bound = Math.min(this.#bound, combining.bound);
    return combining.found === null ? [] : this.#offer(kernel, combining.found);
  }

  /** The evaluation with the lowest bound that was met while prices were sought. */
  #findPrices(kernel: Kernel, optima: GroupOptima, active: readonly number[]): Evaluation {
    const { problem } = kernel;
    let best = evaluate(problem, optima, this.#prices, null);
    this.#offer(kernel, best.choice);
    for (let sweep = 0; sweep < (active.length === 1 ? 1 : priceSweeps); sweep++) {
      for (const cap of active) {
        if (this.#budget.steps <= 0) break;
        const { within, over } = searchPrice(problem, optima, best, cap);
        for (const each of [over, within]) {
          if (each === null) continue;
          this.#offer(kernel, each.choice);
          if (each.bound <= best.bound) best = each;
        }
      }
    }
    this.#bound = Math.min(this.#bound, best.bound);
    return best;
  }

  /**
   * Takes the choice if, made to respect all caps, it is worth more than the best one; returns the caps that it
   * exceeds.
   */
  #offer(kernel: Kernel, choice: Choice): readonly number[] {
    const wish = new Int32Array(this.#problem.conflicts.bitWords);
    for (let at = 0; at < kernel.bundles.length; at++) {
      if (isChosen(kernel.problem, choice, at)) choose(this.#problem, wish, kernel.bundles[at] ?? 0);
    }
    const filled = fill(this.#problem, wish);
    if (filled.worth > this.#best.worth) this.#best = filled;
    return exceededBy(kernel.problem, choice);
  }
}

const firstOf = (caps: readonly number[]): readonly number[] => caps.slice(0, 1);
