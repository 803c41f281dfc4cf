import { SubscriptionBook } from "./subscription-book.ts";
import { type PubSubTarget, UpstreamLink } from "./upstream-link.ts";

/** Waits before each further try to reach a node, the first at once; after the last the client is told. */
const waitsMs = [0, 250, 1_000] as const;

export interface NodeWayOptions {
  readonly first: PubSubTarget;
  /** The node to go on with; `lost` are the labels of those that were lost since a frame last came. */
  readonly next: (lost: ReadonlySet<string>) => PubSubTarget | null;
}

export interface NodeWayHandlers {
  readonly received: (data: string | Uint8Array) => void;
  /** No node could be reached any more; told once. */
  readonly lost: () => void;
  /** The client goes on with another node. */
  readonly moved: (label: string) => void;
}

/**
 * A client's way to a node, which leads to another when one is lost: its subscriptions are made again there and keep the
 * numbers that the client knows. What the chain did in between is not told.
 */
export class NodeWay {
  readonly #options: NodeWayOptions;
  readonly #handlers: NodeWayHandlers;
  readonly #book = new SubscriptionBook();
  readonly #lost = new Set<string>();
  #target: PubSubTarget;
  #link: UpstreamLink;
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isOver = false;

  constructor(options: NodeWayOptions, handlers: NodeWayHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.#target = options.first;
    this.#link = this.#connect();
  }

  get label(): string {
    return this.#target.label;
  }

  /** False when the node takes no more: too much waits for it. */
  send(data: string | Uint8Array): boolean {
    if (this.#isOver) return true;
    if (typeof data !== "string") this.#book.canMove = false;
    const message = typeof data === "string" ? this.#book.fromClient(data) : data;
    // While a node is looked for, what the client asks is in the book and goes out with the rest.
    return this.#timer !== null || this.#link.send(message);
  }

  /** Leaves a node that still speaks but should not be listened to any more, if there is a better one. */
  leave(): void {
    if (this.#isOver || this.#timer !== null || !this.#book.canMove) return;
    const better = this.#options.next(new Set([this.#target.label]));
    if (better === null) return;
    this.#link.close();
    this.#goTo(better);
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer ?? undefined);
    this.#link.close();
  }

  #connect(): UpstreamLink {
    return new UpstreamLink(this.#target, {
      received: (data) => this.#received(data),
      lost: () => this.#seek(),
    });
  }

  #received(data: string | Uint8Array): void {
    this.#tries = 0;
    this.#lost.clear();
    const message = typeof data === "string" ? this.#book.fromNode(data) : data;
    if (this.#book.hasLostOne) this.#giveUp();
    else if (message !== null) this.#handlers.received(message);
  }

  #seek(): void {
    if (this.#isOver || this.#timer !== null) return;
    const wait = waitsMs[this.#tries];
    this.#tries += 1;
    this.#lost.add(this.#target.label);
    if (wait === undefined || !this.#book.canMove) {
      this.#giveUp();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const target = this.#options.next(this.#lost) ?? this.#options.next(new Set());
      if (target === null) {
        this.#seek();
        return;
      }
      this.#goTo(target);
    }, wait);
  }

  #goTo(target: PubSubTarget): void {
    this.#target = target;
    this.#link = this.#connect();
    for (const message of this.#book.moved()) this.#link.send(message);
    this.#handlers.moved(target.label);
  }

  #giveUp(): void {
    if (this.#isOver) return;
    this.close();
    this.#handlers.lost();
  }
}
