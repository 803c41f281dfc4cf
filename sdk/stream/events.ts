import type { StreamFilters, StreamServerMessage } from "@sluice/contract/schemas";
import type { StreamChannel, StreamFilterName, streamFilterChannels } from "@sluice/contract/streams";
import type { Exact } from "../exact.ts";

/** What the server says, with its whole numbers as bigint. */
export type StreamMessage = Exact<StreamServerMessage>;

type Told<Type extends StreamMessage["type"]> = Omit<Extract<StreamMessage, { readonly type: Type }>, "subscriptionId">;

/** A transaction of a block. A subscription with its `cursor` goes on right after it; so it is with all events. */
export type StreamTransaction = Told<"transaction">;
/** A block, without its transactions. */
export type StreamBlock = Told<"block">;
/** What a block changed of an account. */
export type StreamAccount = Told<"account">;
/** A slot and its block's parent; `cursor` and the parent are null at processed. */
export type StreamSlot = Told<"slot">;
/**
 * The block is no longer on the chain, nor is any that was told of slots above `back_to`. After a resumption it may be
 * one of which nothing was told.
 */
export type StreamUndo = Told<"undo">;
/** Blocks of the slots `from` to `to` may exist and cannot be had. */
export type StreamGap = Told<"gap">;
/** So many events were dropped here; a subscription with this `from_slot` is told them. */
export type StreamLagged = Told<"lagged">;

interface StreamData {
  readonly transactions: StreamTransaction;
  readonly blocks: StreamBlock;
  readonly accounts: StreamAccount;
  readonly slots: StreamSlot;
}

/** What a subscription to a channel gives; `type` tells them apart. */
export type StreamEvent<Channel extends StreamChannel = StreamChannel> =
  | StreamData[Channel]
  | StreamUndo
  | StreamGap
  | StreamLagged;

type FilterOf<Channel extends StreamChannel> = {
  [Name in StreamFilterName]: Channel extends (typeof streamFilterChannels)[Name][number] ? Name : never;
}[StreamFilterName];

/** The filters of a channel: all of them must hold, and of a list one entry. */
export type StreamFiltersOf<Channel extends StreamChannel> = Exact<Pick<StreamFilters, FilterOf<Channel>>>;
