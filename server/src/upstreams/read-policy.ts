import type { Clock, Timer } from "@sluice/lib";
import { invariant } from "@sluice/lib";
import { discard } from "./answer.ts";
import { asksElsewhere } from "./answer-class.ts";
import { CallFaults } from "./call-faults.ts";
import type { ExtraCall } from "./events.ts";
import type { MethodLatencies } from "./method-latencies.ts";
import type { UpstreamNode } from "./node.ts";
import type { NodeSelector } from "./selection.ts";
import type { SlotTracker } from "./slot-tracker.ts";
import type { AnsweredCall, UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

/** Nodes that one read is sent to at most, beside those that refuse it for their rate or credential. */
const attemptsMax = 3;
/**
 * How often pending reads are checked. One timer checks all of them: a timer for each call costs more than its parsing.
 */
const sweepMs = 5;

/** Hedges as a share of the reads (decisions.md, Upstream choice). */
const hedgeShare = 0.05;
/** Hedges that a burst of slow answers may use at once. */
const hedgesSavedMax = 20;

/** Bounds hedges to 5% of the reads, so that they do not slow down a slow network further. */
export class HedgeBudget {
  #tokens = hedgesSavedMax / 2;

  /** A client's read was sent. */
  earn(): void {
    this.#tokens = Math.min(hedgesSavedMax, this.#tokens + hedgeShare);
  }

  /** Pays for one hedge; false when the budget does not allow it. */
  take(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

export interface ReadPolicyOptions {
  readonly deadlineMs: number;
}

export interface ReadPolicyDependencies {
  readonly clock: Pick<Clock, "monotonic" | "every">;
  readonly latencies: MethodLatencies;
  readonly budget: HedgeBudget;
  readonly selector: Pick<NodeSelector, "chooseFor">;
  readonly slots: Pick<SlotTracker, "isPlausible">;
  /** Called before each call beyond the client's own. */
  readonly onExtraCall: (node: UpstreamNode, reason: ExtraCall) => void;
  /** Receives a defect of this system in one attempt; the read goes on without that attempt. */
  readonly onError: (error: unknown) => void;
}

/** One pending read: the nodes that were asked, and the best answer that is not good enough. */
class Read {
  readonly call: UpstreamCall;
  readonly deadlineAt: number;
  readonly asked: UpstreamNode[] = [];
  readonly faults: CallFaults;
  readonly #settle: (outcome: UpstreamOutcome) => void;
  hedgeAt: number;
  stalledAt: number;
  /** Attempts that have not settled. */
  pending = 0;
  /** Attempts that were refused for the rate or the credential. */
  refusals = 0;
  isOver = false;
  #fallback: UpstreamOutcome | null = null;
  /** Answers of slots that are not believed. */
  #disbelieved: UpstreamOutcome[] | null = null;

  constructor(
    call: UpstreamCall,
    times: { readonly deadlineAt: number; readonly hedgeAt: number; readonly stalledAt: number },
    settle: (outcome: UpstreamOutcome) => void,
  ) {
    this.call = call;
    this.deadlineAt = times.deadlineAt;
    this.hedgeAt = times.hedgeAt;
    this.stalledAt = times.stalledAt;
    this.#settle = settle;
    this.faults = new CallFaults(call.method);
  }

  attemptSettled(): void {
    this.pending -= 1;
    invariant(this.pending >= 0, "each attempt of a read settles once");
  }

  /**
   * An answer ranks before one of a slot that is not believed, that before an error of a node, that before a failure,
   * and that before a refusal; of equals the one with the later slot, then the first.
   */
  remember(outcome: UpstreamOutcome): void {
    const held = this.#fallback;
    if (held === outcome) return;
    const isBetter = held === null || this.#rankOf(outcome) > this.#rankOf(held);
    if (isBetter) this.#fallback = outcome;
    drop(isBetter ? held : outcome);
  }

  disbelieve(outcome: UpstreamOutcome): void {
    this.#disbelieved = [...(this.#disbelieved ?? []), outcome];
  }

  #rankOf(outcome: UpstreamOutcome): bigint {
    return this.#disbelieved?.includes(outcome) === true ? 0n : rankOf(outcome);
  }

  finish(outcome: UpstreamOutcome): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.#fallback !== outcome) drop(this.#fallback);
    this.#fallback = null;
    this.#settle(outcome);
  }

  giveUp(last: UpstreamOutcome): void {
    this.remember(last);
    this.finish(this.#fallback ?? last);
  }
}

/** Cancels the rest of an answer that is not used. */
function drop(outcome: UpstreamOutcome | null): void {
  if (outcome?.ok === true) discard(outcome.answer);
}

/**
 * Errors rank below any answer; of answers the one with the newest slot ranks highest. What ends the call ranks above
 * what another node might have answered, and refusals of rate or credential count only when they are all there is.
 */
function rankOf(outcome: UpstreamOutcome): bigint {
  if (!outcome.ok) return outcome.refused === "UPSTREAM_LIMITED" ? -4n : outcome.repeatable ? -3n : -2n;
  return outcome.answer.errorCode === null ? (outcome.answer.contextSlot ?? outcome.answer.number ?? 0n) : -1n;
}

/** Whether the answer is from before the minimum of the call: its slot, its height or its counter. */
export function isStale(answered: AnsweredCall, call: UpstreamCall): boolean {
  const { contextSlot, number } = answered.answer;
  const { minimumNumber = null } = call;
  if (minimumNumber !== null && number !== null && number < minimumNumber) return true;
  return call.minimumSlot !== null && contextSlot !== null && contextSlot < call.minimumSlot;
}

/**
 * The policy of reads, in one sentence: deadline(firstGood(choose, retryElsewhere, hedge(p95, budget),
 * again(stalled))). A node that fails, answers an error that another may not have, is behind the minimum slot or at a
 * slot that is not believed, is followed by the next one; a slow one is overtaken, and its answer still counts if it
 * arrives first.
 */
export class ReadPolicy {
  readonly #options: ReadPolicyOptions;
  readonly #dependencies: ReadPolicyDependencies;
  readonly #pending = new Set<Read>();
  #timer: Timer | null = null;

  constructor(options: ReadPolicyOptions, dependencies: ReadPolicyDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Sends the read to `first`, and to others as the policy demands. Never rejects. */
  run(call: UpstreamCall, first: UpstreamNode): Promise<UpstreamOutcome> {
    const { clock, latencies, budget } = this.#dependencies;
    const nowMs = clock.monotonic();
    const hedgeAfter = latencies.hedgeAfterMs(call.method);
    budget.earn();
    return new Promise((resolve) => {
      const times = {
        deadlineAt: nowMs + this.#options.deadlineMs,
        hedgeAt: hedgeAfter === null ? Number.POSITIVE_INFINITY : nowMs + hedgeAfter,
        stalledAt: nowMs + latencies.stalledAfterMs(call.method),
      };
      const read = new Read(call, times, (outcome) => {
        this.#pending.delete(read);
        resolve(outcome);
      });
      this.#pending.add(read);
      this.#timer ??= clock.every(sweepMs, () => this.#sweep(), { keepsAlive: true });
      this.#launch(read, first);
    });
  }

  /** The policy with one node: an attempt that did not reach it is repeated once within the same deadline. */
  runAlone(call: UpstreamCall, node: UpstreamNode): Promise<UpstreamOutcome> {
    const { clock } = this.#dependencies;
    const deadlineAt = clock.monotonic() + this.#options.deadlineMs;
    return node.call(call, this.#options.deadlineMs).then((outcome) => {
      if (outcome.ok || !outcome.repeatable || outcome.refused !== "NETWORK_UNAVAILABLE") return outcome;
      const leftMs = deadlineAt - clock.monotonic();
      return leftMs <= 0 ? outcome : node.call(call, leftMs);
    });
  }

  #launch(read: Read, node: UpstreamNode): void {
    const leftMs = read.deadlineAt - this.#dependencies.clock.monotonic();
    read.asked.push(node);
    read.pending += 1;
    node.call(read.call, leftMs).then(
      (outcome) => this.#arrived(read, node, outcome),
      (error: unknown) => {
        // A defect in one attempt is no answer; another pending attempt may still give one.
        read.attemptSettled();
        this.#dependencies.onError(error);
        if (read.pending === 0) read.giveUp(failedBy(node));
      },
    );
  }

  #arrived(read: Read, node: UpstreamNode, outcome: UpstreamOutcome): void {
    read.attemptSettled();
    const isBelieved = this.#isBelieved(read.call, outcome);
    if (!isBelieved) read.disbelieve(outcome);
    read.faults.add(node, isBelieved ? outcome : { ...outcome, fault: "failed" });
    const isAnswer = isBelieved && outcome.ok && !asksElsewhere(outcome.answer.errorCode);
    if (isAnswer) {
      read.faults.answered();
      this.#dependencies.latencies.add(read.call.method, outcome.latencyMs);
    }
    if (read.isOver) {
      drop(outcome);
      return;
    }
    const stale = outcome.ok && isStale(outcome, read.call);
    if (isAnswer && !stale) {
      read.finish(outcome);
      return;
    }
    if (!outcome.ok && !outcome.repeatable) {
      read.giveUp(outcome);
      return;
    }
    if (!outcome.ok && outcome.refused === "UPSTREAM_LIMITED") read.refusals += 1;
    read.remember(outcome);
    if (this.#next(read, stale ? "stale" : "retry", !outcome.ok)) return;
    if (read.pending === 0) read.giveUp(outcome);
  }

  /** Whether the answer's slot or height is one that its node may be at, as far as the others show. */
  #isBelieved({ commitment, position }: UpstreamCall, outcome: UpstreamOutcome): boolean {
    if (!outcome.ok) return true;
    const { contextSlot, number } = outcome.answer;
    const { slots } = this.#dependencies;
    if (contextSlot !== null && !slots.isPlausible(commitment, contextSlot)) return false;
    return number === null || position === "counter" || slots.isPlausible(commitment, number);
  }

  /**
   * Asks one more node, if there is one and there is time. A node that is out may answer where another gave no answer
   * at all, but never overtakes one that is in: it would win with an old state.
   */
  #next(read: Read, reason: ExtraCall, mayBeOut = false): boolean {
    const { clock, selector, onExtraCall } = this.#dependencies;
    if (read.asked.length - read.refusals >= attemptsMax || clock.monotonic() >= read.deadlineAt) return false;
    const node = selector.chooseFor(read.call, read.asked, mayBeOut);
    if (node === null) return false;
    onExtraCall(node, reason);
    this.#launch(read, node);
    return true;
  }

  /** Overtakes slow attempts; stops by itself when no read is pending. */
  #sweep(): void {
    if (this.#pending.size === 0) this.#stop();
    const { clock, latencies, budget } = this.#dependencies;
    const nowMs = clock.monotonic();
    for (const read of this.#pending) {
      if (nowMs >= read.stalledAt) {
        read.stalledAt = nowMs + latencies.stalledAfterMs(read.call.method);
        this.#next(read, "stalled");
      } else if (nowMs >= read.hedgeAt) {
        read.hedgeAt = Number.POSITIVE_INFINITY;
        if (budget.take()) this.#next(read, "hedge");
      }
    }
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}

const failedBy = (node: UpstreamNode): UpstreamOutcome => ({
  ok: false,
  refused: "NETWORK_UNAVAILABLE",
  label: node.label,
  repeatable: false,
});
