import type { JsonValue } from "@sluice/encode";
import { stringifyJsonExact } from "@sluice/wire/json";
import type { NodeAnswer } from "../../upstreams/index.ts";

/** Where an answer came from, as X-RPC-Endpoint says it. */
export const ledgerLabel = "ledger";

/** An answer in the form of a node's: `head`, the id, and a closing brace and a newline. */
function answerOf(
  head: string,
  { errorCode, isNull, label }: Pick<NodeAnswer, "errorCode" | "isNull" | "label">,
): NodeAnswer {
  const tail = "}\n";
  const bytes = Buffer.from(head);
  return {
    label,
    body:
      bytes.length === head.length
        ? { kind: "text", head, tail }
        : { kind: "bytes", head: bytes, tail: Buffer.from(tail) },
    sizeBytes: bytes.length + tail.length,
    errorCode,
    isNull,
    contextSlot: null,
    number: null,
  };
}

/** The JSON text of a result as a node's answer. */
export const resultAnswer = (text: string, label: string = ledgerLabel): NodeAnswer =>
  answerOf(`{"jsonrpc":"2.0","result":${text},"id":`, { errorCode: null, isNull: text === "null", label });

/** An error as a node's answer. */
export const errorAnswer = (code: number, message: string, label: string = ledgerLabel): NodeAnswer =>
  failedAnswer({ code, message }, label);

const failedAnswer = (error: { code: number; message: string; data?: JsonValue }, label: string): NodeAnswer =>
  answerOf(`{"jsonrpc":"2.0","error":${stringifyJsonExact(error)},"id":`, {
    errorCode: error.code,
    isNull: false,
    label,
  });

/** The result of a value, u64 exact. */
export const valueAnswer = (value: JsonValue): NodeAnswer => resultAnswer(stringifyJsonExact(value));

/** What a node says of a transaction of a version that its caller does not take (-32015). */
export const unsupportedVersion = (version: number): NodeAnswer =>
  errorAnswer(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
      `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );

/** What a node with long-term storage says of a slot that it knows to have no block. */
export const skippedSlot = (slot: bigint): NodeAnswer =>
  errorAnswer(-32009, `Slot ${slot} was skipped, or missing in long-term storage`);

/** What a node says of a `before` or `until` that it does not know. */
export const unknownTransaction = (signature: string): NodeAnswer =>
  errorAnswer(-32020, `Transaction ${signature} not found`);

/** What a node says that has not come to the `minContextSlot` of a call. */
export const contextNotReached = (newest: bigint): NodeAnswer =>
  failedAnswer(
    { code: -32016, message: "Minimum context slot has not been reached", data: { contextSlot: newest } },
    ledgerLabel,
  );
