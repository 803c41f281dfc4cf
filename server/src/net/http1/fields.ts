import { decimalIn, isBlank, isNamed, latin1, lineFeedIn, tokenEndIn, valueEndIn } from "./syntax.ts";

/** Fields of one head, and of one trailer section. */
export const fieldsMax = 200;

/** Where the parts of one field line stand in its bytes. */
export class FieldLine {
  name = 0;
  nameEnd = 0;
  value = 0;
  valueEnd = 0;
  /** The place after the line's end. */
  end = 0;
}

/**
 * Reads the line at `from` (RFC 9112, section 5), which has a line feed at its end. False for what is no field line: a
 * folded line begins with a space, which no name does, and a space before the colon belongs to no name either.
 */
export function readFieldLine(line: FieldLine, bytes: Uint8Array, from: number): boolean {
  const colon = tokenEndIn(bytes, from);
  if (colon === from || bytes[colon] !== 0x3a) return false;
  let value = colon + 1;
  while (isBlank(bytes[value])) value += 1;
  const lineEnd = valueEndIn(bytes, value);
  if (bytes[lineEnd] !== 0x0d || bytes[lineEnd + 1] !== 0x0a) return false;
  let valueEnd = lineEnd;
  while (valueEnd > value && isBlank(bytes[valueEnd - 1])) valueEnd -= 1;
  line.name = from;
  line.nameEnd = colon;
  line.value = value;
  line.valueEnd = valueEnd;
  line.end = lineEnd + 2;
  return true;
}

/** Whether white space behind the value is more than spaces. Readers differ on it where the value frames a body. */
function hasTabBehind(bytes: Uint8Array, { valueEnd, end }: FieldLine): boolean {
  for (let at = valueEnd; at < end - 2; at += 1) if (bytes[at] === 0x09) return true;
  return false;
}

/** Names that say where a message ends, whose it is, or what becomes of its connection. */
const framingNames: readonly string[] = [
  "content-length",
  "transfer-encoding",
  "connection",
  "proxy-connection",
  "upgrade",
  "host",
];

/** Whether a field must not stand behind a body (RFC 9110, 6.5.1): it would come too late, and some readers obey it. */
export function isFraming(bytes: Uint8Array, { name, nameEnd }: FieldLine): boolean {
  return framingNames.some((each) => each.length === nameEnd - name && isNamed(bytes, name, each));
}

/**
 * Why a head has no end: it has not come whole, a line of it does not end with CR and LF, or it is beyond its bound.
 */
export type NoHeadEnd = "more" | "line-end" | "too-large";

/** Finds where a head ends in bytes that arrive in any pieces. No byte is examined twice. */
export class HeadScanner {
  /** Where the line begins that has not ended, counted from the head's beginning. */
  #lineAt = 0;
  /** Bytes of that line that hold no line feed. */
  #scanned = 0;

  /** Whether the head has lines that were examined before. */
  get isBegun(): boolean {
    return this.#lineAt > 0;
  }

  reset(): void {
    this.#lineAt = 0;
    this.#scanned = 0;
  }

  /**
   * The place after the empty line that ends the head at `at`; `at + 2` for an empty line where a head should begin.
   * After `more` the same bytes are offered again with those that followed, at any place.
   */
  endOf(bytes: Uint8Array, at: number, bytesMax: number): number | NoHeadEnd {
    let lineAt = at + this.#lineAt;
    let from = lineAt + this.#scanned;
    for (;;) {
      const lineFeed = lineFeedIn(bytes, from);
      if (lineFeed < 0) {
        this.#lineAt = lineAt - at;
        this.#scanned = bytes.length - lineAt;
        return bytes.length - at > bytesMax ? "too-large" : "more";
      }
      // Some accept a bare line feed as a line's end; readers that differ on it see different messages in the same
      // bytes.
      if (lineFeed === lineAt || bytes[lineFeed - 1] !== 0x0d) return "line-end";
      const isEmpty = lineFeed === lineAt + 1;
      lineAt = lineFeed + 1;
      from = lineAt;
      if (lineAt - at > bytesMax) return "too-large";
      if (!isEmpty) continue;
      this.reset();
      return lineAt;
    }
  }
}

/** What is wrong with a head's fields. */
export type FieldFault = "malformed" | "too-many" | "length" | "coding" | "expectation" | "host";

const cursor = new FieldLine();

/**
 * What a head says of its body and its connection, which is the same in requests and responses (RFC 9112, section 6).
 */
export abstract class MessageHead {
  /** The last digit of HTTP/1.0 or HTTP/1.1. */
  minor: 0 | 1 = 1;
  contentLength: number | null = null;
  isChunked = false;
  /** Whether the connection is to be closed after this message or its answer. */
  isLast = false;
  /** Whether Content-Length may be repeated with an equal value, as some nodes do. */
  protected abstract get allowsEqualLengths(): boolean;

  /** Whether the head states the body's length in two ways; HTTP/1.0 knows no chunks. */
  get isContradictory(): boolean {
    return this.isChunked && (this.contentLength !== null || this.minor === 0);
  }

  /** Reads the lines from `at` to the empty line that ends at `end`. */
  protected readFields(bytes: Uint8Array, at: number, end: number): FieldFault | null {
    let fields = 0;
    for (let place = at; place < end - 2; place = cursor.end) {
      if (!readFieldLine(cursor, bytes, place)) return "malformed";
      const fault = this.takeField(bytes, cursor);
      if (fault !== null) return fault;
      fields += 1;
      if (fields > fieldsMax) return "too-many";
    }
    return null;
  }

  /** Takes from a field what it says of the body and the connection. `line` is reused for the next one. */
  protected takeField(bytes: Uint8Array, line: FieldLine): FieldFault | null {
    const { name } = line;
    switch (line.nameEnd - name) {
      case 10:
        if (isNamed(bytes, name, "connection")) this.#readConnection(latin1(bytes, line.value, line.valueEnd));
        return null;
      case 14:
        return isNamed(bytes, name, "content-length") ? this.#readLength(bytes, line) : null;
      case 17:
        return isNamed(bytes, name, "transfer-encoding") ? this.#readCoding(bytes, line) : null;
      default:
        return null;
    }
  }

  #readConnection(value: string): void {
    if (value === "keep-alive") return;
    for (const option of value.toLowerCase().split(",")) if (option.trim() === "close") this.isLast = true;
  }

  #readLength(bytes: Uint8Array, line: FieldLine): FieldFault | null {
    const length = hasTabBehind(bytes, line) ? null : decimalIn(bytes, line.value, line.valueEnd);
    if (length === null) return "length";
    if (this.contentLength !== null && (!this.allowsEqualLengths || this.contentLength !== length)) return "length";
    this.contentLength = length;
    return null;
  }

  #readCoding(bytes: Uint8Array, line: FieldLine): FieldFault | null {
    const isKnown = latin1(bytes, line.value, line.valueEnd).toLowerCase() === "chunked";
    if (this.isChunked || !isKnown || hasTabBehind(bytes, line)) return "coding";
    this.isChunked = true;
    return null;
  }
}
