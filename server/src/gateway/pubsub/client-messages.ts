import { isUtf8 } from "node:buffer";
import type { ErrorCode } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { type MethodCode, methodRefusalText, type Refusal } from "../../access/index.ts";
import { jsonRpcFailureBody } from "../../http/index.ts";
import { checkPubSubCall, type EnvelopeItem, readEnvelope } from "../../rpc/index.ts";

/** What becomes of a client's message: it goes to the node as it is, is answered here, or neither. */
export type MessageOutcome =
  | { readonly kind: "pass"; readonly text: string }
  | { readonly kind: "answer"; readonly body: string }
  | { readonly kind: "none" };

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

/** With this, clients keep their connection alive; no node answers it. */
const keepAlive = "ping";

/**
 * Checks what a client says, so that a wrong call never reaches a node. A binary frame is read as the text that it
 * holds, as a node does.
 */
export function checkMessage(data: string | Uint8Array, options: CheckOptions): MessageOutcome {
  const text = textOf(data);
  if (text === null) return answer(failure("null", { code: "PARSE_ERROR", message: null }, options));
  const notified = notifiedMethod(text);
  if (notified !== null) return notified === keepAlive ? { kind: "pass", text } : { kind: "none" };
  const envelope = readEnvelope(text, limits.rpcBatchItems);
  if (envelope.kind === "refused") return answer(failure("null", envelope, options));
  if (envelope.kind === "batch") return checkBatch(text, envelope.items, options);
  const refused = refusalOf(envelope.item, options);
  return refused === null ? { kind: "pass", text } : answer(failure(envelope.item.id, refused, options));
}

/** A batch goes to the node whole or not at all: two answers to one batch would be none that a client can match. */
function checkBatch(text: string, items: readonly EnvelopeItem[], options: CheckOptions): MessageOutcome {
  const refusals = items.map((item) => refusalOf(item, options));
  if (refusals.every((refused) => refused === null)) return { kind: "pass", text };
  const beside: Refused = { code: "INVALID_REQUEST", message: "Another call of this batch is wrong: none was made" };
  const bodies = items.map((item, index) => failure(item.id, refusals[index] ?? beside, options));
  return answer(`[${bodies.join(",")}]`);
}

function refusalOf(item: EnvelopeItem, options: CheckOptions): Refused | null {
  if (!item.ok) return item;
  const refusal = options.permit(item.method);
  if (refusal === null) return checkPubSubCall(item, options);
  return { code: refusal.code, message: methodRefusalText(refusal, item.method) };
}

function failure(idJson: string, { code, message }: Refused, { requestId }: CheckOptions): string {
  return jsonRpcFailureBody(code, message === null ? { requestId, idJson } : { requestId, idJson, message });
}

const answer = (body: string): MessageOutcome => ({ kind: "answer", body });

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
