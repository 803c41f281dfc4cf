import { areValueBytes, decimalIn, isBlank, isNamed, tokenBytes } from "../../http/index.ts";

/** A head that is none, or that leaves in doubt where its request ends; the connection goes with it. */
export interface HeadFault {
  readonly status: 400 | 417 | 431 | 501 | 505;
  readonly message: string;
}

/** A head with its line ends; what is larger is refused. */
export const headBytesMax = 16 * 1024;
const fieldsMax = 200;

const malformed = (message: string): HeadFault => ({ status: 400, message });
const badTarget = malformed("The request target is not a path or an http URL");
const badField = malformed("A header line is malformed");
const badLength = malformed("Content-Length is not one plain number");
const twoLengths = malformed("Content-Length and Transfer-Encoding contradict each other");
const unknownCoding: HeadFault = { status: 501, message: "No transfer coding but chunked is understood" };
export const headTooLarge: HeadFault = { status: 431, message: "The request's header fields are too large" };

/** One request's head: its line, what it says of the body and the connection, and its fields, cut out when asked for. */
export class RequestHead {
  readonly method: string;
  /** Path and query as they were sent, one character a byte; of an absolute target what follows its authority. */
  readonly target: string;
  /** The last digit of HTTP/1.0 or HTTP/1.1. */
  readonly minor: 0 | 1;
  contentLength: number | null = null;
  isChunked = false;
  /** Whether the client wants the connection closed after the answer. */
  isLast: boolean;
  /** Whether the client waits to be told before it sends the body. */
  expectsContinue = false;
  readonly #text: string;
  /** Of each field where in the text its name and its value begin and end. */
  readonly #spans: readonly number[];
  readonly #found = new Map<string, string | null>();

  constructor(
    line: { readonly method: string; readonly target: string; readonly minor: 0 | 1 },
    text: string,
    spans: readonly number[],
  ) {
    this.method = line.method;
    this.target = line.target;
    this.minor = line.minor;
    this.isLast = line.minor === 0;
    this.#text = text;
    this.#spans = spans;
  }

  /** The value of a field, one character a byte; several of one name are joined as a list. `name` is in lower case. */
  get(name: string): string | null {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    let value: string | null = null;
    const spans = this.#spans;
    for (let at = 0; at < spans.length; at += 4) {
      const start = spans[at] ?? 0;
      const end = spans[at + 1] ?? 0;
      if (end - start !== name.length || this.#text.slice(start, end).toLowerCase() !== name) continue;
      const one = this.#text.slice(spans[at + 2], spans[at + 3]);
      value = value === null ? one : `${value}${name === "cookie" ? "; " : ", "}${one}`;
    }
    this.#found.set(name, value);
    return value;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  /** The head as it was sent. */
  bytes(): Buffer {
    return Buffer.from(this.#text, "latin1");
  }

  /** Names as they were sent, with their values. */
  *fields(): Generator<readonly [name: string, value: string]> {
    const spans = this.#spans;
    for (let at = 0; at < spans.length; at += 4) {
      yield [this.#text.slice(spans[at], spans[at + 1]), this.#text.slice(spans[at + 2], spans[at + 3])];
    }
  }
}

/**
 * Reads the head that stands at `start` and ends before `end`, the empty line included. Strict (RFC 9112): whatever two
 * readers might understand differently is a fault.
 */
export function readRequestHead(bytes: Uint8Array, start: number, end: number): RequestHead | HeadFault {
  const text = latin1(bytes, start, end);
  const lineEnd = text.indexOf("\r\n");
  const line = requestLine(bytes, text, start, lineEnd);
  if ("status" in line) return line;
  const spans: number[] = [];
  const head = new RequestHead(line, text, spans);
  for (let at = lineEnd + 2; at < text.length - 2; ) {
    const next = text.indexOf("\r\n", at);
    const fault = readField(head, bytes, { start, at, next }, spans);
    if (fault !== null) return fault;
    if (spans.length > fieldsMax * 4) return headTooLarge;
    at = next + 2;
  }
  if (head.isChunked && (head.contentLength !== null || head.minor === 0)) return twoLengths;
  return head;
}

function requestLine(
  bytes: Uint8Array,
  text: string,
  start: number,
  lineEnd: number,
): { readonly method: string; readonly target: string; readonly minor: 0 | 1 } | HeadFault {
  let methodEnd = 0;
  while (tokenBytes[bytes[start + methodEnd] ?? 0] === 1) methodEnd += 1;
  const targetEnd = lineEnd - 9;
  if (methodEnd === 0 || text.charCodeAt(methodEnd) !== 0x20) return malformed("The request line is malformed");
  const version = text.slice(targetEnd, lineEnd);
  if (version !== " HTTP/1.1" && version !== " HTTP/1.0") {
    return /^ HTTP\/[0-9]\.[0-9]$/.test(version)
      ? { status: 505, message: "Only HTTP/1.1 and HTTP/1.0 are understood" }
      : malformed("The request line is malformed");
  }
  for (let at = methodEnd + 1; at < targetEnd; at += 1) {
    const byte = bytes[start + at] ?? 0;
    // A fragment is no part of a target; the upper half is, for clients that send names as they are.
    if (byte <= 0x20 || byte === 0x7f || byte === 0x23) return badTarget;
  }
  const target = originForm(text.slice(methodEnd + 1, targetEnd));
  if (target === null) return badTarget;
  return { method: text.slice(0, methodEnd), target, minor: version.endsWith("1") ? 1 : 0 };
}

/** The path and the query of a target, whose authority means nothing here; null for one that has neither. */
function originForm(target: string): string | null {
  if (target.startsWith("/")) return target;
  const authority = /^https?:\/\/[^/?]+/i.exec(target)?.[0];
  if (authority === undefined) return null;
  const rest = target.slice(authority.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

interface Line {
  /** Where the head begins in its bytes, and where the line begins and ends in the head. */
  readonly start: number;
  readonly at: number;
  readonly next: number;
}

function readField(head: RequestHead, bytes: Uint8Array, line: Line, spans: number[]): HeadFault | null {
  const { start } = line;
  const from = start + line.at;
  const end = start + line.next;
  let colon = from;
  while (colon < end && tokenBytes[bytes[colon] ?? 0] === 1) colon += 1;
  // A folded line begins with a space, which no name does; a space before the colon is none of a name either.
  if (colon === from || colon === end || bytes[colon] !== 0x3a) return badField;
  let valueFrom = colon + 1;
  let valueTo = end;
  while (valueFrom < valueTo && isBlank(bytes[valueFrom])) valueFrom += 1;
  while (valueTo > valueFrom && isBlank(bytes[valueTo - 1])) valueTo -= 1;
  if (!areValueBytes(bytes, valueFrom, valueTo)) return badField;
  spans.push(line.at, colon - start, valueFrom - start, valueTo - start);
  switch (colon - from) {
    case 6:
      return isNamed(bytes, from, "expect") ? readExpect(head, latin1(bytes, valueFrom, valueTo)) : null;
    case 10:
      if (isNamed(bytes, from, "connection")) readConnection(head, latin1(bytes, valueFrom, valueTo));
      return null;
    case 14:
      return isNamed(bytes, from, "content-length") ? readLength(head, bytes, valueFrom, valueTo) : null;
    case 17:
      return isNamed(bytes, from, "transfer-encoding") ? readCoding(head, latin1(bytes, valueFrom, valueTo)) : null;
    default:
      return null;
  }
}

function readExpect(head: RequestHead, value: string): HeadFault | null {
  if (value.toLowerCase() !== "100-continue") return { status: 417, message: "Only 100-continue can be expected" };
  head.expectsContinue = head.minor === 1;
  return null;
}

function readConnection(head: RequestHead, value: string): void {
  if (value === "keep-alive") return;
  for (const option of value.toLowerCase().split(",")) if (option.trim() === "close") head.isLast = true;
}

function readLength(head: RequestHead, bytes: Uint8Array, from: number, to: number): HeadFault | null {
  const length = decimalIn(bytes, from, to);
  // Also when both say the same: there is no honest sender of two.
  if (length === null || head.contentLength !== null) return badLength;
  head.contentLength = length;
  return null;
}

function readCoding(head: RequestHead, value: string): HeadFault | null {
  if (head.isChunked || value.toLowerCase() !== "chunked") return unknownCoding;
  head.isChunked = true;
  return null;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString("latin1", from, to);
}
