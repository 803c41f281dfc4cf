import { BodyBuffer } from "../body-buffer.ts";
import { type FieldFault, type FieldLine, HeadScanner, MessageHead } from "../fields.ts";
import { BodyFraming, type ReadState } from "../framing.ts";
import { decimalIn, isNamed, latin1, valueEndIn } from "../syntax.ts";

/** For the heads of one answer, interim ones included; and again for its chunk extensions and trailers. */
const headBytesMax = 32 * 1024;
const interimMax = 8;
/** A date takes 29. */
const retryAfterBytesMax = 64;
/** As long as a URL that is called may be. */
const locationBytesMax = 2_048;

/** What the head of an answer says of its body and its connection. */
export class ResponseHead extends MessageHead {
  status = 0;
  /** Seconds for which the node says that it keeps an idle connection; null when it does not say. */
  keepAliveSeconds: number | null = null;
  contentEncoding: string | null = null;
  /** The value of Retry-After as it came; null when there is none, or one that is too long to be one. */
  retryAfter: string | null = null;
  /** The value of Location as it came, of a redirect alone; null when there is none, or one that is too long. */
  location: string | null = null;

  protected override get allowsEqualLengths(): boolean {
    return true;
  }

  clear(): void {
    this.status = 0;
    this.minor = 1;
    this.contentLength = null;
    this.isChunked = false;
    this.isLast = false;
    this.keepAliveSeconds = null;
    this.contentEncoding = null;
    this.retryAfter = null;
    this.location = null;
  }

  /** Reads the head from `at` to `end`, the empty line included; false for what is none. */
  read(bytes: Uint8Array, at: number, end: number): boolean {
    this.clear();
    const fieldsAt = this.#readStatusLine(bytes, at);
    return fieldsAt > 0 && this.readFields(bytes, fieldsAt, end) === null;
  }

  /**
   * `HTTP/1.1 200 OK` (RFC 9112, section 4); a missing reason with or without its space is taken. 0 for anything else.
   */
  #readStatusLine(bytes: Uint8Array, at: number): number {
    if (!maybeStatusLine(bytes, at, at + statusPrefix.length)) return 0;
    const minor = (bytes[at + 7] ?? 0) - 0x30;
    if ((minor !== 0 && minor !== 1) || bytes[at + 8] !== 0x20) return 0;
    const status = decimalIn(bytes, at + 9, at + 12);
    if (status === null || status < 100 || status > 599) return 0;
    const lineEnd = valueEndIn(bytes, at + 12);
    if (lineEnd > at + 12 && bytes[at + 12] !== 0x20) return 0;
    if (bytes[lineEnd] !== 0x0d || bytes[lineEnd + 1] !== 0x0a) return 0;
    this.minor = minor;
    this.status = status;
    return lineEnd + 2;
  }

  protected override takeField(bytes: Uint8Array, line: FieldLine): FieldFault | null {
    const { name, value, valueEnd } = line;
    const length = line.nameEnd - name;
    if (length === 10 && isNamed(bytes, name, "keep-alive")) this.#readKeepAlive(latin1(bytes, value, valueEnd));
    else if (length === 16 && isNamed(bytes, name, "content-encoding")) {
      return this.#readEncoding(latin1(bytes, value, valueEnd));
    } else if (length === 11 && valueEnd - value <= retryAfterBytesMax && isNamed(bytes, name, "retry-after")) {
      this.retryAfter = latin1(bytes, value, valueEnd);
    } else if (length === 8 && this.#isRedirect(valueEnd - value) && isNamed(bytes, name, "location")) {
      this.location = latin1(bytes, value, valueEnd);
    }
    return super.takeField(bytes, line);
  }

  #isRedirect(valueBytes: number): boolean {
    return this.status >= 300 && this.status < 400 && valueBytes <= locationBytesMax;
  }

  #readEncoding(value: string): FieldFault | null {
    const encoding = value.toLowerCase();
    if (this.contentEncoding !== null) return "coding";
    if (encoding !== "identity" && encoding !== "") this.contentEncoding = encoding;
    return null;
  }

  #readKeepAlive(value: string): void {
    const seconds = /(?:^|[\s,])timeout=([0-9]{1,6})/i.exec(value)?.[1];
    if (seconds !== undefined) this.keepAliveSeconds = Number(seconds);
  }
}

const statusPrefix = Uint8Array.from("HTTP/1.", (char) => char.charCodeAt(0));

/** False when what has come of the first line cannot become a status line, so that garbage is not waited for. */
function maybeStatusLine(bytes: Uint8Array, start: number, end: number): boolean {
  const until = Math.min(end - start, statusPrefix.length);
  for (let at = 0; at < until; at += 1) if (bytes[start + at] !== statusPrefix[at]) return false;
  return true;
}

/**
 * Reads one HTTP/1.1 answer to a GET or POST from bytes that arrive in any pieces (RFC 9112): strictly, so that
 * whatever leaves the length of the body in doubt is malformed, and within bounds on all parts. One reader serves all
 * answers of a connection, one after the other.
 */
export class ResponseReader {
  readonly head = new ResponseHead();
  readonly #scanner = new HeadScanner();
  readonly #framing = new BodyFraming({ linesBytesMax: headBytesMax, unstated: "until-close" });
  readonly #body = new BodyBuffer();
  #bodyBytesMax = 0;
  #isInHead = true;
  /** Bytes that were not understood yet. */
  #held: Uint8Array | null = null;
  #headBytesLeft = headBytesMax;
  #interim = 0;
  #state: ReadState = "more";
  #isStarted = false;
  #hasSurplus = false;

  /** Whether any byte has come since `begin`. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Whether the connection can carry another call: the node keeps it, and nothing came that was not asked for. */
  get isReusable(): boolean {
    return this.#state === "done" && !this.head.isLast && this.head.minor === 1 && !this.#hasSurplus;
  }

  /** Bytes of the body that have come, handed out or not. */
  get bodyBytes(): number {
    return this.#isInHead ? 0 : this.#framing.bodyBytes;
  }

  begin(bodyBytesMax: number): void {
    this.#bodyBytesMax = bodyBytesMax;
    this.#scanner.reset();
    this.head.clear();
    this.#body.begin(null);
    this.#isInHead = true;
    this.#held = null;
    this.#headBytesLeft = headBytesMax;
    this.#interim = 0;
    this.#state = "more";
    this.#isStarted = false;
    this.#hasSurplus = false;
  }

  /** Takes the bytes of one read. They are kept, not copied, when they are all of the body. */
  feed(received: Uint8Array): ReadState {
    if (this.#state !== "more") {
      this.#hasSurplus = true;
      return this.#state;
    }
    this.#isStarted = true;
    this.#state = this.#read(received);
    return this.#state;
  }

  /** The node has closed: the end of a body without a stated length, a cut answer otherwise. */
  end(): ReadState {
    if (this.#state === "more") this.#state = this.#isInHead ? "malformed" : this.#framing.end();
    this.head.isLast = true;
    return this.#state;
  }

  /** What has come of the body since it was last handed out; the whole of it for a caller who asks once, at the end. */
  body(): Uint8Array {
    return this.#body.take();
  }

  #read(received: Uint8Array): ReadState {
    const bytes = this.#held === null ? received : Buffer.concat([this.#held, received]);
    this.#held = null;
    let at = 0;
    while (this.#isInHead) {
      const end = this.#scanner.endOf(bytes, at, this.#headBytesLeft);
      if (end === "more" && maybeStatusLine(bytes, at, bytes.length)) return this.#hold(bytes, at);
      if (typeof end !== "number" || !this.head.read(bytes, at, end) || !this.#endHead()) return "malformed";
      this.#headBytesLeft -= end - at;
      at = end;
    }
    at = this.#framing.read(bytes, at, this.#body);
    const { state } = this.#framing;
    if (state === "done") this.#hasSurplus = at < bytes.length;
    return state === "more" ? this.#hold(bytes, at) : state;
  }

  /** Holds a copy, since the memory of a read may be given back with the body that came in it. */
  #hold(bytes: Uint8Array, at: number): ReadState {
    if (at < bytes.length) this.#held = new Uint8Array(bytes.subarray(at));
    return "more";
  }

  /** False for a head that cannot be followed by a body or by another head. */
  #endHead(): boolean {
    const { head } = this;
    if (head.status < 200) {
      this.#interim += 1;
      // Another protocol was not asked for.
      return head.status !== 101 && this.#interim <= interimMax;
    }
    if (head.isContradictory) return false;
    this.#isInHead = false;
    this.#body.begin(head.contentLength);
    if (head.status === 204 || head.status === 304) this.#framing.beginEmpty();
    else this.#framing.begin(head, this.#bodyBytesMax);
    if (this.#framing.isUntilClose) head.isLast = true;
    return true;
  }
}
