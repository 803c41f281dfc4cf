/**
 * json: JSON that keeps a u64 exact. Fed the text of clients and nodes; feeds values, canonical text, and the byte ranges of
 * an envelope's members, so that an answer passes through without being parsed. Proved against JSON.parse.
 */
export { type EnvelopeSlice, sliceEnvelope } from "./envelope.ts";
export { parseJsonExact } from "./parse.ts";
export { defaultMaxDepth, isJson } from "./scan.ts";
export { canonicalJson, type JsonValue, stringifyJsonExact } from "./stringify.ts";
