import type { Clock, Timer } from "@sluice/lib";
import type { UpstreamConfig } from "../config/index.ts";
import type { NodeOrder, UpstreamNode } from "./node.ts";

export interface NodeSetDependencies {
  readonly clock: Pick<Clock, "every">;
  /** Creates a node that does nothing yet. Throws for an address or headers that the transport cannot send to. */
  readonly create: (options: UpstreamConfig) => UpstreamNode;
  /** Called when the set or an order has changed. */
  readonly onChange: () => void;
  /** Called when a node has left the set and is about to be disposed of. */
  readonly onLeave: (node: UpstreamNode) => void;
}

/** How often a node that leaves is checked for calls in flight. */
const leaveCheckMs = 20;

/** The nodes of a network: operators add, order, exchange and remove them while calls are in flight. */
export class NodeSet implements AsyncDisposable {
  readonly #dependencies: NodeSetDependencies;
  readonly #leaveMsMax: number;
  #nodes: readonly UpstreamNode[] = [];
  /** Nodes that get no more calls and still have some in flight. */
  readonly #leaving = new Map<UpstreamNode, Timer>();
  #isStarted = false;

  /** A call in flight on a node that leaves is waited for at most `leaveMsMax`. */
  constructor(options: { readonly leaveMsMax: number }, dependencies: NodeSetDependencies) {
    this.#leaveMsMax = options.leaveMsMax;
    this.#dependencies = dependencies;
  }

  get nodes(): readonly UpstreamNode[] {
    return this.#nodes;
  }

  start(): void {
    this.#isStarted = true;
    for (const node of this.#nodes) node.feed.start();
  }

  find(label: string): UpstreamNode | null {
    return this.#nodes.find((node) => node.label === label) ?? null;
  }

  /** Creates a node that is not in the set yet. Throws for an address or headers that the transport cannot send to. */
  create(options: UpstreamConfig): UpstreamNode {
    return this.#dependencies.create(options);
  }

  /** Puts a node in the place of the one with its label, or last. The one before it ends once its calls have ended. */
  put(node: UpstreamNode): void {
    const before = this.find(node.label);
    if (before === null) this.#nodes = [...this.#nodes, node];
    else {
      node.order = before.order;
      // At the same address is the same chain; it is asked again all the same.
      if (node.options.url === before.options.url) node.chain = before.chain;
      this.#nodes = this.#nodes.map((other) => (other === before ? node : other));
    }
    if (this.#isStarted) node.feed.start();
    this.#dependencies.onChange();
    if (before !== null) this.#leave(before);
  }

  /** False when no node has this label. */
  order(label: string, order: NodeOrder): boolean {
    const node = this.find(label);
    if (node === null) return false;
    node.order = order;
    // An operator vouches for it: neither trials nor a rest are needed.
    if (order === "open") {
      node.isOnTrial = false;
      node.rests.clear();
    }
    this.#dependencies.onChange();
    return true;
  }

  /** Takes a node out of selection at once and ends it when its calls have ended. */
  retire(label: string): boolean {
    const node = this.#take(label);
    if (node === null) return false;
    this.#dependencies.onChange();
    this.#leave(node);
    return true;
  }

  /** Removes a node; its calls in flight end as unreachable. */
  async remove(label: string): Promise<boolean> {
    const node = this.#take(label);
    if (node === null) return false;
    await this.#end(node);
    return true;
  }

  #take(label: string): UpstreamNode | null {
    const node = this.find(label);
    this.#nodes = this.#nodes.filter((other) => other !== node);
    return node;
  }

  #leave(node: UpstreamNode): void {
    let checksLeft = Math.ceil(this.#leaveMsMax / leaveCheckMs);
    const check = (): void => {
      checksLeft -= 1;
      if (node.inFlight > 0 && checksLeft > 0) return;
      this.#leaving.get(node)?.cancel();
      this.#leaving.delete(node);
      void this.#end(node);
    };
    this.#leaving.set(node, this.#dependencies.clock.every(leaveCheckMs, check, { keepsAlive: true }));
  }

  async #end(node: UpstreamNode): Promise<void> {
    this.#dependencies.onLeave(node);
    this.#dependencies.onChange();
    await node[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const leaving = [...this.#leaving];
    this.#leaving.clear();
    for (const [, timer] of leaving) timer.cancel();
    const all = [...this.#nodes, ...leaving.map(([node]) => node)];
    await Promise.all(all.map((node) => node[Symbol.asyncDispose]()));
  }
}
