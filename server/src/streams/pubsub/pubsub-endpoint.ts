import type { Network } from "@sluice/contract/tiers";
import type { Timer } from "@sluice/lib";
import { isRpcPath, jsonRpcFailureBody } from "../../http/index.ts";
import { FanOut, RefusedSession, type SocketMount, type SocketPeer, type SocketSession } from "../../net/index.ts";
import { type AdmissionOutcome, ConnectionAdmission } from "../delivery/admission.ts";
import { ConnectionCounts } from "../delivery/connection-places.ts";
import { MessagePacer } from "../delivery/message-pacer.ts";
import { FlowSubscriptions } from "./flow-subscriptions.ts";
import { connectionSubscriptionsMax, connectionsMax, NodeSubscriptions } from "./node-subscriptions.ts";
import { NodeVersions } from "./node-versions.ts";
import { PubSubSession } from "./pubsub-session.ts";
import type { CheckedSession, PubSubDependencies, SessionDependencies } from "./session-dependencies.ts";
import type { SubscriptionSource } from "./shared-subscription.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";
import { SubscriptionTable } from "./subscription-table.ts";

export interface PubSubOptions {
  readonly networkDefault: Network;
  /** Whether methods that no table knows are passed to the node; false where absent. */
  readonly allowUnknownMethods?: boolean;
  /** Between two facts of a connection, to the next tick. */
  readonly reportEveryMs?: number;
}

/** A little less than two ticks, so that facts come each minute however exact ticks are. */
const reportEveryMsDefault = 50_000;
/** A pass over 10,000 connections takes some 10 ms. */
const recheckWaitMs = 20;
/** Different subscriptions of one network: as many as its connections take. */
const networkSubscriptionsMax = connectionSubscriptionsMax * connectionsMax;
/** A client that connects again, or the next one, finds the subscription still there. */
const lingerMs = 2_000;
/** Above the numbers that nodes give to what is passed to them as it is: clients tell subscriptions apart by number. */
const firstIdBesideNodes = 2 ** 40;

/** Where the subscriptions of a network are made. */
interface NetworkSources {
  readonly blocks: FlowSubscriptions;
  readonly nodes: NodeSubscriptions;
}

/**
 * Solana PubSub under the same keys and restrictions as JSON-RPC. Equal subscriptions of all clients are one, told from
 * the blocks of the log where they say all of it, else made at a node.
 */
export class PubSubEndpoint implements SocketMount, Disposable {
  readonly #dependencies: SessionDependencies;
  readonly #admission: ConnectionAdmission;
  /** In the order in which they came. */
  readonly #sessions = new Set<CheckedSession>();
  readonly #table: SubscriptionTable;
  readonly #sources = new Map<Network, NetworkSources>();
  #recheckTimer: Timer | null = null;

  constructor(options: PubSubOptions, dependencies: PubSubDependencies) {
    const { clock, events, pool } = dependencies;
    const places = dependencies.places ?? new ConnectionCounts();
    const fanOut = new FanOut({ failed: (error) => events.internalError("pubsub", error) });
    this.#table = new SubscriptionTable(
      {
        firstId: options.allowUnknownMethods === true ? firstIdBesideNodes : 1,
        subscriptionsMax: networkSubscriptionsMax,
        lingerMs,
      },
      { clock, events, fanOut, source: (network, spec) => this.#sourceOf(network, spec) },
    );
    this.#admission = new ConnectionAdmission(
      { door: "pubsub", networkDefault: options.networkDefault },
      {
        ...dependencies,
        places,
        refused: (code) => events.requestRefused("pubsub", code),
        isServed: (network) => (pool(network)?.pubsubNode() ?? null) !== null,
      },
    );
    this.#dependencies = {
      ...dependencies,
      places,
      admission: this.#admission,
      pacer: new MessagePacer(dependencies),
      table: this.#table,
      versions: new NodeVersions(dependencies),
      allowUnknownMethods: options.allowUnknownMethods ?? false,
      reportEveryMs: options.reportEveryMs ?? reportEveryMsDefault,
      left: (session) => this.#sessions.delete(session),
    };
  }

  /**
   * Checks every connection again because keys or accounts have changed: within a few milliseconds, so that many
   * changes at once cost one pass. The newest come first: when a tier allows fewer connections than there are, the
   * oldest stay.
   */
  recheck(): void {
    this.#recheckTimer ??= this.#dependencies.clock.after(recheckWaitMs, () => {
      this.#recheckTimer = null;
      for (const session of [...this.#sessions].toReversed()) void session.recheck();
    });
  }

  serves(path: string): boolean {
    return isRpcPath(path);
  }

  begin(request: Request, peer: SocketPeer): SocketSession | Promise<SocketSession> {
    const outcome = this.#admission.admit(request, peer);
    return outcome instanceof Promise ? outcome.then((admitted) => this.#begun(admitted)) : this.#begun(outcome);
  }

  #begun(outcome: AdmissionOutcome): SocketSession {
    if (!outcome.ok) {
      const { requestId, code, closeCode, reason } = outcome;
      const message = jsonRpcFailureBody(code, { requestId, message: reason });
      return new RefusedSession(requestId, { code: closeCode, reason, message });
    }
    const session = new PubSubSession(outcome.client, outcome.grant, this.#dependencies);
    this.#sessions.add(session);
    return session;
  }

  /** The blocks of the log where they say all of it, else the nodes; null for a network without nodes. */
  #sourceOf(network: Network, spec: SubscriptionSpec): SubscriptionSource | null {
    const sources = this.#sources.get(network) ?? this.#openSources(network);
    if (sources === null) return null;
    return sources.blocks.serves(spec) ? sources.blocks : sources.nodes;
  }

  #openSources(network: Network): NetworkSources | null {
    const { clock, random, events, pool, flow } = this.#dependencies;
    const ofNetwork = pool(network);
    if (ofNetwork === null) return null;
    const nodes = new NodeSubscriptions({ clock, events, pool: ofNetwork });
    const blocks = new FlowSubscriptions({
      clock,
      random,
      events,
      pool: ofNetwork,
      nodes,
      flow: () => flow?.(network) ?? null,
    });
    const sources = { nodes, blocks };
    this.#sources.set(network, sources);
    return sources;
  }

  [Symbol.dispose](): void {
    this.#recheckTimer?.cancel();
    this.#table[Symbol.dispose]();
    for (const { blocks, nodes } of this.#sources.values()) {
      blocks[Symbol.dispose]();
      nodes[Symbol.dispose]();
    }
  }
}
