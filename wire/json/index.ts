/**
 * json: JSON that keeps a u64 exact. Fed the text of clients and nodes; feeds values, canonical text, and the byte
 * ranges of an envelope's members, so that an answer passes through without being parsed. Proved against JSON.parse.
 */
export { type NotificationSlice, sliceNotification } from "./notification.ts";
export { defaultMaxDepth, type EnvelopeSlice, isJson, sliceEnvelope, withoutRange } from "./scan.ts";
export { canonicalJson, type JsonValue, parseJsonExact, stringifyJsonExact } from "./values.ts";
