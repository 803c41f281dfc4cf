import type { Clock } from "@sluice/lib";
import { discard } from "./answer.ts";
import type { ExtraCall } from "./events.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import type { LatencyBook } from "./latency-book.ts";
import type { UpstreamNode } from "./node.ts";
import type { AnsweredCall, UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

/** Nodes that one read is sent to at most, whatever comes of it. */
const attemptsMax = 3;
/** How often the reads under way are looked at. One timer looks at all of them: a timer a call costs more than its parsing. */
const sweepMs = 5;

/**
 * Errors that another node may not have: it is further, keeps more history, has the index, or is simply well. Source:
 * Solana JSON-RPC, error codes, "Retry hints for a gateway".
 */
const elsewhere: ReadonlySet<number> = new Set([
  -32001, -32004, -32005, -32007, -32009, -32010, -32011, -32014, -32016, -32019, -32603,
]);

export interface ReadsOptions {
  readonly deadlineMs: number;
}

export interface ReadsDependencies {
  readonly clock: Clock;
  readonly book: LatencyBook;
  readonly budget: HedgeBudget;
  /** The next node for a call, none of those that were asked; null when there is no other. */
  readonly choose: (call: UpstreamCall, asked: readonly UpstreamNode[], mayBeOut: boolean) => UpstreamNode | null;
  /** Sends the call to the node and tells of it. */
  readonly attempt: (node: UpstreamNode, call: UpstreamCall, deadlineMs: number) => Promise<UpstreamOutcome>;
  readonly extra: (node: UpstreamNode, why: ExtraCall) => void;
  /** Told of a fault of ours in an attempt. */
  readonly fault: (fault: unknown) => void;
}

/** One read on its way: the nodes that were asked, and what the first useless answer was. */
class Read {
  readonly call: UpstreamCall;
  readonly deadlineAt: number;
  readonly asked: UpstreamNode[] = [];
  readonly #settle: (outcome: UpstreamOutcome) => void;
  hedgeAt: number;
  stalledAt: number;
  pending = 0;
  isOver = false;
  /** The best of what is not good enough yet. */
  #fallback: UpstreamOutcome | null = null;

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
  }

  /** An answer of a node, an error of a node, a failure, in this order; of two alike the one that is further, or was first. */
  remember(outcome: UpstreamOutcome): void {
    const held = this.#fallback;
    if (held === outcome) return;
    const isBetter = held === null || rankOf(outcome) > rankOf(held);
    if (isBetter) this.#fallback = outcome;
    drop(isBetter ? held : outcome);
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

/** An answer that is not the read's; what is still coming of it must not go on. */
function drop(outcome: UpstreamOutcome | null): void {
  if (outcome?.ok === true) discard(outcome.answer);
}

/** Errors rank below any answer; of answers the one with the newest slot. */
function rankOf(outcome: UpstreamOutcome): bigint {
  if (!outcome.ok) return -2n;
  return outcome.answer.errorCode === null ? (outcome.answer.contextSlot ?? 0n) : -1n;
}

/** Whether the answer shows a slot before the one that this key has seen already. */
export function isStale(answered: AnsweredCall, call: UpstreamCall): boolean {
  const { contextSlot } = answered.answer;
  return call.minimumSlot !== null && contextSlot !== null && contextSlot < call.minimumSlot;
}

/**
 * The policy of reads, in one sentence: deadline(firstGood(choose, retryElsewhere, hedge(p95, budget), again(stalled))).
 * A node that fails, answers an error that another may not have, or is behind what was seen, makes room for the next one;
 * one that is slow is overtaken, and its answer still counts if it comes first.
 */
export class Reads {
  readonly #options: ReadsOptions;
  readonly #deps: ReadsDependencies;
  readonly #underWay = new Set<Read>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: ReadsOptions, dependencies: ReadsDependencies) {
    this.#options = options;
    this.#deps = dependencies;
  }

  run(call: UpstreamCall, first: UpstreamNode): Promise<UpstreamOutcome> {
    const { clock, book, budget } = this.#deps;
    const nowMs = clock.monotonic();
    const hedgeAfter = book.hedgeAfterMs(call.method);
    budget.earned();
    return new Promise((resolve) => {
      const times = {
        deadlineAt: nowMs + this.#options.deadlineMs,
        hedgeAt: hedgeAfter === null ? Number.POSITIVE_INFINITY : nowMs + hedgeAfter,
        stalledAt: nowMs + book.stalledAfterMs(call.method),
      };
      const read = new Read(call, times, (outcome) => {
        this.#underWay.delete(read);
        resolve(outcome);
      });
      this.#underWay.add(read);
      this.#timer ??= setInterval(() => this.sweep(), sweepMs);
      this.#launch(read, first);
    });
  }

  /** With one node there is nobody else to ask; what found nobody there is tried once more within the same deadline. */
  runAlone(call: UpstreamCall, node: UpstreamNode): Promise<UpstreamOutcome> {
    const { clock, attempt } = this.#deps;
    const deadlineAt = clock.monotonic() + this.#options.deadlineMs;
    return attempt(node, call, this.#options.deadlineMs).then((outcome) => {
      if (outcome.ok || !outcome.repeatable || outcome.refused !== "NETWORK_UNAVAILABLE") return outcome;
      const leftMs = deadlineAt - clock.monotonic();
      return leftMs <= 0 ? outcome : attempt(node, call, leftMs);
    });
  }

  #launch(read: Read, node: UpstreamNode): void {
    const leftMs = read.deadlineAt - this.#deps.clock.monotonic();
    read.asked.push(node);
    read.pending += 1;
    this.#deps.attempt(node, read.call, leftMs).then(
      (outcome) => this.#arrived(read, outcome),
      (fault: unknown) => {
        // A fault of ours in one attempt is no answer; what else is under way may still be one.
        read.pending -= 1;
        this.#deps.fault(fault);
        if (read.pending === 0) read.giveUp(failedBy(node));
      },
    );
  }

  #arrived(read: Read, outcome: UpstreamOutcome): void {
    read.pending -= 1;
    if (outcome.ok) this.#deps.book.add(read.call.method, outcome.latencyMs);
    if (read.isOver) {
      drop(outcome);
      return;
    }
    const isAnswer = outcome.ok && !(outcome.answer.errorCode !== null && elsewhere.has(outcome.answer.errorCode));
    const stale = outcome.ok && isStale(outcome, read.call);
    if (isAnswer && !stale) {
      read.finish(outcome);
      return;
    }
    if (!outcome.ok && !outcome.repeatable) {
      read.giveUp(outcome);
      return;
    }
    read.remember(outcome);
    if (this.#next(read, stale ? "stale" : "retry", !outcome.ok)) return;
    if (read.pending === 0) read.giveUp(outcome);
  }

  /**
   * Asks one more node, if there is one and there is time. One that is out may answer where another gave no answer at all,
   * but never overtakes one that is in: it would win with old news.
   */
  #next(read: Read, why: ExtraCall, mayBeOut = false): boolean {
    if (read.asked.length >= attemptsMax || this.#deps.clock.monotonic() >= read.deadlineAt) return false;
    const node = this.#deps.choose(read.call, read.asked, mayBeOut);
    if (node === null) return false;
    this.#deps.extra(node, why);
    this.#launch(read, node);
    return true;
  }

  /** Overtakes what is slow; runs by itself until a look finds no read under way. */
  sweep(): void {
    if (this.#underWay.size === 0) this.#rest();
    const nowMs = this.#deps.clock.monotonic();
    for (const read of this.#underWay) {
      if (nowMs >= read.stalledAt) {
        read.stalledAt = nowMs + this.#deps.book.stalledAfterMs(read.call.method);
        this.#next(read, "stalled");
      } else if (nowMs >= read.hedgeAt) {
        read.hedgeAt = Number.POSITIVE_INFINITY;
        if (this.#deps.budget.take()) this.#next(read, "hedge");
      }
    }
  }

  #rest(): void {
    clearInterval(this.#timer ?? undefined);
    this.#timer = null;
  }

  [Symbol.dispose](): void {
    this.#rest();
  }
}

const failedBy = (node: UpstreamNode): UpstreamOutcome => ({
  ok: false,
  refused: "NETWORK_UNAVAILABLE",
  label: node.label,
  repeatable: false,
});
