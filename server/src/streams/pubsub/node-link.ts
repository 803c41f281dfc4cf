import type { Clock, Timer } from "@sluice/lib";
import { WebSocketClient } from "../../net/index.ts";
import { SubscriptionRegistry } from "./subscription-registry.ts";
import type { PubSubTarget } from "./upstream-connection.ts";

interface ConnectionHandlers {
  readonly received: (data: string | Uint8Array) => void;
  /** The node is gone, or never came; called once. */
  readonly lost: () => void;
}

/** Messages of a client that wait until the node is reached, and bytes that may lie unsent towards the node. */
const pendingMessagesMax = 1_064;
const unsentBytesMax = 1024 * 1024;
const connectTimeoutMs = 10_000;

/** A client's own connection to a node: frames go both ways as they are. */
class NodeConnection {
  readonly #socket: WebSocketClient;
  readonly #handlers: ConnectionHandlers;
  readonly #timer: Timer;
  #pending: string[] = [];
  #isClosed = false;

  constructor(target: PubSubTarget, clock: Pick<Clock, "after">, handlers: ConnectionHandlers) {
    this.#handlers = handlers;
    this.#timer = clock.after(connectTimeoutMs, () => this.#lose());
    this.#socket = new WebSocketClient(
      { url: target.ws, headers: target.headers },
      {
        opened: () => {
          this.#timer.cancel();
          for (const message of this.#pending) this.#socket.send(message);
          this.#pending = [];
        },
        received: (data) => handlers.received(data),
        lost: () => this.#lose(),
      },
    );
  }

  /** False when the node takes no more: too much waits for it. */
  send(message: string): boolean {
    if (this.#isClosed) return true;
    if (!this.#socket.isOpen) {
      this.#pending.push(message);
      return this.#pending.length <= pendingMessagesMax;
    }
    this.#socket.send(message);
    return this.#socket.unsentBytes <= unsentBytesMax;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer.cancel();
    this.#socket.close();
  }

  #lose(): void {
    if (this.#isClosed) return;
    this.close();
    this.#handlers.lost();
  }
}

/** Waits before each further try to reach a node, the first at once; after the last the link is lost. */
const waitsMs = [0, 250, 1_000] as const;

export interface NodeLinkOptions {
  readonly first: PubSubTarget;
  /** The node to go on with; `lost` are the labels of those that were lost since a frame last came. */
  readonly next: (lost: ReadonlySet<string>) => PubSubTarget | null;
}

export interface NodeLinkHandlers {
  readonly received: (data: string | Uint8Array) => void;
  /** No node could be reached any more; called once. */
  readonly lost: () => void;
  /** The client goes on with another node. */
  readonly moved: (label: string) => void;
}

/**
 * A client's link to a node, which moves to another node when one is lost: its subscriptions are made again there and
 * keep the numbers that the client knows. Notifications of the time in between are lost.
 */
export class NodeLink {
  readonly #options: NodeLinkOptions;
  readonly #clock: Pick<Clock, "after">;
  readonly #handlers: NodeLinkHandlers;
  readonly #subscriptions = new SubscriptionRegistry();
  readonly #lost = new Set<string>();
  #target: PubSubTarget;
  #link: NodeConnection;
  #tries = 0;
  #timer: Timer | null = null;
  #isOver = false;

  constructor(options: NodeLinkOptions, clock: Pick<Clock, "after">, handlers: NodeLinkHandlers) {
    this.#clock = clock;
    this.#options = options;
    this.#handlers = handlers;
    this.#target = options.first;
    this.#link = this.#connect();
  }

  get label(): string {
    return this.#target.label;
  }

  /** False when the node takes no more: too much waits for it. */
  send(text: string): boolean {
    if (this.#isOver) return true;
    const message = this.#subscriptions.fromClient(text);
    // While a node is sought, the registry holds what the client asks, and it goes out with the rest.
    return this.#timer !== null || this.#link.send(message);
  }

  /** Leaves a node that still answers but has fallen behind, if there is a better one. */
  leave(): void {
    if (this.#isOver || this.#timer !== null || !this.#subscriptions.canMove) return;
    const better = this.#options.next(new Set([this.#target.label]));
    if (better === null) return;
    this.#link.close();
    this.#goTo(better);
  }

  close(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#link.close();
  }

  #connect(): NodeConnection {
    return new NodeConnection(this.#target, this.#clock, {
      received: (data) => this.#received(data),
      lost: () => this.#seek(),
    });
  }

  #received(data: string | Uint8Array): void {
    this.#tries = 0;
    this.#lost.clear();
    const message = typeof data === "string" ? this.#subscriptions.fromNode(data) : data;
    if (this.#subscriptions.hasLostOne) this.#giveUp();
    else if (message !== null) this.#handlers.received(message);
  }

  #seek(): void {
    if (this.#isOver || this.#timer !== null) return;
    const wait = waitsMs[this.#tries];
    this.#tries += 1;
    this.#lost.add(this.#target.label);
    if (wait === undefined || !this.#subscriptions.canMove) {
      this.#giveUp();
      return;
    }
    this.#timer = this.#clock.after(wait, () => {
      this.#timer = null;
      const target = this.#options.next(this.#lost) ?? this.#options.next(new Set());
      if (target === null) {
        this.#seek();
        return;
      }
      this.#goTo(target);
    });
  }

  #goTo(target: PubSubTarget): void {
    this.#target = target;
    this.#link = this.#connect();
    for (const message of this.#subscriptions.moved()) this.#link.send(message);
    this.#handlers.moved(target.label);
  }

  #giveUp(): void {
    if (this.#isOver) return;
    this.close();
    this.#handlers.lost();
  }
}
