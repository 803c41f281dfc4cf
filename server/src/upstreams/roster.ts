import type { NodeOrder, UpstreamNode } from "./node.ts";
import type { UpstreamOptions } from "./upstream-call.ts";

export interface RosterDependencies {
  /** Makes a node that does nothing yet. Throws for what the transport cannot send to. */
  readonly make: (options: UpstreamOptions) => UpstreamNode;
  /** Standings may have changed. */
  readonly changed: () => void;
  /** A node is out of choice for good. */
  readonly left: (node: UpstreamNode) => void;
}

/** How often a node that left is looked at for calls that it still has. */
const lookMs = 20;

/** Which nodes a network has: what an operator adds, orders, exchanges and takes away while calls go on. */
export class Roster implements AsyncDisposable {
  readonly #deps: RosterDependencies;
  readonly #leaveMsMax: number;
  #nodes: readonly UpstreamNode[] = [];
  /** Nodes that get no more calls and still have some. */
  readonly #leaving = new Map<UpstreamNode, () => void>();
  #isStarted = false;

  /** A call under way on a node that leaves is waited for at most `leaveMsMax`. */
  constructor(options: { readonly leaveMsMax: number }, dependencies: RosterDependencies) {
    this.#leaveMsMax = options.leaveMsMax;
    this.#deps = dependencies;
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

  make(options: UpstreamOptions): UpstreamNode {
    return this.#deps.make(options);
  }

  /** Puts a node in the place of the one with its label, or after all others. The one before ends once its calls have. */
  put(node: UpstreamNode): void {
    const before = this.find(node.label);
    if (before === null) this.#nodes = [...this.#nodes, node];
    else {
      node.order = before.order;
      this.#nodes = this.#nodes.map((other) => (other === before ? node : other));
    }
    if (this.#isStarted) node.feed.start();
    this.#deps.changed();
    if (before !== null) this.#leave(before);
  }

  order(label: string, order: NodeOrder): boolean {
    const node = this.find(label);
    if (node === null) return false;
    node.order = order;
    // A person vouches for it: it need not prove itself first.
    if (order === "open") node.isOnTrial = false;
    this.#deps.changed();
    return true;
  }

  /** Takes a node out of choice at once and ends it when its calls have ended. */
  retire(label: string): boolean {
    const node = this.#take(label);
    if (node === null) return false;
    this.#deps.changed();
    this.#leave(node);
    return true;
  }

  /** Takes a node away; calls under way on it end as unreachable. */
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
    let waits = Math.ceil(this.#leaveMsMax / lookMs);
    const timer = setInterval(() => {
      waits -= 1;
      if (node.inFlight > 0 && waits > 0) return;
      this.#leaving.get(node)?.();
      void this.#end(node);
    }, lookMs);
    this.#leaving.set(node, () => {
      clearInterval(timer);
      this.#leaving.delete(node);
    });
  }

  async #end(node: UpstreamNode): Promise<void> {
    this.#deps.left(node);
    this.#deps.changed();
    await node[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const leaving = [...this.#leaving];
    for (const [, stop] of leaving) stop();
    const all = [...this.#nodes, ...leaving.map(([node]) => node)];
    await Promise.all(all.map((node) => node[Symbol.asyncDispose]()));
  }
}
