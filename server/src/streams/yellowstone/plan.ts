import { packNames, packSlot, type SlotUpdate } from "@sluice/encode/updates";
import type { FilteredUpdate, FilterSet, MatchedTransaction, SubscribeRequest, UpdateContent } from "@sluice/geyser";
import { PackedMessage } from "../../net/index.ts";
import type { FeedItem } from "./node-feed.ts";
import type { BlockContent } from "./slot-content.ts";

/** Lists of names whose bytes are remembered: more than most streams have filters. */
const namesMax = 256;

/**
 * The filters of one or more streams that ask for the same: what they are told of a slot is packed once for all of
 * them. Updates of different plans share what they hold, and differ in the names before it.
 */
export class Plan {
  readonly identity: string;
  readonly filters: FilterSet;
  readonly request: SubscribeRequest;
  /** Streams that have it. */
  holders = 0;
  readonly #names = new Map<string, Uint8Array>();
  /** Of the newest content that was asked for: streams are told the same one after another. */
  #made: { readonly content: BlockContent; readonly messages: readonly PackedMessage[] } | null = null;

  #item: { readonly item: FeedItem; readonly messages: readonly PackedMessage[] } | null = null;

  constructor(identity: string, filters: FilterSet, request: SubscribeRequest) {
    this.identity = identity;
    this.request = request;
    this.filters = filters;
  }

  /**
   * What its streams are told of a slot's content, before the slot's status.
   *
   * @param matched - the slot's transactions that match, where they are known
   */
  messages(content: BlockContent, matched?: readonly MatchedTransaction[]): readonly PackedMessage[] {
    if (this.#made?.content === content) return this.#made.messages;
    const updates = this.filters.updates(content, matched);
    const messages = Array.from(updates, ([names, parts]) => this.message(names, parts, content.createdAt));
    this.#made = { content, messages };
    return messages;
  }

  /** What its streams are told of one update of a node; like `messages`, once for those that are told together. */
  itemMessages(item: FeedItem): readonly PackedMessage[] {
    if (this.#item?.item === item) return this.#item.messages;
    const messages = Array.from(this.#updatesOf(item), ([names, parts]) => this.message(names, parts, item.createdAt));
    this.#item = { item, messages };
    return messages;
  }

  #updatesOf(item: FeedItem): Iterable<FilteredUpdate> {
    const { filters } = this;
    switch (item.kind) {
      case "slot": {
        const names = filters.slotNames(item.update.status);
        return names.length === 0 ? [] : [[names, [item.packed]]];
      }
      case "account":
        return filters.ofAccount(item.account);
      case "transaction":
        return filters.ofTransaction(item.transaction);
      case "entry":
        return filters.ofEntry(item.packed);
      case "block":
        return filters.ofBlock(item.content);
      case "blockMeta":
        return filters.ofMeta(item.packed);
    }
  }

  /** Null where no filter takes the status. */
  status(update: SlotUpdate, createdAt: Uint8Array): PackedMessage | null {
    const names = this.filters.slotNames(update.status);
    return names.length === 0 ? null : this.message(names, [packSlot(update)], createdAt);
  }

  message(names: readonly string[], content: UpdateContent, createdAt: Uint8Array): PackedMessage {
    return PackedMessage.of([this.#packedNames(names), ...content, createdAt]);
  }

  #packedNames(names: readonly string[]): Uint8Array {
    const key = JSON.stringify(names);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    if (this.#names.size >= namesMax) this.#names.clear();
    const packed = packNames(names);
    this.#names.set(key, packed);
    return packed;
  }
}
