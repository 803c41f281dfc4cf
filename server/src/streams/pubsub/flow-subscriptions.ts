import type { Clock, Random, Timer } from "@sluice/lib";
import { BlockReader } from "../../events/index.ts";
import type { FlowMembership } from "../flow/flow-receiver.ts";
import type { NetworkFlow } from "../flow/flows.ts";
import { NodeReads } from "./node-reads.ts";
import type { NodeSubscriptions, PubSubPool } from "./node-subscriptions.ts";
import type { SharedSubscription, SubscriptionSource } from "./shared-subscription.ts";
import { hasReached, type SignatureRead, SignatureReads, signatureResult } from "./signature-reads.ts";
import { StageSubscriptions } from "./stage-subscriptions.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";

/** The blocks of a network, as subscriptions need them. */
export type PubSubFlow = Pick<NetworkFlow, "join" | "newest">;

export interface FlowSubscriptionsDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly pool: PubSubPool;
  /** The network's blocks; null while its log is not open here. */
  readonly flow: () => PubSubFlow | null;
  /** Goes on with the subscriptions of a flow that has ended. */
  readonly nodes: NodeSubscriptions;
  readonly events: { internalError(where: string, error: unknown): void };
}

type ToldStage = "confirmed" | "finalized";

/** Slots that the flow may be behind nodes for a new subscription; those that have it stay with it. */
const lagSlotsMax = 32n;
/** Once the flow is that far behind, nodes are asked for the signatures that clients wait for. */
const lateSlots = 8n;
const lookEveryMs = 2_000;
/** Between two questions for a signature that a node is behind on, and how many there are at most. */
const againMs = 400;
const questionsMax = 20;

interface OpenStage {
  readonly subscriptions: StageSubscriptions;
  readonly membership: FlowMembership;
}

/**
 * Subscriptions that the blocks of the log answer exactly: roots, blocks, logs and signatures, once confirmed or
 * finalized. No node is asked for them, so the loss of one leaves no gap.
 */
export class FlowSubscriptions implements SubscriptionSource, Disposable {
  readonly #dependencies: FlowSubscriptionsDependencies;
  readonly #reader = new BlockReader();
  readonly #stages = new Map<ToldStage, OpenStage>();
  readonly #signatures: SignatureReads;
  readonly #watch: Timer;

  constructor(dependencies: FlowSubscriptionsDependencies) {
    const { clock, pool, events } = dependencies;
    this.#dependencies = dependencies;
    const reads = new NodeReads({ clock, pool, failed: (error) => events.internalError("pubsub", error) });
    this.#signatures = new SignatureReads({ clock, reads });
    this.#watch = clock.every(lookEveryMs, () => this.#lookWhereLate());
  }

  /** Whether the subscription can be made here: the blocks say all of it, and they are near the head. */
  serves(spec: SubscriptionSpec): boolean {
    const stage = stageOf(spec);
    const lag = stage === null ? null : this.#lagOf(stage);
    return lag !== null && lag <= lagSlotsMax;
  }

  open(shared: SharedSubscription): void {
    const { pool, flow, nodes } = this.#dependencies;
    const stage = stageOf(shared.spec);
    const network = flow();
    if (stage === null || network === null) {
      shared.source = nodes;
      nodes.open(shared);
      return;
    }
    this.#stageOf(stage, network).subscriptions.add(shared);
    shared.opened();
    if (shared.spec.kind !== "signature") return;
    // What was told before it came is not told again: nodes know it.
    const told = network.newest(stage) ?? pool.slotOf(stage) ?? 0n;
    this.#look(shared, { told, questions: 1 });
  }

  close(shared: SharedSubscription): void {
    for (const [stage, { subscriptions, membership }] of this.#stages) {
      subscriptions.delete(shared);
      if (!subscriptions.isEmpty) continue;
      this.#stages.delete(stage);
      membership[Symbol.dispose]();
    }
  }

  #stageOf(stage: ToldStage, network: PubSubFlow): OpenStage {
    const known = this.#stages.get(stage);
    if (known !== undefined) return known;
    const { random } = this.#dependencies;
    const subscriptions = new StageSubscriptions({ random, reader: this.#reader, ended: () => this.#ended(stage) });
    const outcome = network.join({ stage, from: "live" }, subscriptions);
    // The head of an open log can always be followed.
    if (!outcome.ok) throw new TypeError(`the head of the log cannot be followed: ${outcome.code}`);
    const open = { subscriptions, membership: outcome.membership };
    this.#stages.set(stage, open);
    return open;
  }

  /** Nodes go on with what clients have. */
  #ended(stage: ToldStage): void {
    const open = this.#stages.get(stage);
    this.#stages.delete(stage);
    if (open === undefined) return;
    const { all, lastSlot } = open.subscriptions;
    for (const shared of all) {
      if (shared.clients > 0) this.#dependencies.nodes.adopt(shared, lastSlot);
      else shared.lose();
    }
  }

  #look(shared: SharedSubscription, at: { readonly told: bigint; readonly questions: number }): void {
    const { spec } = shared;
    const done = (read: SignatureRead | null): void => {
      if (!shared.isOpen || read === null) return;
      const { known, slot } = read;
      if (known !== null && hasReached(known, spec.commitment)) {
        shared.notify(signatureResult(slot, known.error), true);
        return;
      }
      // A node that is behind the blocks that were told before may yet know it.
      const isBehind = slot < at.told || (known !== null && known.slot <= at.told);
      if (!isBehind || at.questions >= questionsMax) return;
      this.#dependencies.clock.after(againMs, () => {
        if (shared.isOpen && shared.clients > 0) this.#look(shared, { ...at, questions: at.questions + 1 });
      });
    };
    this.#signatures.read({ signature: String(spec.subject), commitment: spec.commitment, done });
  }

  /** While the flow stands still, clients that wait for a signature do not. */
  #lookWhereLate(): void {
    for (const [stage, { subscriptions }] of this.#stages) {
      if ((this.#lagOf(stage) ?? 0n) < lateSlots) continue;
      for (const shared of subscriptions.signatures) this.#look(shared, { told: 0n, questions: questionsMax });
    }
  }

  /** Slots between the newest block of the log and the newest that nodes have shown; null without a block. */
  #lagOf(stage: ToldStage): bigint | null {
    const newest = this.#dependencies.flow()?.newest(stage) ?? null;
    if (newest === null) return null;
    const slot = this.#dependencies.pool.slotOf(stage) ?? newest;
    return slot > newest ? slot - newest : 0n;
  }

  [Symbol.dispose](): void {
    this.#watch.cancel();
    for (const { membership } of this.#stages.values()) membership[Symbol.dispose]();
    this.#stages.clear();
  }
}

/** The stage whose blocks answer a subscription exactly; null for one that they do not. */
function stageOf({ kind, commitment, config }: SubscriptionSpec): ToldStage | null {
  switch (kind) {
    case "root":
      return "finalized";
    case "signature":
      // Only a node knows what it has received.
      if (config["enableReceivedNotification"] === true) return null;
      return commitment === "processed" ? null : commitment;
    case "block":
    case "logs":
      return commitment === "processed" ? null : commitment;
    default:
      return null;
  }
}
