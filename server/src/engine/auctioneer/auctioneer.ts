import { type AuctionOutcome, runAuction } from "@sluice/auction";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { BundlePool, BundleRecord } from "../model/bundle.ts";
import type { AuctioneerEvents } from "../model/events.ts";
import type { Validators } from "../model/service.ts";
import type { BundleOutcome, Simulator } from "../simulation/index.ts";
import type { AuctionLosses } from "./auction-losses.ts";
import { BlockPlan } from "./block-plan.ts";
import { type Candidate, type Candidates, highestTipFirst, withinPlaces } from "./candidates.ts";
import type { BuildTarget } from "./slot-targeting.ts";

/** Winners that turn out not to run give way to others this often within a tick. */
const roundsMax = 3;
/** Bundles of which nothing is known that are run in one tick, the highest claims first. */
const unknownMax = 512;
/** Winners that are run before it is looked whether there is time for more. */
const appliedInOneGo = 64;
/**
 * A tick that has lasted longer delivers what ran so far, and a winner that has not run competes at the next one.
 * With 2,000 winners on busy cores ticks took over 400 ms else, came after their slot, and all of it was for nothing.
 */
const fillingMsMax = 100;

export interface AuctioneerDependencies {
  readonly pool: Pick<BundlePool, "everyAccepted" | "live" | "forwarded" | "simulated">;
  readonly candidates: Candidates;
  readonly simulator: Pick<Simulator, "openBlock">;
  readonly validators: Pick<Validators, "deliver">;
  /** The slot to build for now; null while no leader that takes bundles is near. */
  readonly target: () => BuildTarget | null;
  /** Whether a slot is over, as far as is known: its leader is handed nothing for it any more. */
  readonly isOver: (slot: Slot) => boolean;
  /** The slot up to which every block was read for bundles: what was delivered for it has landed or has not. */
  readonly settledThrough: () => Slot | null;
  readonly tipAccounts: readonly Address[];
  /** Opens the sealed bundles whose tick this is. */
  readonly openSealed: (target: BuildTarget) => Promise<void>;
  /** Those of the bundles that can be run now; of the others the chain has not reported enough yet. */
  readonly simulatable: (bundles: readonly BundleRecord[]) => Promise<readonly BundleRecord[]>;
  readonly losses: Pick<AuctionLosses, "lost" | "taken" | "slotOver">;
  readonly nowMs: () => number;
  readonly events: AuctioneerEvents;
}

/** What a tick brings the leader; amounts in lamports. */
export interface TickResult {
  readonly winners: number;
  readonly revenue: bigint;
  /** How much more the best auction may have brought at most. */
  readonly gap: bigint;
}

/**
 * Fills blocks, tick by tick. The auction chooses by what simulations have seen; each winner is then run on the state
 * that earlier winners of the block have left, and only what ran is handed to the leader. Losing is not the end: a
 * bundle competes at each tick until it expires.
 */
export class Auctioneer implements AsyncDisposable {
  readonly #dependencies: AuctioneerDependencies;
  readonly #candidates: Candidates;
  #plan: BlockPlan | null = null;
  /** Winners of the auction before: where they compete again, nothing that has come since makes the revenue less. */
  #incumbent: readonly string[] = [];
  #ticking: Promise<void> | null = null;
  /** Ticks that had a target. */
  #ticks = 0;

  constructor(dependencies: AuctioneerDependencies) {
    this.#dependencies = dependencies;
    this.#candidates = dependencies.candidates;
  }

  /** One tick. One that is requested while another lasts is left out. */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick()
      .catch((error: unknown) => {
        this.#plan?.takeBack();
        this.#dependencies.events.internalError("auctioneer", error);
      })
      .finally(() => {
        this.#ticking = null;
      });
    return this.#ticking;
  }

  async #tick(): Promise<void> {
    const target = this.#dependencies.target();
    this.#endSlot(target);
    if (target === null) return;
    const startedMs = this.#dependencies.nowMs();
    this.#ticks += 1;
    const plan = await this.#planFor(target);
    if (!(await plan.renew())) return;
    await this.#dependencies.openSealed(target);
    const eligible = this.#eligible(plan, target);
    if (eligible.length === 0) return;
    await this.#learn(plan, eligible);
    const { winners, revenue, gap } = await this.#fill(plan, eligible, startedMs + fillingMsMax);
    const durationMs = this.#dependencies.nowMs() - startedMs;
    this.#dependencies.events.ticked({ candidates: eligible.length, winners, revenue, gap, durationMs });
  }

  /** Once the slot that was filled is over, or another one is filled, no bundle wins it any more. */
  #endSlot(target: BuildTarget | null): void {
    const slot = this.#plan?.slot;
    if (slot === undefined || target?.slot === slot || (target === null && !this.#dependencies.isOver(slot))) return;
    this.#dependencies.losses.slotOver();
  }

  /** The plan of the target's block: the present one, or a new one in place of it. */
  async #planFor(target: BuildTarget): Promise<BlockPlan> {
    const present = this.#plan;
    if (present !== null && present.slot === target.slot && present.leader === target.leader) return present;
    this.#plan = null;
    await present?.[Symbol.asyncDispose]();
    const plan = new BlockPlan(target, () => this.#dependencies.simulator.openBlock(target.slot));
    this.#plan = plan;
    return plan;
  }

  #eligible(plan: BlockPlan, { isOpen }: BuildTarget): readonly BundleRecord[] {
    const settledThrough = this.#dependencies.settledThrough();
    const eligible: BundleRecord[] = [];
    for (const record of this.#dependencies.pool.everyAccepted()) {
      if (plan.settled.has(record.id)) continue;
      // A leader executes what it has at once, so what is meant for one slot waits until that slot is open.
      if (record.targetSlot !== null && (record.targetSlot !== plan.slot || !isOpen)) continue;
      const { forwarded } = record;
      if (forwarded !== null && (settledThrough === null || forwarded.slot > settledThrough)) continue;
      if (this.#candidates.mayRun(record.id, plan.slot)) eligible.push(record);
    }
    return withinPlaces(eligible);
  }

  /** Runs bundles of which nothing is known: after a restart, and where they were opened or failed before. */
  async #learn(plan: BlockPlan, eligible: readonly BundleRecord[]): Promise<void> {
    const unknown = highestTipFirst(eligible.filter(({ id }) => this.#candidates.get(id) === null)).slice(
      0,
      unknownMax,
    );
    if (unknown.length === 0) return;
    const checked = await this.#dependencies.simulatable(unknown);
    const outcomes = await plan.session.attempt(checked);
    for (const [index, record] of checked.entries()) {
      const outcome = outcomes[index];
      if (outcome?.ok === true && outcome.tip >= record.tip) this.#candidates.seen(record, outcome);
      else this.#notRun(plan, record.id, outcome);
    }
  }

  /**
   * Of what could not be run now nothing is known: it competes at the next tick, and says nothing against the bundle.
   */
  #notRun(plan: BlockPlan, id: string, outcome: BundleOutcome | undefined): void {
    const unavailable = outcome?.ok === false && outcome.reason === "unavailable" ? outcome.cause : null;
    // A session that is over answers so for everything that comes after.
    if (unavailable === "session_over") plan.spoil();
    // One on which a machine ended while it ran alone would end it at each tick.
    if (outcome === undefined || (unavailable !== null && unavailable !== "machine_ended")) return;
    plan.settled.add(id);
    this.#candidates.failed(id, plan.slot);
    this.#dependencies.events.winnerFailed(outcome.ok ? "tip_not_paid" : outcome.reason);
  }

  /** Holds auctions until every winner of one ran, and hands the winners over. */
  async #fill(plan: BlockPlan, eligible: readonly BundleRecord[], untilMs: number): Promise<TickResult> {
    const passed = new Set<string>();
    let gap = 0n;
    for (let index = 0; index < roundsMax; index++) {
      const outcome = this.#auction(plan, eligible, passed);
      if (outcome === null) break;
      gap = outcome.gap;
      this.#dependencies.losses.lost({ slot: plan.slot, tick: this.#ticks }, outcome.losers);
      const isFilled = await this.#apply(plan, outcome.winners, { passed, untilMs });
      if (isFilled) break;
    }
    const revenue = plan.pending.reduce((sum, { effects }) => sum + effects.tip, 0n);
    const winners = plan.pending.length;
    if (winners > 0) this.#deliver(plan);
    return { winners, revenue, gap };
  }

  /** Null where no bundle competes. */
  #auction(
    plan: BlockPlan,
    eligible: readonly BundleRecord[],
    passed: ReadonlySet<string>,
  ): AuctionOutcome<Candidate> | null {
    const competing = eligible.flatMap(({ id }) => {
      if (plan.settled.has(id) || passed.has(id)) return [];
      const record = this.#dependencies.pool.live(id);
      // A transaction lands once: another bundle that holds it would take room in the block and pay nothing.
      const candidate = record === null || plan.holds(record.signatures) ? null : this.#candidates.get(id);
      return candidate ?? [];
    });
    if (competing.length === 0) return null;
    const { accounts } = this.#candidates;
    const tipAccounts = new Set(this.#dependencies.tipAccounts.flatMap((address) => accounts.idOf(address) ?? []));
    const outcome = runAuction(competing, plan.caps(accounts, tipAccounts), { incumbent: this.#incumbent });
    this.#incumbent = outcome.winners.map(({ id }) => id);
    return outcome;
  }

  /**
   * Runs winners on the block, those that pay most first where they are many. False where some did not run, so that
   * others may have a chance; true where there is no time for more.
   */
  async #apply(
    plan: BlockPlan,
    winners: readonly Candidate[],
    { passed, untilMs }: { readonly passed: Set<string>; readonly untilMs: number },
  ): Promise<boolean> {
    const isMany = winners.length > appliedInOneGo;
    const ordered = isMany ? highestTipFirst(winners) : winners;
    let ran = 0;
    for (let at = 0; at < ordered.length; at += appliedInOneGo) {
      if (at > 0 && this.#dependencies.nowMs() >= untilMs) return await plan.renew();
      ran += await this.#applyOneGo(plan, ordered.slice(at, at + appliedInOneGo), passed);
    }
    return (await plan.renew()) && ran === winners.length;
  }

  /** How many of them ran. */
  async #applyOneGo(plan: BlockPlan, winners: readonly Candidate[], passed: Set<string>): Promise<number> {
    const applied = await plan.session.apply(winners);
    let ran = 0;
    for (const [index, winner] of winners.entries()) {
      const effects = applied[index];
      if (effects?.ok !== true || effects.tip < winner.claimed) {
        passed.add(winner.id);
        // It has left its traces in the session, and the leader will not see it.
        if (effects?.ok === true) plan.spoil();
        this.#notRun(plan, winner.id, effects);
        continue;
      }
      ran += 1;
      plan.took(winner, effects);
      this.#dependencies.pool.simulated(winner.id, effects);
    }
    return ran;
  }

  /**
   * Delivers what the tick has taken, unless the slot has gone by meanwhile or the session could not be built again
   * without what failed. What the leader does not take competes again.
   */
  #deliver(plan: BlockPlan): void {
    const isInTime = !this.#dependencies.isOver(plan.slot) && !plan.isSpoilt;
    // What has ended meanwhile may not land any more, so nothing is waited for between this look and the handing over.
    const taken = plan.pending.flatMap(({ candidate }) =>
      this.#dependencies.pool.live(candidate.id)?.state === "accepted" ? candidate : [],
    );
    const isTaken = isInTime && this.#dependencies.validators.deliver(plan.leader, taken);
    this.#dependencies.events.delivered(taken.length, isTaken);
    if (!isTaken) {
      plan.takeBack();
      return;
    }
    const ids = taken.map(({ id }) => id);
    this.#dependencies.pool.forwarded(ids, { slot: plan.slot, leader: plan.leader });
    plan.handedOver(new Set(ids));
    this.#dependencies.losses.taken(ids);
    for (const id of ids) this.#candidates.ran(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ticking;
    await this.#plan?.[Symbol.asyncDispose]();
    this.#plan = null;
  }
}
