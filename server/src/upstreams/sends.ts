import type { Clock } from "@sluice/lib";
import type { UpstreamNode } from "./node.ts";
import type { UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

/** How long the others are waited for once the best placed node has said no. */
const graceMs = 1_000;

export interface SendDependencies {
  readonly clock: Clock;
  readonly attempt: (node: UpstreamNode, call: UpstreamCall, deadlineMs: number) => Promise<UpstreamOutcome>;
}

/**
 * A transaction's way out: once to each of the nodes, best placed first. The first that takes it answers for all. When none
 * does, the error of the best placed node that spoke stands, since its preflight saw the newest state; the others get a
 * second to do better.
 */
export async function sendToEach(
  nodes: readonly UpstreamNode[],
  call: UpstreamCall,
  deadlineMs: number,
  dependencies: SendDependencies,
): Promise<UpstreamOutcome | null> {
  const outcomes: (UpstreamOutcome | undefined)[] = nodes.map(() => undefined);
  let left = nodes.length;
  if (left === 0) return null;
  return await new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const finish = (outcome: UpstreamOutcome | null): void => {
      if (timer !== null) clearTimeout(timer);
      resolve(outcome);
    };
    const best = () =>
      outcomes.find((outcome) => outcome?.ok === true) ?? outcomes.find((outcome) => outcome !== undefined);
    for (const [place, node] of nodes.entries()) {
      dependencies.attempt(node, call, deadlineMs).then((outcome) => {
        outcomes[place] = outcome;
        left -= 1;
        if (outcome.ok && outcome.answer.errorCode === null) finish(outcome);
        else if (left === 0) finish(best() ?? null);
        else if (place === 0 && outcome.ok) timer = setTimeout(() => finish(best() ?? null), graceMs);
      }, reject);
    }
  });
}
