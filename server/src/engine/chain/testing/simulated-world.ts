import { ManualClock, type Random } from "@sluice/lib";
import type { Signature } from "@sluice/wire/identifiers";
import { type BundlePlan, isAncestor, landing, mayHold, newPlan, type PlanTime, timeOf } from "./bundle-plans.ts";
import { signatureNamed } from "./names.ts";
import {
  child,
  type Heads,
  type SimulatedBlock,
  SimulatedChain,
  type SimulatedTransaction,
} from "./simulated-chain.ts";
import { SimulatedPool } from "./simulated-pool.ts";

/** How a world goes wrong; the shares are of slots. */
export interface WorldOptions {
  readonly skipped: number;
  readonly forks: number;
  /** Whether blocks of a fork that loses may be confirmed before. */
  readonly losesConfirmed: boolean;
  readonly bundles: number;
}

const finalizedAfter = 8;

/** A chain that goes on slot by slot, with forks, and bundles of which some land. */
export class SimulatedWorld {
  readonly clock = new ManualClock(timeOf(0n));
  readonly pool = new SimulatedPool();
  readonly chain: SimulatedChain;
  readonly plans: BundlePlan[] = [];
  /** Every block that was confirmed at some moment. */
  readonly everConfirmed = new Set<SimulatedBlock>();
  readonly #random: Random;
  readonly #options: WorldOptions;
  #slot = 0n;
  #tick = 0;
  #main: SimulatedBlock;
  #fork: { tip: SimulatedBlock; readonly until: bigint; readonly isConfirmed: boolean } | null = null;
  #confirmed: SimulatedBlock;
  #finalized: SimulatedBlock;

  constructor(random: Random, options: WorldOptions) {
    this.#random = random;
    this.#options = options;
    this.#main = child(null, 0n, [], "genesis");
    this.#confirmed = this.#main;
    this.#finalized = this.#main;
    this.chain = new SimulatedChain(random, this.#main);
  }

  get head(): SimulatedBlock {
    return this.#main;
  }

  /** One slot passes. In a calm one nothing goes wrong and no bundle comes. */
  tick(isCalm = false): void {
    this.#slot += 1n;
    this.#tick += 1;
    this.clock.advance(400);
    this.pool.now = this.clock.now();
    const parent = this.#fork?.tip ?? this.#main;
    if (!isCalm) this.#plan(parent);
    for (const { record, acceptedAt } of this.plans) {
      if (acceptedAt > this.#tick || this.pool.records.has(record.id)) continue;
      this.pool.add(record);
      // A target's leader is handed its bundle before the slot is over, wherever it then lands.
      if (record.targetSlot !== null) this.pool.forwarded(record.id, record.targetSlot);
    }
    if (this.#fork === null && !isCalm && this.#random.next() < this.#options.forks) {
      const until = this.#slot + BigInt(1 + Math.floor(this.#random.next() * 6));
      const isConfirmed = this.#options.losesConfirmed && this.#random.next() < 0.5;
      this.#fork = { tip: parent, until, isConfirmed };
    }
    if (isCalm || this.#random.next() >= this.#options.skipped) this.#produce(parent);
    if (this.#fork !== null && (isCalm || this.#slot >= this.#fork.until)) this.#fork = null;
    this.chain.moveTo(this.#heads());
  }

  /** Blocks that were confirmed once and are not in the chain that has won. */
  lostBlocks(): SimulatedBlock[] {
    return [...this.everConfirmed].filter((block) => !isAncestor(block, this.#main));
  }

  #time(parent: SimulatedBlock): PlanTime {
    return { slot: this.#slot, height: parent.height + 1n, nowMs: this.clock.now(), tick: this.#tick };
  }

  #plan(parent: SimulatedBlock): void {
    if (this.#random.next() >= this.#options.bundles) return;
    const shared = this.#random.next() < 0.3 ? this.#sharedSignature() : null;
    this.plans.push(newPlan(`bundle ${this.plans.length}`, this.#random, this.#time(parent), shared));
  }

  #sharedSignature(): Signature | null {
    const lately = this.plans.slice(-4);
    const { record } = lately[Math.floor(this.#random.next() * lately.length)] ?? {};
    return record?.signatures[0] ?? null;
  }

  #produce(parent: SimulatedBlock): void {
    const time = this.#time(parent);
    const transactions: SimulatedTransaction[] = [];
    for (const plan of this.plans.slice(-120)) {
      if (plan.chance === 0 || !mayHold(plan, parent, time) || this.#random.next() >= plan.chance) continue;
      const added = landing(plan, this.#random);
      // A signature is in a block once.
      if (added.some(({ signature }) => transactions.some((each) => each.signature === signature))) continue;
      const other = signatureNamed(`other ${this.#slot} ${transactions.length}`);
      transactions.push(...added, { signature: other, failed: this.#random.next() < 0.2 });
      this.pool.forwarded(plan.record.id, this.#slot);
    }
    const block = child(parent, this.#slot, transactions, this.#fork === null ? "main" : "fork");
    if (this.#fork === null) this.#main = block;
    else this.#fork.tip = block;
  }

  #heads(): Heads {
    const fork = this.#fork;
    const processed = fork?.tip ?? this.#main;
    if (fork === null || fork.isConfirmed) {
      const candidate = processed.parent ?? processed;
      // A confirmed block gives way to another fork only when that one has gone further.
      if (candidate.slot > this.#confirmed.slot) {
        this.#confirmed = candidate;
        for (let at: SimulatedBlock | null = candidate; at !== null && !this.everConfirmed.has(at); at = at.parent) {
          this.everConfirmed.add(at);
        }
      }
    }
    if (fork === null && isAncestor(this.#confirmed, this.#main)) {
      let final: SimulatedBlock = this.#confirmed;
      for (let depth = 0; depth < finalizedAfter; depth += 1) final = final.parent ?? final;
      if (final.slot > this.#finalized.slot) this.#finalized = final;
    }
    return { processed, confirmed: this.#confirmed, finalized: this.#finalized };
  }
}
