import type { Feed, PublishedState, Session, Topic } from "./exchanges/exchange.ts";
import type { Faults } from "./faults/faults.ts";
import { spoil } from "./faults/garbage.ts";
import { fraction, mix, seedOf } from "./model/hash.ts";
import type { Venue } from "./venue.ts";

/** A connection of the hub. */
export interface Wire {
  send(text: string): void;
  ping(text: string): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/** One client of one exchange. */
export class Client implements Session {
  readonly topics = new Map<string, Topic>();
  readonly notes = new Map<string, number>();
  receivedMs: number;
  pongMs: number;
  sentMs: number;
  isOpen = true;
  readonly number: number;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly openedMs: number;
  readonly #wire: Wire;
  readonly #gate: (client: Client, text: string, what: "answer" | "pulse" | "push") => readonly string[];
  readonly #now: () => number;

  constructor(
    options: { readonly number: number; readonly path: string; readonly query: URLSearchParams },
    dependencies: {
      readonly wire: Wire;
      readonly now: () => number;
      readonly gate: (client: Client, text: string, what: "answer" | "pulse" | "push") => readonly string[];
    },
  ) {
    this.number = options.number;
    this.path = options.path;
    this.query = options.query;
    this.#wire = dependencies.wire;
    this.#gate = dependencies.gate;
    this.#now = dependencies.now;
    this.openedMs = dependencies.now();
    this.receivedMs = this.openedMs;
    this.pongMs = this.openedMs;
    this.sentMs = this.openedMs;
  }

  answer(text: string): void {
    this.#send(text, "answer");
  }

  pulse(text: string): void {
    this.#send(text, "pulse");
  }

  push(text: string): void {
    this.#send(text, "push");
  }

  ping(text: string): void {
    if (this.#gate(this, "", "pulse").length > 0) this.#wire.ping(text);
  }

  close(code: number, reason: string): void {
    this.isOpen = false;
    this.#wire.close(code, reason);
  }

  terminate(): void {
    this.isOpen = false;
    this.#wire.terminate();
  }

  #send(text: string, what: "answer" | "pulse" | "push"): void {
    for (const each of this.#gate(this, text, what)) {
      this.sentMs = this.#now();
      this.#wire.send(each);
    }
  }
}

/**
 * All connections to one exchange's stream. At each tick every topic with a listener is asked once for its news,
 * whose text all its listeners share; a market without listeners costs nothing.
 */
export class Hub {
  readonly #feed: Feed;
  readonly #venue: Venue;
  readonly #faults: Faults;
  readonly #seed: number;
  readonly #clients = new Set<Client>();
  readonly #published = new Map<string, PublishedState>();
  /** A frame that is held back so that the next one goes before it. */
  readonly #held = new Map<Client, string>();
  #opened = 0;
  #sent = 0;

  constructor(dependencies: { readonly feed: Feed; readonly venue: Venue; readonly faults: Faults }) {
    this.#feed = dependencies.feed;
    this.#venue = dependencies.venue;
    this.#faults = dependencies.faults;
    this.#seed = seedOf(`${dependencies.venue.seed}/hub/${dependencies.venue.id}`);
  }

  get size(): number {
    return this.#clients.size;
  }

  open(path: string, query: URLSearchParams, wire: Wire): Client {
    this.#opened += 1;
    const now = (): number => this.#venue.clock();
    const client = new Client({ number: this.#opened, path, query }, { wire, now, gate: this.#pass });
    this.#clients.add(client);
    this.#feed.open(client, this.#venue);
    this.#begin(client);
    return client;
  }

  message(client: Client, text: string): void {
    client.receivedMs = this.#venue.clock();
    if (!client.isOpen || this.#isSilent()) return;
    this.#feed.message(client, text, this.#venue);
    this.#begin(client);
  }

  pong(client: Client): void {
    client.receivedMs = this.#venue.clock();
    client.pongMs = client.receivedMs;
  }

  closed(client: Client): void {
    client.isOpen = false;
    this.#clients.delete(client);
    this.#held.delete(client);
  }

  /** Announces that connections will end soon, where the exchange has such a message; gives the number of clients. */
  noticeAll(): number {
    const { notice } = this.#feed;
    if (notice === undefined) return 0;
    for (const client of this.#clients) client.answer(notice(client, this.#venue));
    return this.#clients.size;
  }

  closeAll(how: "close" | "reset", code = 1001): number {
    const clients = [...this.#clients];
    for (const client of clients) {
      if (how === "reset") client.terminate();
      else client.close(code, "going away");
    }
    return clients.length;
  }

  /** News, heartbeats and duties. */
  tick(): void {
    const news = new Map<string, readonly string[]>();
    for (const client of this.#clients) {
      for (const topic of client.topics.values()) {
        if (!news.has(topic.key)) news.set(topic.key, this.#newsOf(topic));
        for (const text of news.get(topic.key) ?? []) client.push(this.#feed.wrap?.(client, topic, text) ?? text);
      }
    }
    for (const client of [...this.#clients]) if (client.isOpen) this.#feed.beat(client, this.#venue);
    for (const key of this.#published.keys()) if (!news.has(key)) this.#published.delete(key);
  }

  /** A topic's news begin with the moment of its first subscription. */
  #begin(client: Client): void {
    for (const topic of client.topics.values()) {
      if (this.#published.has(topic.key)) continue;
      const { contentMs } = this.#venue.moment(topic.market);
      this.#published.set(topic.key, { contentMs, atMs: 0, tradeId: -1, quotes: "" });
    }
  }

  #newsOf(topic: Topic): readonly string[] {
    const published = this.#published.get(topic.key);
    if (published === undefined) return [];
    if (topic.channel !== "heartbeat" && this.#venue.isMuted(topic.market)) return [];
    if (this.#faults.ofMarket("drop", topic.market.listing) !== null) return [];
    return this.#feed.news(topic, published, this.#venue);
  }

  #isSilent(): boolean {
    return this.#faults.ofExchange("silence", this.#venue.id) !== null;
  }

  /** The frames that are sent in place of a frame. */
  readonly #pass = (client: Client, text: string, what: "answer" | "pulse" | "push"): readonly string[] => {
    const { id } = this.#venue;
    if (!client.isOpen || this.#isSilent()) return [];
    if (what === "answer") return this.#faults.ofExchange("unacknowledged", id) === null ? [text] : [];
    if (what === "pulse") return [text];
    this.#sent += 1;
    const falls = (share: number, salt: number): boolean => fraction(mix(this.#seed, this.#sent, salt)) < share;
    const garbage = this.#faults.ofExchange("garbage", id);
    const isSpoilt = garbage !== null && garbage.door !== "rest" && falls(garbage.share, 1);
    const shown = isSpoilt ? spoil(text, garbage.form, mix(this.#seed, this.#sent, 4)) : text;
    const reorder = this.#faults.ofExchange("reorder", id);
    const held = this.#held.get(client);
    if (held !== undefined) {
      this.#held.delete(client);
      return [shown, held];
    }
    if (reorder !== null && falls(reorder.share, 2)) {
      this.#held.set(client, shown);
      return [];
    }
    const duplicate = this.#faults.ofExchange("duplicate", id);
    return duplicate !== null && falls(duplicate.share, 3) ? [shown, shown] : [shown];
  };
}
