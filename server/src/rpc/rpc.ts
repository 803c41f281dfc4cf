import type { Network } from "@sluice/contract";
import type { AnswerCache } from "../cache/index.ts";
import type { NodeAnswer, UpstreamOutcome, UpstreamPool } from "../upstreams/index.ts";
import { healthAnswer } from "./health.ts";
import { keepingOf } from "./keeping.ts";
import { MethodBook, type MethodBookOptions, type MethodPage } from "./method-book.ts";
import type { Plan } from "./plan.ts";

export type RpcOptions = MethodBookOptions;

export interface RpcDependencies {
  readonly cache: AnswerCache<NodeAnswer, UpstreamOutcome>;
  /** The pool of a network; null for a network without upstreams. */
  readonly pool: (network: Network) => UpstreamPool | null;
}

/** An answer that somebody else's call had to wait for is no less ours; `shared` says that no call was made for this one. */
export interface RpcOutcome {
  readonly outcome: UpstreamOutcome;
  readonly shared: boolean;
}

/** From a planned call to its answer: from memory, from a call under way, or from a node. */
export class Rpc {
  readonly #book: MethodBook;
  readonly #dependencies: RpcDependencies;

  constructor(options: RpcOptions, dependencies: RpcDependencies) {
    this.#book = new MethodBook(options);
    this.#dependencies = dependencies;
  }

  /** The page of a method, or null when it is neither known nor let through (-32601). */
  method(name: string): MethodPage | null {
    return this.#book.page(name);
  }

  hasNodes(network: Network): boolean {
    return this.#dependencies.pool(network) !== null;
  }

  /** What is known without asking a node: a kept answer, or the gateway's own. `nowMs` is monotonic. */
  known(network: Network, plan: Plan, nowMs: number): NodeAnswer | undefined {
    if (plan.key === null) return undefined;
    return this.#dependencies.cache.shelf(network, plan.commitment).get(plan.key, nowMs);
  }

  /** The answer of the gateway itself to what is not forwarded (getHealth); null for every other call. */
  own(network: Network, plan: Plan): NodeAnswer | null {
    if (plan.spec?.route !== "gateway") return null;
    return healthAnswer(this.#dependencies.pool(network)?.health() ?? []);
  }

  /** Asks a node, or joins the identical call that is under way. Never rejects for a fault of a node. */
  async ask(network: Network, page: MethodPage, plan: Plan): Promise<RpcOutcome> {
    const pool = this.#dependencies.pool(network);
    if (pool === null) return { outcome: noNodes, shared: false };
    const call = {
      method: page.name,
      params: plan.params,
      kind: plan.spec?.route === "send" ? "send" : "read",
    } as const;
    // An unknown method may be a write of some kind: it goes out once, like one.
    if (plan.spec === null) return { outcome: await pool.call({ ...call, kind: "send" }), shared: false };
    if (plan.key === null) return { outcome: await pool.call(call), shared: false };
    const shelf = this.#dependencies.cache.shelf(network, plan.commitment);
    const underWay = shelf.underWay(plan.key);
    if (underWay !== undefined) return { outcome: await underWay, shared: true };
    const load = (): Promise<UpstreamOutcome> => pool.call(call);
    const kept = (outcome: UpstreamOutcome) => keepingOf(plan, outcome, pool.slotOf("finalized"));
    return { outcome: await shelf.load(plan.key, load, kept), shared: false };
  }
}

const noNodes: UpstreamOutcome = { ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false };
