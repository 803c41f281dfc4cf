import { decimalIn, isBlank, isNamed, tokenBytes, valueEndIn } from "../syntax.ts";

/** A head that is none, or that leaves in doubt where its request ends; the connection goes with it. */
export interface HeadFault {
  readonly status: 400 | 417 | 431 | 501 | 505;
  readonly message: string;
}

/** A head with its line ends; what is larger is refused. */
export const headBytesMax = 16 * 1024;
const fieldsMax = 200;

const malformed = (message: string): HeadFault => ({ status: 400, message });
const badLine = malformed("The request line is malformed");
const badTarget = malformed("The request target is not a path or an http URL");
const badField = malformed("A header line is malformed");
const badLength = malformed("Content-Length is not one plain number");
const twoLengths = malformed("Content-Length and Transfer-Encoding contradict each other");
const otherVersion: HeadFault = { status: 505, message: "Only HTTP/1.1 and HTTP/1.0 are understood" };
const unknownCoding: HeadFault = { status: 501, message: "No transfer coding but chunked is understood" };
export const headTooLarge: HeadFault = { status: 431, message: "The request's header fields are too large" };

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly start: number;
  /** Where the fields begin. */
  readonly end: number;
}

/** One request's head: its line, what it says of the body and the connection, and its fields, read when asked for. */
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
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  /** Of each field where its name and its value begin and end. */
  readonly #spans: readonly number[];
  readonly #found = new Map<string, string | null>();

  constructor(line: RequestLine, bytes: Uint8Array, end: number, spans: readonly number[]) {
    this.method = line.method;
    this.target = line.target;
    this.minor = line.minor;
    this.isLast = line.minor === 0;
    this.#bytes = bytes;
    this.#start = line.start;
    this.#end = end;
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
      if ((spans[at + 1] ?? 0) - start !== name.length || !isNamed(this.#bytes, start, name)) continue;
      // A string of its own: a slice would keep the whole head in memory for as long as somebody remembers a key.
      const one = latin1(this.#bytes, spans[at + 2] ?? 0, spans[at + 3] ?? 0);
      value = value === null ? one : `${value}${name === "cookie" ? "; " : ", "}${one}`;
    }
    this.#found.set(name, value);
    return value;
  }

  /** The head as it was sent. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** Names as they were sent, with their values. */
  *fields(): Generator<readonly [name: string, value: string]> {
    const spans = this.#spans;
    for (let at = 0; at < spans.length; at += 4) {
      const [start = 0, end = 0, from = 0, to = 0] = spans.slice(at, at + 4);
      yield [latin1(this.#bytes, start, end), latin1(this.#bytes, from, to)];
    }
  }
}

/**
 * Reads the head that stands at `start` and ends before `end`, the empty line included; every line feed before that has a
 * carriage return before it. Strict (RFC 9112): whatever two readers might understand differently is a fault.
 */
export function readRequestHead(bytes: Uint8Array, start: number, end: number): RequestHead | HeadFault {
  const line = requestLine(bytes, start, end);
  if ("status" in line) return line;
  const spans: number[] = [];
  const head = new RequestHead(line, bytes, end, spans);
  for (let at = line.end; at < end - 2; ) {
    const next = readField(head, bytes, at, spans);
    if (typeof next !== "number") return next;
    if (spans.length > fieldsMax * 4) return headTooLarge;
    at = next;
  }
  if (head.isChunked && (head.contentLength !== null || head.minor === 0)) return twoLengths;
  return head;
}

function requestLine(bytes: Uint8Array, start: number, end: number): RequestLine | HeadFault {
  let methodEnd = start;
  while (tokenBytes[bytes[methodEnd] ?? 0] === 1) methodEnd += 1;
  if (methodEnd === start || bytes[methodEnd] !== 0x20) return badLine;
  let targetEnd = methodEnd + 1;
  // A fragment is no part of a target; the upper half is, for clients that send names as they are.
  for (let byte = bytes[targetEnd] ?? 0; byte > 0x20 && byte !== 0x7f && byte !== 0x23; byte = bytes[targetEnd] ?? 0) {
    targetEnd += 1;
  }
  const versionEnd = targetEnd + 9;
  const version = latin1(bytes, targetEnd, Math.min(versionEnd + 2, end));
  if (version !== " HTTP/1.1\r\n" && version !== " HTTP/1.0\r\n") {
    if (/^ HTTP\/[0-9]\.[0-9]\r\n$/.test(version)) return otherVersion;
    return version.startsWith(" ") || version.startsWith("\r") ? badLine : badTarget;
  }
  const target = originForm(latin1(bytes, methodEnd + 1, targetEnd));
  if (target === null) return badTarget;
  const minor = version.endsWith("1\r\n") ? 1 : 0;
  return { method: latin1(bytes, start, methodEnd), target, minor, start, end: versionEnd + 2 };
}

/** The path and the query of a target, whose authority means nothing here; null for one that has neither. */
function originForm(target: string): string | null {
  if (target.startsWith("/")) return target;
  const authority = /^https?:\/\/[^/?]+/i.exec(target)?.[0];
  if (authority === undefined) return null;
  const rest = target.slice(authority.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Reads the line at `from` into the head; the place after it, or what is wrong with it. */
function readField(head: RequestHead, bytes: Uint8Array, from: number, spans: number[]): number | HeadFault {
  let colon = from;
  while (tokenBytes[bytes[colon] ?? 0] === 1) colon += 1;
  // A folded line begins with a space, which no name does; a space before the colon is none of a name either.
  if (colon === from || bytes[colon] !== 0x3a) return badField;
  let start = colon + 1;
  while (isBlank(bytes[start])) start += 1;
  const lineEnd = valueEndIn(bytes, start);
  if (bytes[lineEnd] !== 0x0d || bytes[lineEnd + 1] !== 0x0a) return badField;
  let end = lineEnd;
  while (end > start && isBlank(bytes[end - 1])) end -= 1;
  spans.push(from, colon, start, end);
  return framingFault(head, bytes, from, colon, start, end) ?? lineEnd + 2;
}

/** Takes from a field what it says of the body and the connection. */
function framingFault(
  head: RequestHead,
  bytes: Uint8Array,
  name: number,
  nameEnd: number,
  value: number,
  valueEnd: number,
): HeadFault | null {
  switch (nameEnd - name) {
    case 6:
      return isNamed(bytes, name, "expect") ? readExpect(head, latin1(bytes, value, valueEnd)) : null;
    case 10:
      if (isNamed(bytes, name, "connection")) readConnection(head, latin1(bytes, value, valueEnd));
      return null;
    case 14:
      return isNamed(bytes, name, "content-length") ? readLength(head, bytes, value, valueEnd) : null;
    case 17:
      return isNamed(bytes, name, "transfer-encoding") ? readCoding(head, latin1(bytes, value, valueEnd)) : null;
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
