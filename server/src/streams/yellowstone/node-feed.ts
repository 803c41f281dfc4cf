import { unpackBlock, unpackTransaction } from "@sluice/encode";
import {
  packAccount,
  packCreatedAt,
  packEntry,
  packPingRequest,
  readUpdate,
  type SlotUpdate,
  type UnpackedUpdate,
  unpackAccount,
  unpackBlockExtras,
  unpackEntry,
  unpackTransactionUpdate,
  unpackUpdate,
} from "@sluice/encode/updates";
import type { FilteredAccount, FilteredTransaction, SubscribeRequest } from "@sluice/geyser";
import { backoffDelayMs, type Clock, type Random, type Timer } from "@sluice/lib";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { UpstreamConfig } from "../../config/index.ts";
import type { BlockReader } from "../../events/index.ts";
import type { GeyserStream, openGeyserStream } from "../../ingest/index.ts";
import { HeldSlots } from "./held-slots.ts";
import { BlockContent, loneTransaction, type SlotExtras } from "./slot-content.ts";
import { type Demanded, unionRequest } from "./union-request.ts";

/** One update of a node's stream at processed, read once for all who want it. */
export type FeedItem = { readonly createdAt: Uint8Array } & (
  | { readonly kind: "slot"; readonly update: SlotUpdate; readonly packed: Uint8Array }
  | { readonly kind: "account"; readonly account: FilteredAccount }
  | { readonly kind: "transaction"; readonly transaction: FilteredTransaction }
  | { readonly kind: "entry"; readonly packed: Uint8Array }
  | { readonly kind: "block"; readonly content: BlockContent }
  | { readonly kind: "blockMeta"; readonly packed: Uint8Array }
);

export interface NodeFeedListener extends Demanded {
  /** Called for each update, one after another. */
  item(item: FeedItem): void;
  /** What follows the last update is missing: the node's stream broke off. */
  lost(): void;
}

export interface NodeFeedOptions {
  readonly addresses: readonly NonNullable<UpstreamConfig["yellowstone"]>[];
  /** Bytes of accounts and entries that wait for a commitment. */
  readonly heldBytesMax: number;
}

export interface NodeFeedDependencies {
  readonly clock: Pick<Clock, "after" | "every" | "now">;
  readonly random: Random;
  readonly reader: BlockReader;
  readonly openStream: typeof openGeyserStream;
  /** geyser.SubscribeRequest as bytes. */
  readonly packRequest: (request: SubscribeRequest) => Uint8Array;
}

const updateBytesMax = 64 * 1024 * 1024;
const backoff = { baseMs: 100, maxMs: 10_000 } as const;
const pingMs = 10_000;
/** More than lie between processed and finalized. */
const heldSlotsMax = 512n;
/** Of slots that are over: they say nothing of which slot is under way. */
const settledStatuses: ReadonlySet<string> = new Set(["confirmed", "finalized", "dead"]);

/** What the feed is to meet for one stream, and since which slot it does. */
interface Demand {
  readonly listener: NodeFeedListener;
  /** The number of the request that named it first. */
  readonly request: number;
  /** Whether the node has read that request. */
  isRead: boolean;
  /** The newest slot that the node may have begun before that; null while it is not known. */
  since: bigint | null;
}

/**
 * The stream of one node at processed, shared by all streams of a network that ask for what blocks do not hold: one
 * request, the union of theirs. It is open while somebody wants it; when it breaks off, all who listen are told.
 */
export class NodeFeed implements Disposable {
  readonly #options: NodeFeedOptions;
  readonly #dependencies: NodeFeedDependencies;
  readonly #demands = new Map<NodeFeedListener, Demand>();
  readonly #held: HeldSlots;
  #stream: GeyserStream | null = null;
  #retry: Timer | null = null;
  #pings: Timer | null = null;
  #attempt = 0;
  /** Requests are numbered by the pings behind them. */
  #requests = 0;
  #newest = -1n;

  constructor(options: NodeFeedOptions, dependencies: NodeFeedDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#held = new HeldSlots({ bytesMax: options.heldBytesMax });
  }

  get heldBytes(): number {
    return this.#held.bytes;
  }

  /** Asks the node for what the listener wants too, until it is disposed of. */
  join(listener: NodeFeedListener): Disposable {
    this.#demands.set(listener, { listener, request: this.#requests + 1, isRead: false, since: null });
    this.#ask();
    return {
      [Symbol.dispose]: () => {
        if (!this.#demands.delete(listener)) return;
        if (this.#demands.size === 0) this.#close();
        else this.#ask();
      },
    };
  }

  /**
   * Accounts and entries of a slot for a listener: nothing where its slot came before the node had been asked for them,
   * `pending` while the node has not told all.
   */
  extrasOf(slot: bigint, listener: NodeFeedListener): SlotExtras | "pending" | "lost" {
    const since = this.#demands.get(listener)?.since ?? null;
    if (since === null || slot <= since) return { accounts: [], entries: [] };
    return this.#held.extrasOf(slot);
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  #ask(): void {
    const { packRequest } = this.#dependencies;
    if (this.#stream === null) {
      this.#open();
      return;
    }
    this.#requests += 1;
    this.#stream.request(packRequest(unionRequest([...this.#demands.keys()])));
    // The node reads requests in order: its answer says that it has read this one.
    this.#stream.request(packPingRequest(this.#requests));
  }

  #open(): void {
    if (this.#retry !== null) return;
    const { openStream, clock } = this.#dependencies;
    const { addresses } = this.#options;
    const address = addresses[this.#attempt % addresses.length];
    if (address === undefined) return;
    this.#stream = openStream(
      { ...address, updateBytesMax },
      { update: (bytes) => this.#updated(bytes), ended: () => this.#broke() },
    );
    this.#pings ??= clock.every(pingMs, () => this.#stream?.request(packPingRequest(this.#requests)));
    this.#ask();
  }

  #close(): void {
    this.#retry?.cancel();
    this.#retry = null;
    this.#pings?.cancel();
    this.#pings = null;
    this.#stream?.close();
    this.#stream = null;
    this.#held.clear();
    this.#newest = -1n;
  }

  #broke(): void {
    const { clock, random } = this.#dependencies;
    this.#stream?.close();
    this.#stream = null;
    this.#held.clear();
    this.#newest = -1n;
    const delayMs = backoffDelayMs(this.#attempt, backoff, random);
    this.#attempt += 1;
    this.#retry = clock.after(delayMs, () => {
      this.#retry = null;
      if (this.#demands.size > 0) this.#open();
    });
    for (const { listener } of [...this.#demands.values()]) listener.lost();
  }

  #updated(bytes: Uint8Array): void {
    try {
      const read = readUpdate(bytes);
      if (read.kind === "pong") {
        this.#acknowledged(read.id);
        return;
      }
      const item = this.#itemOf(unpackUpdate(bytes), bytes);
      if (item === null) return;
      this.#attempt = 0;
      for (const { listener } of [...this.#demands.values()]) listener.item(item);
    } catch (error) {
      if (!(error instanceof MalformedBytes) && !(error instanceof TypeError)) throw error;
      // What cannot be read is missing to somebody.
      this.#broke();
    }
  }

  /** The ids of pongs are the numbers of requests, which come in order: the oldest unread request has been read. */
  #acknowledged(id: number): void {
    for (const demand of this.#demands.values()) {
      if (demand.isRead || demand.request > id) continue;
      demand.isRead = true;
      // Before the node has told a slot, the first that it tells may be half over.
      if (this.#newest >= 0n) demand.since = this.#newest;
    }
  }

  #itemOf(update: UnpackedUpdate, bytes: Uint8Array): FeedItem | null {
    const { clock, reader } = this.#dependencies;
    const nowMs = clock.now();
    const createdAt = packCreatedAt(nowMs);
    const { kind, inner, content } = update;
    if (kind === "slot") return this.#slot(bytes, content, createdAt);
    if (kind === "account") {
      const read = unpackAccount(inner);
      const account = { update: read, packed: packAccount(read) };
      this.#held.account(account);
      return { kind, account, createdAt };
    }
    if (kind === "entry") {
      const read = unpackEntry(inner);
      this.#held.entry({ update: read, packed: packEntry(read) });
      return { kind, packed: content, createdAt };
    }
    if (kind === "blockMeta") return { kind, packed: content, createdAt };
    if (kind === "transaction") {
      const { slot, index, packed } = unpackTransactionUpdate(inner);
      const transaction = loneTransaction(unpackTransaction(packed), { slot, index, packed });
      return { kind, transaction, createdAt };
    }
    if (kind !== "block") return null;
    const { accounts, entries } = unpackBlockExtras(inner);
    const extras = {
      accounts: accounts.map((each) => ({ update: each, packed: packAccount(each) })),
      entries: entries.map((each) => ({ update: each, packed: packEntry(each) })),
    };
    return {
      kind,
      content: new BlockContent({ block: unpackBlock(inner), body: inner }, { reader, nowMs, extras }),
      createdAt,
    };
  }

  #began(slot: bigint): void {
    this.#newest = slot;
    for (const demand of this.#demands.values()) if (demand.isRead && demand.since === null) demand.since = slot;
  }

  #slot(bytes: Uint8Array, packed: Uint8Array, createdAt: Uint8Array): FeedItem | null {
    const read = readUpdate(bytes);
    if (read.kind !== "slot") return null;
    const { slot, parent, status } = read;
    if (!settledStatuses.has(status) && slot > this.#newest) this.#began(slot);
    if (status === "processed") {
      this.#held.whole(slot);
      this.#held.forget(slot - heldSlotsMax);
    }
    return { kind: "slot", update: { slot, parent, status }, packed, createdAt };
  }
}
