import { isAscii, isUtf8 } from "node:buffer";
import { skipSpace, skipString, skipValue } from "../lib/index.ts";

/**
 * A node's answer, kept so that only the id has to be put between its two halves. Text when every byte is ASCII (a
 * string of one byte a character is passed on as it is), bytes otherwise.
 */
export interface NodeAnswer {
  /** The configured label of the node that answered. */
  readonly label: string;
  readonly body:
    | { readonly kind: "text"; readonly head: string; readonly tail: string }
    | { readonly kind: "bytes"; readonly head: Uint8Array; readonly tail: Uint8Array };
  readonly sizeBytes: number;
  /** The JSON-RPC error code, or null for a result. */
  readonly errorCode: number | null;
  readonly isNull: boolean;
  /** result.context.slot where the node states it at the beginning of its result. */
  readonly contextSlot: bigint | null;
}

interface Spans {
  readonly idStart: number;
  readonly idEnd: number;
  readonly isError: boolean;
  readonly valueStart: number;
}

const agaveHead = '{"jsonrpc":"2.0","result":';

/**
 * Finds the id in a node's answer to our call `id` and cuts there. Null for what is no JSON-RPC answer to that call: not
 * UTF-8, not an object, an id that is not ours (a null id is taken with an error only), both or neither of result and
 * error. Members may come in any order with any white space; nothing outside the id is touched.
 */
export function readAnswer(bytes: Uint8Array, id: string, label: string): NodeAnswer | null {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return null;
  // One character a byte, whatever the bytes: structure is ASCII in JSON, so positions are those of the bytes.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const spans = findAgaveForm(text, id) ?? findSpans(text, id);
  if (spans === null) return null;
  return {
    label,
    body: ascii
      ? { kind: "text", head: text.slice(0, spans.idStart), tail: text.slice(spans.idEnd) }
      : { kind: "bytes", head: bytes.subarray(0, spans.idStart), tail: bytes.subarray(spans.idEnd) },
    sizeBytes: bytes.byteLength,
    errorCode: spans.isError ? errorCodeAt(text, spans.valueStart) : null,
    isNull: !spans.isError && text.startsWith("null", spans.valueStart),
    contextSlot: spans.isError ? null : contextSlotAt(text, spans.valueStart),
  };
}

/**
 * The form that Agave writes: result first, id last. The end of well-formed text fixes what `,"id":N}` is: the last brace
 * closes the outermost object and the quotes are not escaped, so the member is the outermost id, and the result need not
 * be walked (10 MB of accounts take 15 ms to walk in this language).
 */
function findAgaveForm(text: string, id: string): Spans | null {
  if (!text.startsWith(agaveHead)) return null;
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  const idStart = end - 1 - id.length;
  if (!text.startsWith(`,"id":${id}}`, idStart - 6)) return null;
  return { idStart, idEnd: idStart + id.length, isError: false, valueStart: agaveHead.length };
}

function findSpans(text: string, id: string): Spans | null {
  let at = skipSpace(text, 0);
  if (text[at] !== "{") return null;
  let idStart = -1;
  let idEnd = -1;
  let resultStart = -1;
  let errorStart = -1;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const nameEnd = skipString(text, at);
    if (nameEnd < 0) return null;
    const name = text.slice(at + 1, nameEnd - 1);
    at = skipSpace(text, nameEnd);
    if (text[at] !== ":") return null;
    const valueStart = skipSpace(text, at + 1);
    const valueEnd = skipValue(text, valueStart);
    if (valueEnd < 0) return null;
    if (name === "id") {
      if (idStart >= 0) return null;
      idStart = valueStart;
      idEnd = valueEnd;
    } else if (name === "result") resultStart = valueStart;
    else if (name === "error" && !text.startsWith("null", valueStart)) errorStart = valueStart;
    at = skipSpace(text, valueEnd);
    if (text[at] === "}") break;
    if (text[at] !== ",") return null;
    at = skipSpace(text, at + 1);
  }
  if (text[at] !== "}" || skipSpace(text, at + 1) !== text.length) return null;
  const isError = errorStart >= 0;
  if (idStart < 0 || isError === resultStart >= 0) return null;
  const found = text.slice(idStart, idEnd);
  if (found !== id && !(isError && found === "null")) return null;
  return { idStart, idEnd, isError, valueStart: isError ? errorStart : resultStart };
}

function errorCodeAt(text: string, at: number): number {
  const error: unknown = parsed(text.slice(at, skipValue(text, at)));
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
  return typeof code === "number" ? code : 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const contextSlotPattern = /^\{"context":\{(?:"apiVersion":"[^"\\]*",)?"slot":([0-9]{1,20})[,}]/;

function contextSlotAt(text: string, at: number): bigint | null {
  if (!text.startsWith('{"context":', at)) return null;
  const slot = contextSlotPattern.exec(text.slice(at, at + 160))?.[1];
  return slot === undefined ? null : BigInt(slot);
}
