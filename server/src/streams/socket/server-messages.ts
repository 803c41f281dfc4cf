import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import type { StreamChannel } from "@sluice/contract/streams";
import { streamMessageTypes } from "@sluice/contract/streams";
import type { BlockPlace } from "../../log/index.ts";
import type { FlowGap } from "../flow/flow-receiver.ts";
import type { Ref } from "./client-messages.ts";

/*
 * The messages of the server as JSON text; their schemas are in contract/schemas/streams.ts. What many clients get is
 * written without a serialiser: ids and cursors are of letters, digits, `-` and `_`, and slots keep all their digits.
 */

export const connectedText = JSON.stringify({ type: "connected" });
export const pongText = JSON.stringify({ type: "pong" });

const refMember = (ref: Ref | null): string => (ref === null ? "" : `,"ref":${JSON.stringify(ref)}`);
const cursorText = (cursor: string | null): string => (cursor === null ? "null" : `"${cursor}"`);

/** `cursor` is where the subscription begins; null where none leads back. */
export function subscribedText(of: {
  readonly channel: StreamChannel;
  readonly id: string;
  readonly cursor: string | null;
  readonly ref: Ref | null;
}): string {
  const { channel, id, cursor, ref } = of;
  return `{"type":"subscribed","channel":"${channel}","subscriptionId":"${id}","cursor":${cursorText(cursor)}${refMember(ref)}}`;
}

export const unsubscribedText = (id: string, ref: Ref | null): string =>
  `{"type":"unsubscribed","subscriptionId":${JSON.stringify(id)}${refMember(ref)}}`;

export interface DataMessage {
  readonly channel: StreamChannel;
  readonly id: string;
  readonly slot: bigint;
  readonly cursor: string | null;
  /** JSON text. */
  readonly data: string;
}

export const dataText = ({ channel, id, slot, cursor, data }: DataMessage): string =>
  `{"type":"${streamMessageTypes[channel]}","subscriptionId":"${id}","slot":${slot},"cursor":${cursorText(cursor)},"data":${data}}`;

export interface UndoMessage {
  readonly undo: BlockPlace;
  /** The slot of the last block that stands. */
  readonly backTo: bigint;
  readonly cursor: string;
}

export const undoText = (id: string, { undo: { slot, blockhash }, backTo, cursor }: UndoMessage): string =>
  `{"type":"undo","subscriptionId":"${id}","slot":${slot},"blockhash":"${blockhash}","back_to":${backTo},"cursor":"${cursor}"}`;

/** Nothing was sent up to there. */
export const placeText = (id: string, slot: bigint, cursor: string): string =>
  `{"type":"cursor","subscriptionId":"${id}","slot":${slot},"cursor":"${cursor}"}`;

export const gapText = (id: string, { from, to }: FlowGap, cursor: string): string =>
  `${gapBeginning}"subscriptionId":"${id}","from":${from},"to":${to},"cursor":"${cursor}"}`;

export const laggedText = (id: string, dropped: number, fromSlot: bigint): string =>
  `{"type":"lagged","subscriptionId":"${id}","dropped":${dropped},"from_slot":${fromSlot}}`;

/** What each live subscription may go on from, as the server ends. */
export const drainingText = (
  subscriptions: readonly { readonly id: string; readonly cursor: string | null }[],
): string =>
  JSON.stringify({
    type: "draining",
    subscriptions: subscriptions.map(({ id, cursor }) => ({ subscriptionId: id, cursor })),
  });

export interface ErrorMessage {
  readonly code: ErrorCode;
  readonly message?: string;
  readonly ref?: Ref | null;
  /** The subscription that ends with it. */
  readonly subscriptionId?: string;
  /** Where that one may go on. */
  readonly cursor?: string | null;
  /** The first slot that can be had. */
  readonly firstSlot?: bigint | null;
}

export function errorText({ code, message = errorTable[code].text, ref = null, ...of }: ErrorMessage): string {
  const { subscriptionId, cursor, firstSlot } = of;
  return (
    `{"type":"error","code":"${code}","message":${JSON.stringify(message)},"ref":${JSON.stringify(ref)}` +
    (subscriptionId === undefined ? "" : `,"subscriptionId":"${subscriptionId}"`) +
    (cursor === undefined ? "" : `,"cursor":${cursorText(cursor)}`) +
    (firstSlot === undefined ? "" : `,"first_slot":${firstSlot}`) +
    "}"
  );
}

const gapBeginning = '{"type":"gap",';

/** Of what groups publish all but gaps are messages of the tier's rate, which may be dropped. */
export const isDroppable = (text: string): boolean => !text.startsWith(gapBeginning);

/** The slot of a data message. */
export function slotIn(text: string): bigint {
  const found = /^\{"type":"[a-z]+","subscriptionId":"[^"]*","slot":(\d+)/.exec(text);
  return BigInt(found?.[1] ?? 0);
}
