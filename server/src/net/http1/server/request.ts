import { isHost } from "../../../http/index.ts";
import { BodyBuffer } from "../body-buffer.ts";
import { type FieldFault, type FieldLine, MessageHead } from "../fields.ts";
import type { BodyParts } from "../framing.ts";
import { isNamed, latin1, tokenEndIn } from "../syntax.ts";

/** What is no head, or leaves in doubt where its request ends; the connection is closed with the answer. */
export interface HeadFault {
  readonly status: 400 | 408 | 417 | 431 | 501 | 503 | 505;
  readonly message: string;
}

/** A head with its line ends; what is larger is refused. */
export const headBytesMax = 16 * 1024;

const malformed = (message: string): HeadFault => ({ status: 400, message });
const badLine = malformed("The request line is malformed");
const badTarget = malformed("The request target is not a path or an http URL");
const twoLengths = malformed("Content-Length and Transfer-Encoding contradict each other");
const notOneHost = malformed("The request must carry exactly one Host header, with a host and an optional port");
const otherVersion: HeadFault = { status: 505, message: "Only HTTP/1.1 and HTTP/1.0 are understood" };
export const badLineEnd = malformed("A line does not end with CR and LF");
export const headTooLarge: HeadFault = { status: 431, message: "The request's header fields are too large" };
const fieldFaults: Readonly<Record<FieldFault, HeadFault>> = {
  malformed: malformed("A header line is malformed"),
  "too-many": headTooLarge,
  length: malformed("Content-Length is not one plain number"),
  coding: { status: 501, message: "No transfer coding but chunked is understood" },
  expectation: { status: 417, message: "Only 100-continue can be expected" },
  host: notOneHost,
};

/** One request's head: its line, what it says of the body and the connection, and its fields, read when asked for. */
export class RequestHead extends MessageHead {
  method = "";
  /**
   * Path and query as they were sent, one character a byte; of an absolute target what follows its authority; `*` where
   * OPTIONS is about the server as a whole.
   */
  target = "";
  /** The authority of an absolute target, else the Host field; null for HTTP/1.0 without either. May be empty. */
  host: string | null = null;
  /** Whether the client waits for 100 Continue before it sends the body. */
  expectsContinue = false;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  /** Of each field where its name and its value begin and end. */
  readonly #spans: number[] = [];
  readonly #found = new Map<string, string | null>();
  #authority: string | null = null;

  /** The head in `bytes` from `start` to `end`, the empty line included; `read` reads it. */
  constructor(bytes: Uint8Array, start: number, end: number) {
    super();
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** An equal second length is refused too: no honest client sends two. */
  protected override get allowsEqualLengths(): boolean {
    return false;
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

  /** Reads the line and the fields; null when they are in order. */
  read(): HeadFault | null {
    const fieldsAt = this.#readLine();
    if (typeof fieldsAt !== "number") return fieldsAt;
    const fault = this.readFields(this.#bytes, fieldsAt, this.#end);
    if (fault !== null) return fieldFaults[fault];
    if (this.isContradictory) return twoLengths;
    if (this.host === null && this.minor === 1) return notOneHost;
    // An absolute target stands over the field (RFC 9112, 3.2.2).
    if (this.#authority !== null) this.host = this.#authority;
    return null;
  }

  /** The place after the request line, or what is wrong with it. */
  #readLine(): number | HeadFault {
    const bytes = this.#bytes;
    const methodEnd = tokenEndIn(bytes, this.#start);
    if (methodEnd === this.#start || bytes[methodEnd] !== 0x20) return badLine;
    const targetEnd = targetEndIn(bytes, methodEnd + 1);
    const lineEnd = targetEnd + 11;
    const version = latin1(bytes, targetEnd, Math.min(lineEnd, this.#end));
    if (version !== " HTTP/1.1\r\n" && version !== " HTTP/1.0\r\n") {
      if (/^ HTTP\/[0-9]\.[0-9]\r\n$/.test(version)) return otherVersion;
      return version.startsWith(" ") || version.startsWith("\r") ? badLine : badTarget;
    }
    this.method = latin1(bytes, this.#start, methodEnd);
    if (!this.#takeTarget(latin1(bytes, methodEnd + 1, targetEnd))) return badTarget;
    this.minor = version.endsWith("1\r\n") ? 1 : 0;
    this.isLast = this.minor === 0;
    return lineEnd;
  }

  /** Takes the path and the query of a target, and its authority where it has one; false for one without a path. */
  #takeTarget(target: string): boolean {
    this.target = target;
    // It asks for a tunnel, of which there is none, and readers differ on whether it has a body.
    if (this.method === "CONNECT") return false;
    if (target.startsWith("/") || (target === "*" && this.method === "OPTIONS")) return true;
    const authority = /^https?:\/\/([^/?]+)/i.exec(target);
    if (authority?.[1] === undefined || !isHost(authority[1])) return false;
    this.#authority = authority[1];
    const rest = target.slice(authority[0].length);
    this.target = rest.startsWith("/") ? rest : `/${rest}`;
    return true;
  }

  protected override takeField(bytes: Uint8Array, line: FieldLine): FieldFault | null {
    this.#spans.push(line.name, line.nameEnd, line.value, line.valueEnd);
    const length = line.nameEnd - line.name;
    if (length === 4 && isNamed(bytes, line.name, "host")) return this.#takeHost(bytes, line);
    if (length !== 6) return super.takeField(bytes, line);
    if (!isNamed(bytes, line.name, "expect")) return null;
    if (latin1(bytes, line.value, line.valueEnd).toLowerCase() !== "100-continue") return "expectation";
    this.expectsContinue = this.minor === 1;
    return null;
  }

  #takeHost(bytes: Uint8Array, line: FieldLine): FieldFault | null {
    if (this.host !== null) return "host";
    this.host = latin1(bytes, line.value, line.valueEnd);
    return isHost(this.host) ? null : "host";
  }
}

/**
 * Reads the head that stands at `start` and ends before `end`, the empty line included; every line feed before that has
 * a carriage return before it. Strict (RFC 9112): a head that two readers might understand differently is refused.
 */
export function readRequestHead(bytes: Uint8Array, start: number, end: number): RequestHead | HeadFault {
  const head = new RequestHead(bytes, start, end);
  return head.read() ?? head;
}

/**
 * The first byte of no target: a fragment is no part of one; the upper half is, for clients that send names as they
 * are.
 */
function targetEndIn(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at] ?? 0; byte > 0x20 && byte !== 0x7f && byte !== 0x23; byte = bytes[at] ?? 0) at += 1;
  return at;
}

/** What came of a body that had to be waited for: its bytes, or why there are none. */
export type BodyOutcome = Uint8Array | "too-large" | "broken";

/** Takes a body's bytes as they come. */
export interface BodySink extends BodyParts {
  end(): void;
  /** The rest is not coming: malformed, or the client has gone. */
  fail(): void;
}

/** A request's body as its connection hands it out; read once. */
export interface ReadableBody {
  /** The body when all of it is here already, else null. It is the connection's memory, and gone after this turn. */
  takeBody(): Uint8Array | null;
  /** Waits for the body and calls back once; never for a client that goes away. Holds `bytesMax` bytes at most. */
  gatherBody(bytesMax: number, done: (body: BodyOutcome) => void): void;
}

/** What a request asks of the connection that it came on. */
export interface RequestSource {
  readonly remoteAddress: string;
  takeBody(request: HttpRequest): Uint8Array | null;
  readBody(request: HttpRequest, sink: BodySink): void;
  /** Stops the client's sending until `resumeBody`. */
  pauseBody(request: HttpRequest): void;
  resumeBody(request: HttpRequest): void;
}

/** One request of a connection: its head, and its body for who asks. */
export class HttpRequest implements ReadableBody {
  readonly headers: RequestHead;
  readonly #source: RequestSource;
  /** Run when the client goes away before it was answered. */
  onGone: (() => void) | null = null;

  constructor(head: RequestHead, source: RequestSource) {
    this.headers = head;
    this.#source = source;
  }

  get method(): string {
    return this.headers.method;
  }

  get target(): string {
    return this.headers.target;
  }

  get socketAddress(): string {
    return this.#source.remoteAddress;
  }

  takeBody(): Uint8Array | null {
    return this.#source.takeBody(this);
  }

  gatherBody(bytesMax: number, done: (body: BodyOutcome) => void): void {
    const { contentLength } = this.headers;
    if (contentLength !== null && contentLength > bytesMax) done("too-large");
    else this.#source.readBody(this, new GatheringSink({ bytesMax, expected: contentLength }, done));
  }

  streamBody(sink: BodySink): void {
    this.#source.readBody(this, sink);
  }

  pauseBody(): void {
    this.#source.pauseBody(this);
  }

  resumeBody(): void {
    this.#source.resumeBody(this);
  }
}

const growthBytes = 4 * 1024;

/** Puts a body together, up to a bound. */
class GatheringSink implements BodySink {
  readonly #bytesMax: number;
  readonly #done: (body: BodyOutcome) => void;
  readonly #body = new BodyBuffer({ growthBytes });
  #isOver = false;

  /** `expected` is the length that was stated, if one was. */
  constructor(
    options: { readonly bytesMax: number; readonly expected: number | null },
    done: (body: BodyOutcome) => void,
  ) {
    this.#bytesMax = options.bytesMax;
    this.#body.begin(options.expected);
    this.#done = done;
  }

  part(bytes: Uint8Array, from: number, to: number): void {
    if (this.#isOver) return;
    if (this.#body.length + to - from > this.#bytesMax) this.#conclude("too-large");
    else this.#body.addCopy(bytes.subarray(from, to));
  }

  end(): void {
    if (!this.#isOver) this.#conclude(this.#body.take());
  }

  fail(): void {
    this.#conclude("broken");
  }

  #conclude(body: BodyOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body.begin(null);
    this.#done(body);
  }
}

/** Discards what is left of a body, up to a bound. */
export class DiscardingSink implements BodySink {
  readonly #exceeded: () => void;
  #left: number;

  constructor(bytesMax: number, exceeded: () => void) {
    this.#left = bytesMax;
    this.#exceeded = exceeded;
  }

  part(_bytes: Uint8Array, from: number, to: number): void {
    this.#left -= to - from;
    if (this.#left < 0) this.#exceeded();
  }

  end(): void {}

  fail(): void {}
}
