import type { Network, PlatformTier } from "@sluice/contract/tiers";
import type { FrameGroup } from "../../net/index.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";

/** Who has subscribed. */
export interface Subscriber {
  readonly accountId: string;
  /** As it is now. */
  readonly tier: PlatformTier;
  /** The subscription is over with this notification, which its group was sent. */
  ended(shared: SharedSubscription, last: string): void;
  /** No node serves the subscription any more. */
  lost(): void;
}

/** What a client is answered: its subscription, or the node's error (JSON text of an object). */
export type SubscribeOutcome =
  | { readonly ok: true; readonly shared: SharedSubscription }
  | { readonly ok: false; readonly shared: SharedSubscription; readonly error: string };

export type TakeOutcome = (outcome: SubscribeOutcome) => void;

/** Where the notifications of subscriptions come from. */
export interface SubscriptionSource {
  /** Begins to notify. It calls `opened` of the subscription, or `refused`, or `lose`, at once or later. */
  open(shared: SharedSubscription): void;
  /** Nobody is left who wants it. */
  close(shared: SharedSubscription): void;
}

export interface SharedOptions {
  /** The number that clients know it by. */
  readonly id: number;
  readonly network: Network;
  readonly spec: SubscriptionSpec;
  readonly source: SubscriptionSource;
  /** The clients that are sent its notifications. */
  readonly group: FrameGroup;
  /** Called once, its accounts still known, when nothing more comes of it: it was refused, has ended or is lost. */
  readonly over: (shared: SharedSubscription) => void;
}

/**
 * One subscription, however many clients have it. All of them know it by one number, as the clients of a node do, so
 * that a notification is one text for all.
 */
export class SharedSubscription {
  readonly id: number;
  readonly network: Network;
  readonly spec: SubscriptionSpec;
  /** Whoever hands it to another source sets that. */
  source: SubscriptionSource;
  /** Who was answered joins it, and leaves it with the subscription. */
  readonly group: FrameGroup;
  readonly #over: SharedOptions["over"];
  readonly #head: string;
  readonly #tail: string;
  readonly #subscribers = new Set<Subscriber>();
  /** Those that have not been answered; a client may have asked more than once. */
  readonly #asking = new Map<Subscriber, TakeOutcome[]>();
  /** Whose clients have it or have asked for it, and how many they are. */
  readonly #accounts = new Map<string, number>();
  #state: "opening" | "open" | "over" = "opening";

  constructor({ id, network, spec, source, group, over }: SharedOptions) {
    this.id = id;
    this.network = network;
    this.spec = spec;
    this.source = source;
    this.group = group;
    this.#over = over;
    this.#head = `{"jsonrpc":"2.0","method":"${spec.kind}Notification","params":{"result":`;
    this.#tail = `,"subscription":${id}}}`;
  }

  /** Clients that have it or have asked for it. */
  get clients(): number {
    return this.#subscribers.size + this.#asking.size;
  }

  /** The accounts whose clients have it or have asked for it. */
  get accounts(): Iterable<string> {
    return this.#accounts.keys();
  }

  isOf(accountId: string): boolean {
    return this.#accounts.has(accountId);
  }

  /** Whether clients have been answered. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  join(subscriber: Subscriber, answered: TakeOutcome): void {
    if (!this.#has(subscriber)) {
      const { accountId } = subscriber;
      this.#accounts.set(accountId, (this.#accounts.get(accountId) ?? 0) + 1);
    }
    if (this.#state === "open") {
      this.#subscribers.add(subscriber);
      answered({ ok: true, shared: this });
      return;
    }
    const asked = this.#asking.get(subscriber);
    if (asked === undefined) this.#asking.set(subscriber, [answered]);
    else asked.push(answered);
  }

  leave(subscriber: Subscriber): void {
    if (!this.#has(subscriber)) return;
    const { accountId } = subscriber;
    const left = (this.#accounts.get(accountId) ?? 0) - 1;
    if (left > 0) this.#accounts.set(accountId, left);
    else this.#accounts.delete(accountId);
    this.#subscribers.delete(subscriber);
    this.#asking.delete(subscriber);
  }

  #has(subscriber: Subscriber): boolean {
    return this.#subscribers.has(subscriber) || this.#asking.has(subscriber);
  }

  opened(): void {
    if (this.#state !== "opening") return;
    this.#state = "open";
    for (const subscriber of this.#asking.keys()) this.#subscribers.add(subscriber);
    for (const answered of this.#takeAsking()) answered({ ok: true, shared: this });
  }

  /** `error` is the JSON text of the node's error. */
  refused(error: string): void {
    if (this.#state !== "opening") return;
    const asking = this.#takeAsking();
    this.#end();
    for (const answered of asking) answered({ ok: false, shared: this, error });
  }

  #takeAsking(): TakeOutcome[] {
    const asking = [...this.#asking.values()].flat();
    this.#asking.clear();
    return asking;
  }

  /** Tells all clients; `result` is JSON text. `isLast`: the subscription is over after it. */
  notify(result: string, isLast = false): void {
    if (this.#state !== "open") return;
    if (this.group.size === 0 && !isLast) return;
    const text = this.#head + result + this.#tail;
    this.group.publish(text);
    if (!isLast) return;
    const subscribers = [...this.#subscribers];
    this.#end();
    for (const subscriber of subscribers) subscriber.ended(this, text);
  }

  /** No node serves it: its clients are told, and it is over. */
  lose(): void {
    if (this.#state === "over") return;
    const clients = [...this.#subscribers, ...this.#asking.keys()];
    this.#end();
    for (const subscriber of clients) subscriber.lost();
  }

  #end(): void {
    this.#state = "over";
    this.#subscribers.clear();
    this.#asking.clear();
    this.#over(this);
    this.#accounts.clear();
  }
}
