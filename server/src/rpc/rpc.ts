import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import type { AnswerCache, CacheEvents, CacheOutcome, Retention } from "../cache/index.ts";
import type { NodeAnswer, UpstreamCall, UpstreamOutcome, UpstreamPool } from "../upstreams/index.ts";
import { healthAnswer } from "./health.ts";
import { type MethodEntry, MethodRegistry, type MethodRegistryOptions } from "./method-registry.ts";
import type { Plan } from "./plan.ts";
import { textOf } from "./sent-answers.ts";
import type { SentTransactions } from "./sent-transactions.ts";
import type { SharedHistory } from "./shared-history.ts";

export type RpcOptions = MethodRegistryOptions;

export interface RpcDependencies {
  readonly clock: { monotonic(): number };
  readonly cache: AnswerCache<NodeAnswer, UpstreamOutcome>;
  /** The pool of a network; null for a network without upstreams. */
  readonly pool: (network: Network) => UpstreamPool | null;
  /** Follows sent transactions; null where none are followed. */
  readonly sent: Pick<SentTransactions, "taken"> | null;
  /** Absent where this process is the only one. */
  readonly history?: SharedHistory | null;
  readonly events?: Pick<CacheEvents, "cacheOutcome">;
}

/** The outcome of a call; `shared` says that another caller's call answered it and none was made for this one. */
export interface RpcOutcome {
  readonly outcome: UpstreamOutcome;
  readonly shared: boolean;
}

/** From a planned call to its answer: from memory, from a call under way, or from a node. */
export class Rpc {
  readonly #methods: MethodRegistry;
  readonly #dependencies: RpcDependencies;
  readonly #minSlots = new MinSlotTracker();

  constructor(options: RpcOptions, dependencies: RpcDependencies) {
    this.#methods = new MethodRegistry(options);
    this.#dependencies = dependencies;
  }

  /** The page of a method, or null when it is neither known nor let through (-32601). */
  method(name: string): MethodEntry | null {
    return this.#methods.find(name);
  }

  hasNodes(network: Network): boolean {
    return this.#dependencies.pool(network) !== null;
  }

  /**
   * What is known without asking a node: a kept answer that is not behind what this key has seen. `nowMs` is monotonic.
   */
  known(network: Network, plan: Plan, keyId: string, nowMs: number): NodeAnswer | undefined {
    if (plan.key === null) return undefined;
    const kept = this.#dependencies.cache.of(network, plan.commitment).get(plan.key, nowMs);
    if (kept === undefined) return undefined;
    const isPassed =
      kept.contextSlot === null ||
      this.#minSlots.passes({ keyId, network, commitment: plan.commitment }, kept.contextSlot, nowMs);
    if (!isPassed) return undefined;
    this.#count(network, plan, "hit");
    return kept;
  }

  /** The answer of the gateway itself to what is not forwarded (getHealth); null for every other call. */
  own(network: Network, plan: Plan): NodeAnswer | null {
    if (plan.spec?.route !== "gateway") return null;
    return healthAnswer(this.#dependencies.pool(network)?.health() ?? []);
  }

  /**
   * Asks a node, or joins the identical call that is under way. Never rejects for an error of a node. What a key has
   * seen of a commitment is a floor: a later answer is not from before it while some node has reached it.
   */
  async ask(network: Network, page: MethodEntry, plan: Plan, keyId: string): Promise<RpcOutcome> {
    const pool = this.#dependencies.pool(network);
    if (pool === null) return { outcome: noNodes, shared: false };
    const { clock } = this.#dependencies;
    const view = { keyId, network, commitment: plan.commitment };
    const floor = this.#minSlots.of(view, clock.monotonic());
    const call = callOf(page.name, plan, floor);
    // A call that is never shared waits for its node alone.
    const asked =
      plan.key === null
        ? { outcome: await pool.call(call), shared: false }
        : await this.#answered(pool, network, plan, plan.key, call);
    const { outcome } = asked;
    if (call.kind === "send" && outcome.ok && outcome.answer.errorCode === null) {
      this.#dependencies.sent?.taken({ network, keyId }, plan.params, textOf(outcome.answer));
    }
    if (!outcome.ok || outcome.answer.contextSlot === null) return asked;
    if (this.#minSlots.passes(view, outcome.answer.contextSlot, clock.monotonic()) || !asked.shared) return asked;
    // The call that was joined brought an answer older than what this key has seen: it sends its own.
    return { outcome: await pool.call(call), shared: false };
  }

  async #answered(
    pool: UpstreamPool,
    network: Network,
    plan: Plan,
    key: string,
    call: UpstreamCall,
  ): Promise<RpcOutcome> {
    const cache = this.#dependencies.cache.of(network, plan.commitment);
    const flight = cache.inFlight(key);
    if (flight !== undefined) {
      this.#count(network, plan, "coalesced");
      const outcome = await flight;
      // An answer that is still arriving goes to the caller that requested it; every other caller sends its own call.
      if (outcome.ok && outcome.answer.body.kind === "large") return { outcome: await pool.call(call), shared: false };
      return { outcome, shared: true };
    }
    const history = plan.spec?.cache === "final" ? (this.#dependencies.history ?? null) : null;
    let isFound = false;
    const load = async (): Promise<UpstreamOutcome> => {
      const answer = (await history?.find(network, key)) ?? null;
      if (answer === null) return pool.call(call);
      isFound = true;
      return { ok: true, answer, latencyMs: 0 };
    };
    const retain = (outcome: UpstreamOutcome) => {
      const retention = retentionOf(plan, outcome, pool.slotOf("finalized"));
      if (retention?.until === "final" && !isFound) history?.keep(network, key, retention.value);
      return retention;
    };
    const outcome = await cache.load(key, history === null ? () => pool.call(call) : load, retain);
    this.#count(network, plan, isFound ? "hit" : "miss");
    return { outcome, shared: isFound };
  }

  #count(network: Network, plan: Plan, outcome: CacheOutcome): void {
    const lifetime = plan.spec?.cache;
    if (lifetime === "final" || lifetime === "slot")
      this.#dependencies.events?.cacheOutcome(network, lifetime, outcome);
  }
}

/** The call as the pool takes it. An unknown method may be a write of some kind: it goes out once, like one. */
function callOf(method: string, plan: Plan, floor: bigint | null): UpstreamCall {
  const { params, commitment, minContextSlot } = plan;
  const route = plan.spec?.route;
  const kind =
    method === "sendTransaction"
      ? "send"
      : route === "send" || route === undefined
        ? "once"
        : route === "archive"
          ? "archive"
          : "read";
  const minimumSlot = floor === null || (minContextSlot !== null && minContextSlot > floor) ? minContextSlot : floor;
  const largeFrom = kind === "send" ? undefined : gatheredBytesMax(plan);
  return { method, params, kind, commitment, minimumSlot, largeFrom };
}

const noNodes: UpstreamOutcome = { ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false };

/**
 * How long an answer may be stored (decisions: Cache classes); null for not at all. Errors and bare nulls are never
 * stored: what is missing now may exist a slot later. History is final only where that is proved: requested as
 * finalized, or at or below the root.
 */
function retentionOf(plan: Plan, outcome: UpstreamOutcome, rootSlot: bigint | null): Retention<NodeAnswer> | null {
  const spec = plan.spec;
  if (!outcome.ok || spec === null || spec.cache === "never") return null;
  const value = outcome.answer;
  if (value.errorCode !== null || value.isNull || value.body.kind === "large") return null;
  if (spec.cache === "slot") return { value, until: "slot" };
  // A method without parameters is about the chain as a whole (genesis hash, epoch schedule).
  if (spec.parameters.length === 0) return { value, until: "final" };
  const isRooted = plan.slot !== null && rootSlot !== null && plan.slot <= rootSlot;
  const isFinalized = spec.commitment !== null && plan.commitment === "finalized";
  return { value, until: isRooted || isFinalized ? "final" : "slot" };
}

const mebibyte = 1024 * 1024;

/**
 * Bytes up to which an answer is gathered whole: as many as one that would be stored or shared may have (the cache
 * stores nothing over an eighth of its bound: 8 MiB of history, 2 MiB of what moves with the head). A larger answer, or
 * one that is never stored, is streamed to its caller.
 */
function gatheredBytesMax(plan: Plan): number {
  if (plan.key === null) return mebibyte;
  return plan.spec?.cache === "final" ? 8 * mebibyte : 2 * mebibyte;
}

/** Whose view of which chain. */
export interface View {
  readonly keyId: string;
  readonly network: Network;
  readonly commitment: CommitmentName;
}

interface Floor {
  readonly slot: bigint;
  readonly atMs: number;
}

/** What was seen counts for so long (decisions: Upstream choice); a chain that went back is believed after it. */
const lifetimeMs = 30_000;
/** Views of each network and commitment that are remembered; the one unused for longest goes first. */
const viewsMax = 50_000;

/**
 * The newest slot that each key has been shown of each network and commitment, so that no later answer is from before
 * it: nodes differ by a slot or two, and a caller that was given slot 101 must not be given 100 a moment later.
 */
export class MinSlotTracker {
  readonly #minSlots = new Map<Network, Map<CommitmentName, Map<string, Floor>>>();

  /** The floor of a view, or null when none is known or it is too old. `nowMs` is monotonic. */
  of(view: View, nowMs: number): bigint | null {
    const floor = this.#minSlots.get(view.network)?.get(view.commitment)?.get(view.keyId);
    return floor === undefined || nowMs - floor.atMs > lifetimeMs ? null : floor.slot;
  }

  /** Whether an answer of this slot may be shown; if so, it is the floor from now on. */
  passes(view: View, slot: bigint, nowMs: number): boolean {
    const floors = this.#floorsOf(view);
    const known = floors.get(view.keyId);
    if (known !== undefined && slot <= known.slot && nowMs - known.atMs <= lifetimeMs) return slot === known.slot;
    // Taken out and put in again, it is the youngest of the map's order.
    if (known !== undefined) floors.delete(view.keyId);
    floors.set(view.keyId, { slot, atMs: nowMs });
    if (floors.size > viewsMax) {
      const [oldest] = floors.keys();
      if (oldest !== undefined) floors.delete(oldest);
    }
    return true;
  }

  /** A map for each network and commitment: a key of all three would be a new text for every call. */
  #floorsOf({ network, commitment }: View): Map<string, Floor> {
    const ofNetwork = this.#minSlots.get(network) ?? new Map<CommitmentName, Map<string, Floor>>();
    const floors = ofNetwork.get(commitment);
    if (floors !== undefined) return floors;
    const fresh = new Map<string, Floor>();
    this.#minSlots.set(network, ofNetwork.set(commitment, fresh));
    return fresh;
  }
}
