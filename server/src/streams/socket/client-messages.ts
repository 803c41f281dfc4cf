import type { ErrorCode } from "@sluice/contract/errors";
import { SluiceError } from "@sluice/contract/errors";
import { type StreamFilters, streamPing, streamSubscribe, streamUnsubscribe } from "@sluice/contract/schemas";
import { type StreamChannel, streamBounds } from "@sluice/contract/streams";
import type { Slot } from "@sluice/wire/identifiers";
import { parseInput } from "../../http/index.ts";
import type { FlowFrom } from "../flow/flow-receiver.ts";

/** What a client chose to know its message by again. */
export type Ref = string | number;

/** What a client says. */
export type StreamRequest =
  | {
      readonly action: "subscribe";
      readonly channel: StreamChannel;
      readonly filters: StreamFilters;
      readonly from: FlowFrom;
      /** Whether it is told where it is while nothing else is sent. */
      readonly cursors: boolean;
      readonly ref: Ref | null;
    }
  | { readonly action: "unsubscribe"; readonly subscriptionId: string; readonly ref: Ref | null }
  | { readonly action: "ping" };

/** Why a message is not taken; the connection stays open. */
export interface StreamRequestFault {
  readonly action: "fault";
  readonly code: ErrorCode;
  readonly message: string;
  readonly ref: Ref | null;
}

/** Reads a message of a client; total. */
export function readClientMessage(data: string | Uint8Array): StreamRequest | StreamRequestFault {
  let value: unknown;
  try {
    value = JSON.parse(typeof data === "string" ? data : new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    return { action: "fault", code: "PARSE_ERROR", message: "A message is one JSON object in UTF-8", ref: null };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { action: "fault", code: "INVALID_INPUT", message: "A message is a JSON object", ref: null };
  }
  const ref = refIn(value);
  try {
    return read(value, ref);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return { action: "fault", code: "INVALID_INPUT", message: faultText(error), ref };
  }
}

/** @throws {SluiceError} INVALID_INPUT */
function read(value: object, ref: Ref | null): StreamRequest | StreamRequestFault {
  switch ("action" in value ? value.action : undefined) {
    case "ping":
      parseInput(streamPing, value);
      return { action: "ping" };
    case "unsubscribe":
      return { action: "unsubscribe", subscriptionId: parseInput(streamUnsubscribe, value).subscriptionId, ref };
    case "subscribe": {
      const { channel, filters = {}, from_slot: slot, cursor, cursors = false } = parseInput(streamSubscribe, value);
      if (slot !== undefined && cursor !== undefined) {
        const message = "cursor: comes without from_slot, which begins elsewhere";
        return { action: "fault", code: "INVALID_INPUT", message, ref };
      }
      const from: FlowFrom =
        cursor === undefined
          ? slot === undefined
            ? "live"
            : { slot: BigInt(slot) as Slot, isBound: true }
          : { cursor };
      return { action: "subscribe", channel, filters, from, cursors, ref };
    }
    default:
      return { action: "fault", code: "INVALID_INPUT", message: "action: must be subscribe, unsubscribe or ping", ref };
  }
}

function refIn(value: object): Ref | null {
  const ref: unknown = "ref" in value ? value.ref : null;
  if (typeof ref === "number") return ref;
  return typeof ref === "string" && ref.length <= streamBounds.refLengthMax ? ref : null;
}

/** Faults are listed by the members that they are of. */
const faultsShownMax = 3;

function faultText({ details, message }: SluiceError): string {
  const errors: unknown = details["errors"];
  if (!Array.isArray(errors)) return message;
  const texts = errors.slice(0, faultsShownMax).map(({ path, message: text }) => `${path}: ${text}`);
  return texts.join("; ");
}
