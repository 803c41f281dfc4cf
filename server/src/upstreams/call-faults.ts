import type { UpstreamNode } from "./node.ts";
import type { NodeFault, UpstreamOutcome } from "./upstream-call.ts";

/**
 * The faults that one call has shown. They count against their nodes once some node has answered the call; a call that
 * every node fails counts against none, since it may be the cause.
 */
export class CallFaults {
  readonly #method: string;
  #held: { readonly node: UpstreamNode; readonly fault: NodeFault }[] = [];
  #isAnswered = false;

  constructor(method: string) {
    this.#method = method;
  }

  add(node: UpstreamNode, { fault }: UpstreamOutcome): void {
    if (fault === undefined) return;
    if (this.#isAnswered) node.count(fault, this.#method);
    else this.#held.push({ node, fault });
  }

  /** Some node has answered the call. */
  answered(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    for (const { node, fault } of this.#held) node.count(fault, this.#method);
    this.#held = [];
  }
}
