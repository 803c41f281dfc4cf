import { type Clock, invariant, type Timer } from "@sluice/lib";
import { asksElsewhere } from "./answer-class.ts";
import { CallFaults } from "./call-faults.ts";
import type { NodeLimits, UpstreamNode } from "./node.ts";
import type { UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

/** How long the other nodes are waited for once the best one has refused. */
const graceMs = 1_000;
/** A transaction that no node has answered for so long goes to further nodes as well: its blockhash is ageing. */
const stalledMs = 5_000;

export interface SendPolicyDependencies {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** The nodes for a transaction that was sent to `asked`; none when there are no more. */
  readonly chooseSenders: (asked: readonly UpstreamNode[]) => readonly UpstreamNode[];
}

/**
 * The policy of sends: one transaction goes once to each of the chosen nodes, the best first. The first that accepts it
 * answers for all. When none does, the error of the best node that answered stands, since its preflight saw the newest
 * state; the others have a second to accept. When none of them answers at all, further nodes are asked: a node that has
 * not seen the transaction is sent nothing twice. Null without nodes. Rejects for a defect of this system alone.
 */
export function sendToEach(
  call: UpstreamCall,
  options: Pick<NodeLimits, "deadlineMs">,
  dependencies: SendPolicyDependencies,
): Promise<UpstreamOutcome | null> {
  return new Promise((resolve, reject) => new Send(call, options, dependencies, { resolve, reject }).begin());
}

interface Settled {
  readonly resolve: (outcome: UpstreamOutcome | null) => void;
  readonly reject: (error: unknown) => void;
}

/** One transaction on its way to nodes. */
class Send {
  readonly #call: UpstreamCall;
  readonly #deadlineAt: number;
  readonly #dependencies: SendPolicyDependencies;
  readonly #settled: Settled;
  readonly #faults: CallFaults;
  readonly #asked: UpstreamNode[] = [];
  /** By the place of their nodes in `#asked`. */
  readonly #outcomes: (UpstreamOutcome | undefined)[] = [];
  #pending = 0;
  #grace: Timer | null = null;
  #stalled: Timer | null = null;
  #isOver = false;

  constructor(
    call: UpstreamCall,
    { deadlineMs }: Pick<NodeLimits, "deadlineMs">,
    dependencies: SendPolicyDependencies,
    settled: Settled,
  ) {
    this.#call = call;
    this.#deadlineAt = dependencies.clock.monotonic() + deadlineMs;
    this.#dependencies = dependencies;
    this.#settled = settled;
    this.#faults = new CallFaults(call.method);
  }

  begin(): void {
    if (!this.#askMore()) this.#finish(null);
  }

  /** Sends it to nodes that have not had it; false when there are none or the time is over. */
  #askMore(): boolean {
    const { clock, chooseSenders } = this.#dependencies;
    const leftMs = this.#deadlineAt - clock.monotonic();
    const nodes = leftMs <= 0 ? [] : chooseSenders(this.#asked);
    this.#stalled?.cancel();
    this.#stalled = null;
    if (nodes.length === 0) return false;
    for (const node of nodes) {
      invariant(!this.#asked.includes(node), "a transaction goes to each node once");
      const rank = this.#asked.push(node) - 1;
      this.#pending += 1;
      node.call(this.#call, leftMs).then(
        (outcome) => this.#arrived(rank, node, outcome),
        (error: unknown) => {
          this.#end();
          this.#settled.reject(error);
        },
      );
    }
    this.#stalled = clock.after(stalledMs, () => void this.#askMore(), { keepsAlive: true });
    return true;
  }

  #arrived(rank: number, node: UpstreamNode, outcome: UpstreamOutcome): void {
    this.#pending -= 1;
    this.#outcomes[rank] = outcome;
    this.#faults.add(node, outcome);
    const isAnswer = outcome.ok && !asksElsewhere(outcome.answer.errorCode);
    if (isAnswer) this.#faults.answered();
    if (this.#isOver) return;
    if (outcome.ok && outcome.answer.errorCode === null) this.#finish(outcome);
    else if (this.#pending === 0) {
      if (this.#hasAnswer() || !this.#askMore()) this.#finish(this.#best());
    } else if (isAnswer) {
      this.#stalled?.cancel();
      const finish = (): void => this.#finish(this.#best());
      if (rank === 0) this.#grace = this.#dependencies.clock.after(graceMs, finish, { keepsAlive: true });
    }
  }

  #hasAnswer(): boolean {
    return this.#outcomes.some((outcome) => outcome?.ok === true && !asksElsewhere(outcome.answer.errorCode));
  }

  /** An answer before an error that another node might not have, that before a failure, and that before a refusal. */
  #best(): UpstreamOutcome | null {
    let best: UpstreamOutcome | null = null;
    for (const outcome of this.#outcomes) {
      if (outcome !== undefined && (best === null || rankOf(outcome) > rankOf(best))) best = outcome;
    }
    return best;
  }

  #finish(outcome: UpstreamOutcome | null): void {
    this.#end();
    this.#settled.resolve(outcome);
  }

  #end(): void {
    this.#isOver = true;
    this.#grace?.cancel();
    this.#stalled?.cancel();
  }
}

function rankOf(outcome: UpstreamOutcome): number {
  if (outcome.ok) return asksElsewhere(outcome.answer.errorCode) ? 2 : 3;
  return outcome.refused === "UPSTREAM_LIMITED" ? 0 : 1;
}
