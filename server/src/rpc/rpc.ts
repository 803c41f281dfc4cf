import type { Network, PlatformTier } from "@sluice/contract/tiers";
import type { AnswerCache, CacheEvents, CacheOutcome, Retention } from "../cache/index.ts";
import type { NodeAnswer, UpstreamCall, UpstreamOutcome, UpstreamPool } from "../upstreams/index.ts";
import type { Archive, IndexedAnswer } from "./archive.ts";
import type { AssetAnswers, AssetCall } from "./asset-answers.ts";
import { healthAnswer } from "./health.ts";
import { type MethodEntry, MethodRegistry, type MethodRegistryOptions } from "./method-registry.ts";
import { MinSlotTracker, type Track } from "./min-slot-tracker.ts";
import type { Plan } from "./plan.ts";
import { slotInResult, textOf } from "./sent-answers.ts";
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
  /** What is kept of the chain beside its nodes; absent where nothing is. */
  readonly archive?: Archive | null;
  readonly events?: Pick<CacheEvents, "cacheOutcome">;
}

/** The outcome of a call; `shared` says that another caller's call answered it and none was made for this one. */
export interface RpcOutcome {
  readonly outcome: UpstreamOutcome;
  readonly shared: boolean;
}

/** A call and who makes it. */
interface Asking {
  readonly network: Network;
  readonly plan: Plan;
  readonly keyId: string;
}

/** What an answer must not be below. */
interface Minimums {
  readonly slot: bigint | null;
  readonly number: bigint | null;
}

/** From a planned call to its answer: from memory, from a call under way, or from a node. */
export class Rpc {
  readonly #methods: MethodRegistry;
  readonly #dependencies: RpcDependencies;
  readonly #minSlots = new MinSlotTracker();
  #assets: AssetAnswers | null = null;

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
    if (!this.#passes({ network, plan, keyId }, kept, nowMs)) return undefined;
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
    const asking = { network, plan, keyId };
    const call = callOf(page.name, plan, this.#minimums(asking));
    // A call that is never shared waits for its node alone.
    const asked =
      plan.key === null
        ? { outcome: await this.#call(pool, asking, call), shared: false }
        : await this.#answered(pool, asking, plan.key, call);
    const { outcome } = asked;
    if (call.kind === "send" && outcome.ok && outcome.answer.errorCode === null) {
      this.#dependencies.sent?.taken({ network, keyId }, plan.params, textOf(outcome.answer));
    }
    if (!outcome.ok) return asked;
    if (!asked.shared) this.#noteNode(asking, pool, outcome.answer);
    if (this.#passes(asking, outcome.answer, clock.monotonic()) || !asked.shared) return asked;
    // The call that was joined brought an answer older than what this key has seen: it sends its own.
    const own = await this.#call(pool, asking, call);
    if (own.ok) this.#passes(asking, own.answer, clock.monotonic());
    return { outcome: own, shared: false };
  }

  /** The chain of a network is another one: what keys were shown of it says nothing. */
  forget(network: Network): void {
    this.#minSlots.forget(network);
  }

  #minimums({ network, plan, keyId }: Asking): Minimums {
    const nowMs = this.#dependencies.clock.monotonic();
    const track = numberTrackOf(plan);
    return {
      slot: this.#minSlots.of({ keyId, network, track: plan.commitment }, nowMs),
      number: track === null ? null : this.#minSlots.of({ keyId, network, track }, nowMs),
    };
  }

  /** Whether an answer may be shown to this key; if so, no later one may be from before it. `nowMs` is monotonic. */
  #passes({ network, plan, keyId }: Asking, { contextSlot, number }: NodeAnswer, nowMs: number): boolean {
    if (
      contextSlot !== null &&
      !this.#minSlots.passes({ keyId, network, track: plan.commitment }, contextSlot, nowMs)
    ) {
      return false;
    }
    const track = number === null ? null : numberTrackOf(plan);
    return number === null || track === null || this.#minSlots.passes({ keyId, network, track }, number, nowMs);
  }

  /**
   * A height names no slot, but the node that told it has reached the slot that it shows: with it as the floor, later
   * calls of the key go to nodes that are as far.
   */
  #noteNode({ network, plan, keyId }: Asking, pool: UpstreamPool, answer: NodeAnswer): void {
    if (plan.spec?.position !== "height" || answer.number === null) return;
    const slot = pool.slotOfNode(answer.label, plan.commitment);
    if (slot === null || !pool.isPlausible(plan.commitment, slot)) return;
    this.#minSlots.passes({ keyId, network, track: plan.commitment }, slot, this.#dependencies.clock.monotonic());
  }

  /**
   * The answer to a method that nodes do not have, from what is kept of the chain; null to ask the nodes, at once for
   * every other method.
   */
  indexed(
    network: Network,
    { name }: MethodEntry,
    { plan, tier }: { readonly plan: Plan; readonly tier: PlatformTier },
  ): Promise<IndexedAnswer | null> | null {
    const { params, commitment } = plan;
    return this.#dependencies.archive?.indexed({ network, method: name, params, commitment }, tier) ?? null;
  }

  /** From now on these answer the methods over digital assets. */
  serveAssets(answers: AssetAnswers): void {
    this.#assets = answers;
  }

  /** The answer to a method over digital assets; null where nothing answers them. */
  async assets(call: AssetCall): Promise<IndexedAnswer | null> {
    return (await this.#assets?.answer(call)) ?? null;
  }

  /** The outcome of the nodes, and what they do not hold any more from what is kept of the chain. */
  async #call(pool: UpstreamPool, { network }: Asking, call: UpstreamCall): Promise<UpstreamOutcome> {
    const outcome = await callPlausibly(pool, call);
    if (call.kind !== "archive") return outcome;
    const { method, params, commitment } = call;
    const completing = this.#dependencies.archive?.complete({ network, method, params, commitment }, outcome) ?? null;
    const answer = completing === null ? null : await completing;
    return answer === null ? outcome : { ok: true, answer, latencyMs: outcome.ok ? outcome.latencyMs : 0 };
  }

  async #answered(pool: UpstreamPool, asking: Asking, key: string, call: UpstreamCall): Promise<RpcOutcome> {
    const { network, plan } = asking;
    const cache = this.#dependencies.cache.of(network, plan.commitment);
    const flight = cache.inFlight(key);
    if (flight !== undefined) {
      this.#count(network, plan, "coalesced");
      const outcome = await flight;
      // An answer that is still arriving goes to the caller that requested it; every other caller sends its own call.
      if (outcome.ok && outcome.answer.body.kind === "large") {
        return { outcome: await this.#call(pool, asking, call), shared: false };
      }
      return { outcome, shared: true };
    }
    const history = plan.spec?.cache === "final" ? (this.#dependencies.history ?? null) : null;
    let isFound = false;
    const load = async (): Promise<UpstreamOutcome> => {
      const answer = (await history?.find(network, key)) ?? null;
      if (answer === null) return this.#call(pool, asking, call);
      isFound = true;
      return { ok: true, answer, latencyMs: 0 };
    };
    const retain = (outcome: UpstreamOutcome) => {
      const retention = retentionOf(plan, outcome, pool.confirmedRoot());
      if (retention?.until === "final" && !isFound) history?.keep(network, key, retention.value);
      return retention;
    };
    const outcome = await cache.load(key, history === null ? () => this.#call(pool, asking, call) : load, retain);
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
function callOf(method: string, plan: Plan, { slot: floor, number }: Minimums): UpstreamCall {
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
  const position = plan.spec?.position ?? "context";
  return { method, params, kind, commitment, minimumSlot, position, minimumNumber: number, largeFrom };
}

/**
 * The call's outcome. A slot or height that no node can have reached yet is no statement: as a floor it would keep
 * every good answer from the key.
 */
async function callPlausibly(pool: UpstreamPool, call: UpstreamCall): Promise<UpstreamOutcome> {
  const outcome = await pool.call(call);
  if (!outcome.ok) return outcome;
  const { contextSlot, number } = outcome.answer;
  const isPlausible =
    (contextSlot === null || pool.isPlausible(call.commitment, contextSlot)) &&
    (number === null || call.position === "counter" || pool.isPlausible(call.commitment, number));
  if (isPlausible) return outcome;
  return { ...outcome, answer: { ...outcome.answer, contextSlot: null, number: null } };
}

/** The track of the number that an answer states beside or in the place of a slot; null for most methods. */
function numberTrackOf({ spec, commitment }: Plan): Track | null {
  switch (spec?.position) {
    case "height":
    case "epoch":
      return `height of ${commitment}`;
    case "counter":
      return `counter of ${spec.name}`;
    default:
      return null;
  }
}

const noNodes: UpstreamOutcome = { ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false };

/**
 * How long an answer may be stored (decisions: Cache classes); null for not at all. Errors and bare nulls are never
 * stored: what is missing now may exist a slot later. History is final only where that is proved: at or below the root
 * that a second node confirms, whatever the commitment of the call and the word of the node that answers it.
 */
function retentionOf(plan: Plan, outcome: UpstreamOutcome, rootSlot: bigint | null): Retention<NodeAnswer> | null {
  const spec = plan.spec;
  if (!outcome.ok || spec === null || spec.cache === "never") return null;
  const value = outcome.answer;
  if (value.errorCode !== null || value.isNull || value.body.kind === "large") return null;
  if (spec.cache === "slot") return { value, until: "slot" };
  // A method without parameters is about the chain as a whole (genesis hash, epoch schedule).
  if (spec.parameters.length === 0) return { value, until: "final" };
  const slot = rootSlot === null ? null : (plan.slot ?? slotInResult(textOf(value)));
  return { value, until: slot !== null && rootSlot !== null && slot <= rootSlot ? "final" : "slot" };
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
