import { isUtf8 } from "node:buffer";
import type { ErrorCode } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { pubsubMethods } from "@sluice/contract/rpc";
import { type MethodCode, methodRefusalText, type Refusal } from "../../access/index.ts";
import { jsonRpcFailureBody } from "../../http/index.ts";
import { checkPubSubCall, type EnvelopeItem, readEnvelope } from "../../rpc/index.ts";
import { type SubscriptionSpec, subscriptionMethod, subscriptionSpec } from "./subscription-spec.ts";

/** A client's call, after it was checked: what it asks for, or the answer with which it was refused. */
export type ClientCall =
  | { readonly kind: "refused"; readonly body: string }
  | { readonly kind: "subscribe"; readonly id: string; readonly spec: SubscriptionSpec }
  | { readonly kind: "unsubscribe"; readonly id: string; readonly subscription: number }
  | { readonly kind: "version"; readonly id: string }
  /** A method that no table knows, which goes to a node as it was sent. */
  | { readonly kind: "unknown"; readonly text: string };

/** What a client says: its calls, which a batch has answered together. */
export interface ClientCalls {
  readonly calls: readonly ClientCall[];
  readonly isBatch: boolean;
}

interface CheckOptions {
  /** Whether methods that no table knows are passed to the node. */
  readonly allowUnknownMethods: boolean;
  readonly requestId: string;
  /** Null for a method that the client's key may call. */
  readonly permit: (method: string) => Refusal<MethodCode> | null;
}

interface Refused {
  readonly code: ErrorCode;
  readonly message: string | null;
}

/**
 * Reads and checks what a client says, so that a wrong call never reaches a node. A binary frame is read as the text
 * that it holds, as a node does.
 */
export function readMessage(data: string | Uint8Array, options: CheckOptions): ClientCalls {
  const text = textOf(data);
  if (text === null) return refusedWhole({ code: "PARSE_ERROR", message: null }, options);
  // Nothing answers a notification: `ping`, with which clients keep their connection alive, or any other.
  if (notifiedMethod(text) !== null) return { calls: [], isBatch: false };
  const envelope = readEnvelope(text, limits.rpcBatchItems);
  if (envelope.kind === "refused") return refusedWhole(envelope, options);
  if (envelope.kind === "single") return { calls: [readCall(envelope.item, text, options)], isBatch: false };
  const calls = envelope.items.map((item) => {
    const call = readCall(item, text, options);
    return call.kind === "unknown"
      ? refusedCall(item, { code: "METHOD_NOT_FOUND", message: notInBatch }, options)
      : call;
  });
  return { calls, isBatch: true };
}

const notInBatch = "A method that is passed to a node as it is cannot be part of a batch";

function readCall(item: EnvelopeItem, text: string, options: CheckOptions): ClientCall {
  const refused = refusalOf(item, options);
  if (refused !== null || !item.ok)
    return refusedCall(item, refused ?? { code: "INVALID_REQUEST", message: null }, options);
  const { id, method, params } = item;
  if (!pubsubMethods.has(method)) return { kind: "unknown", text };
  const subscription = subscriptionMethod(method);
  if (subscription === null) return { kind: "version", id };
  if (subscription.what === "subscribe")
    return { kind: "subscribe", id, spec: subscriptionSpec(subscription.kind, params) };
  return { kind: "unsubscribe", id, subscription: Number((JSON.parse(params ?? "[]") as unknown[])[0]) };
}

function refusalOf(item: EnvelopeItem, options: CheckOptions): Refused | null {
  if (!item.ok) return item;
  const refusal = options.permit(item.method);
  if (refusal === null) return checkPubSubCall(item, options);
  return { code: refusal.code, message: methodRefusalText(refusal, item.method) };
}

const refusedCall = (item: EnvelopeItem, refused: Refused, options: CheckOptions): ClientCall => ({
  kind: "refused",
  body: failure(item.id, refused, options),
});

const refusedWhole = (refused: Refused, options: CheckOptions): ClientCalls => ({
  calls: [{ kind: "refused", body: failure("null", refused, options) }],
  isBatch: false,
});

function failure(idJson: string, { code, message }: Refused, { requestId }: CheckOptions): string {
  return jsonRpcFailureBody(code, message === null ? { requestId, idJson } : { requestId, idJson, message });
}

function textOf(data: string | Uint8Array): string | null {
  if (typeof data === "string") return data;
  return isUtf8(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8") : null;
}

/** The method of a notification, which has no id and gets no answer; null for any other message. */
function notifiedMethod(text: string): string | null {
  if (text.includes('"id"')) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("method" in value) || "id" in value) return null;
    return typeof value.method === "string" ? value.method : null;
  } catch {
    return null;
  }
}
