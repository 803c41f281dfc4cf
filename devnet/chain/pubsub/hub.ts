import type { JsonValue } from "@sluice/encode";
import { stringifyJsonExact } from "@sluice/wire/json";
import {
  type Dispatch,
  dispatcher,
  invalidParams,
  type Method,
  RpcError,
  type RpcNode,
  u64Value,
  versionJson,
} from "../rpc/index.ts";
import { rootTopic, slotsUpdatesTopic, slotTopic, voteTopic } from "./slot-topics.ts";
import type { ChainEvent, PubSubClient, Topic } from "./subscription.ts";
import { accountTopic, blockTopic, logsTopic, programTopic, signatureTopic } from "./topics.ts";

interface Shared {
  readonly id: number;
  readonly topic: Topic;
  readonly clients: Set<PubSubClient>;
}

interface HubOptions {
  /** Subscriptions of all clients together. */
  readonly subscriptionsMax: number;
}

interface Subscribe {
  readonly required: number;
  readonly optional: number;
  readonly topic: (params: readonly JsonValue[]) => Topic;
}

const subscribes: { readonly [kind: string]: Subscribe } = {
  account: { required: 1, optional: 1, topic: accountTopic },
  program: { required: 1, optional: 1, topic: programTopic },
  logs: { required: 1, optional: 1, topic: logsTopic },
  signature: { required: 1, optional: 1, topic: signatureTopic },
  block: { required: 1, optional: 1, topic: blockTopic },
  slot: { required: 0, optional: 0, topic: slotTopic },
  root: { required: 0, optional: 0, topic: rootTopic },
  slotsUpdates: { required: 0, optional: 0, topic: slotsUpdatesTopic },
  vote: { required: 0, optional: 0, topic: voteTopic },
};

/**
 * All subscriptions of all clients. Clients that ask for the same thing share one subscription and its id; it is
 * encoded once for each notification, and is dropped when the last of them leaves.
 */
export class PubSubHub {
  readonly #node: RpcNode;
  readonly #options: HubOptions;
  readonly #byId = new Map<number, Shared>();
  readonly #byKey = new Map<string, Shared>();
  /** What each client takes part in, so that one who leaves costs no look at what the others have. */
  readonly #byClient = new Map<PubSubClient, Set<Shared>>();
  /** Subscriptions to the `received` event of a signature: there are as many such events as transactions. */
  readonly #receivers = new Map<string, Set<Shared>>();
  #held = 0;
  #nextId = 0;

  constructor(options: HubOptions, dependencies: { readonly node: RpcNode }) {
    this.#options = options;
    this.#node = dependencies.node;
  }

  /** Answers the calls of one client. */
  dispatchFor(client: PubSubClient): Dispatch {
    return dispatcher(
      (name) => this.#method(name, client),
      (method, params) => method.run(params, this.#node),
      this.#node.log,
    );
  }

  #method(name: string, client: PubSubClient): Method | undefined {
    if (name === "getVersion") return { required: 0, optional: 0, run: versionJson };
    const kind = /^(.+?)(Subscribe|Unsubscribe)$/.exec(name);
    const known = kind?.[1] === undefined || !Object.hasOwn(subscribes, kind[1]) ? undefined : subscribes[kind[1]];
    if (known === undefined) return undefined;
    // As on a node that was started without its flag.
    if (kind?.[1] === "vote" && !this.#node.chain.cluster.votesLand) return undefined;
    if (kind?.[2] === "Unsubscribe")
      return { required: 1, optional: 0, run: (params) => this.#leave(params[0], client) };
    return {
      required: known.required,
      optional: known.optional,
      run: (params) => this.#join(known.topic(params), client),
    };
  }

  #join(topic: Topic, client: PubSubClient): number {
    let shared = this.#byKey.get(topic.key);
    if (shared?.clients.has(client)) return shared.id;
    if (this.#held >= this.#options.subscriptionsMax) {
      throw new RpcError(-32603, "Internal Error: Subscription refused. Node subscription limit reached");
    }
    if (shared === undefined) {
      shared = { id: this.#nextId, topic, clients: new Set() };
      this.#nextId += 1;
      this.#byId.set(shared.id, shared);
      this.#byKey.set(topic.key, shared);
      if (topic.receives !== undefined) this.#receiversOf(topic.receives).add(shared);
    }
    shared.clients.add(client);
    const own = this.#byClient.get(client) ?? new Set();
    this.#byClient.set(client, own.add(shared));
    this.#held += 1;
    return shared.id;
  }

  #leave(id: JsonValue | undefined, client: PubSubClient): boolean {
    const shared = this.#byId.get(Number(u64Value(id)));
    if (shared === undefined || !shared.clients.has(client)) throw invalidParams("Invalid subscription id.");
    this.#remove(shared, client);
    return true;
  }

  #remove(shared: Shared, client: PubSubClient): void {
    if (!shared.clients.delete(client)) return;
    this.#held -= 1;
    const own = this.#byClient.get(client);
    own?.delete(shared);
    if (own?.size === 0) this.#byClient.delete(client);
    if (shared.clients.size > 0) return;
    this.#byId.delete(shared.id);
    this.#byKey.delete(shared.topic.key);
    const { receives } = shared.topic;
    if (receives === undefined) return;
    const receivers = this.#receiversOf(receives);
    receivers.delete(shared);
    if (receivers.size === 0) this.#receivers.delete(receives);
  }

  #receiversOf(signature: string): Set<Shared> {
    const known = this.#receivers.get(signature) ?? new Set();
    this.#receivers.set(signature, known);
    return known;
  }

  /** Forgets a client that is gone. */
  closed(client: PubSubClient): void {
    for (const shared of this.#byClient.get(client) ?? []) this.#remove(shared, client);
  }

  /** Notifies every subscription of an event. One that fails is logged, and the others are notified all the same. */
  publish(event: ChainEvent): void {
    const concerned = event.kind === "received" ? (this.#receivers.get(event.signature) ?? []) : this.#byId.values();
    for (const shared of concerned) {
      try {
        this.#notify(shared, event);
      } catch (error) {
        this.#node.log.error({ error, notification: shared.topic.notification }, "a notification failed");
      }
    }
  }

  #notify(shared: Shared, event: ChainEvent): void {
    for (const { result, last } of shared.topic.notices(event, this.#node)) {
      const params = { result, subscription: shared.id };
      const text = stringifyJsonExact({ jsonrpc: "2.0", method: shared.topic.notification, params });
      for (const client of shared.clients) client.send(text);
      if (last) for (const client of shared.clients) this.#remove(shared, client);
    }
  }
}
