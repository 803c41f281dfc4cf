import type { Clock, Timer } from "@sluice/lib";
import type { UpstreamNode } from "./node.ts";
import type { UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

/** How long the other nodes are waited for once the best one has refused. */
const graceMs = 1_000;

/**
 * The policy of sends: one transaction goes once to each of the nodes, the best first. The first that accepts it
 * answers for all. When none does, the error of the best node that answered stands, since its preflight saw the newest
 * state; the others have a second to accept. Null without nodes. Rejects for a defect of this system alone.
 */
export async function sendToEach(
  nodes: readonly UpstreamNode[],
  call: UpstreamCall,
  { deadlineMs, clock }: { readonly deadlineMs: number; readonly clock: Pick<Clock, "after"> },
): Promise<UpstreamOutcome | null> {
  const outcomes: (UpstreamOutcome | undefined)[] = nodes.map(() => undefined);
  let left = nodes.length;
  if (left === 0) return null;
  return await new Promise((resolve, reject) => {
    let timer: Timer | null = null;
    const finish = (outcome: UpstreamOutcome | null): void => {
      timer?.cancel();
      resolve(outcome);
    };
    const best = () =>
      outcomes.find((outcome) => outcome?.ok === true) ?? outcomes.find((outcome) => outcome !== undefined);
    const finishWithBest = () => finish(best() ?? null);
    for (const [rank, node] of nodes.entries()) {
      node.call(call, deadlineMs).then((outcome) => {
        outcomes[rank] = outcome;
        left -= 1;
        if (outcome.ok && outcome.answer.errorCode === null) finish(outcome);
        else if (left === 0) finishWithBest();
        else if (rank === 0 && outcome.ok) timer = clock.after(graceMs, finishWithBest, { keepsAlive: true });
      }, reject);
    }
  });
}
