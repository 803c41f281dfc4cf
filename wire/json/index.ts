/**
 * json: JSON that keeps a u64 exact. Fed the text of clients and nodes; feeds values, canonical text, and the byte ranges of
 * an envelope's members, so that an answer passes through without being parsed. Proved against JSON.parse.
 */
export { canonicalJson } from "./canonical.ts";
export { type EnvelopeFault, type EnvelopeSlice, sliceEnvelope } from "./envelope.ts";
export { type ParsedJson, parseJsonExact } from "./parse.ts";
export { defaultMaxDepth } from "./scan.ts";
export {
  isJson,
  type JsonMember,
  type ObjectSlice,
  sliceObject,
} from "./slice.ts";
export { type JsonValue, stringifyJsonExact } from "./stringify.ts";
