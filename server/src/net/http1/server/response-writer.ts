import type { ErrorCode } from "@sluice/contract/errors";
import type { ByteSource } from "@sluice/lib";
import { type ProblemOptions, problemOf } from "../../../http/index.ts";
import type { RequestHead } from "./request.ts";

/** Text, which goes out as UTF-8, or bytes, which go out as they are. */
export type AnswerBody = string | Uint8Array<ArrayBuffer>;

/** How a body that was sent while it came has ended: whole, cut by its source, or left by its client. */
export interface StreamEnding {
  readonly how: "whole" | "cut" | "left";
  /** Handed to the socket. */
  readonly bytes: number;
  /** What the source failed with when it was cut, else null. */
  readonly error: unknown;
}

/** A body that is still coming. */
export interface StreamedBody {
  readonly source: ByteSource;
  /** Whether it has no end of its own, and goes on as long as its client listens. */
  readonly isEndless?: boolean;
  /** Called once. */
  readonly ended: (ending: StreamEnding) => void;
}

/** An answer before it is framed: without Date, Connection and what states the body's length. */
export interface HttpAnswer {
  readonly status: number;
  /** Header lines in ASCII, each with its end. */
  readonly fields: string;
  readonly body: AnswerBody | StreamedBody;
  /**
   * What a text takes as UTF-8, where that is known: to count it costs 0.2 µs, since it has to be put together first.
   */
  readonly bodyBytes?: number | undefined;
  /** The length that the answer to a HEAD states, where the body is not here: that of what a GET is answered. */
  readonly headBytes?: number;
}

export const isStreamed = (body: HttpAnswer["body"]): body is StreamedBody =>
  typeof body === "object" && "source" in body;

export const isEndless = ({ body }: HttpAnswer): boolean => isStreamed(body) && body.isEndless === true;

/** The client of an answer has gone: what is still coming of the answer is not read. */
export function dropAnswer(answer: HttpAnswer): void {
  if (!isStreamed(answer.body)) return;
  answer.body.source.cancel();
  answer.body.ended({ how: "left", bytes: 0, error: null });
}

/** Header lines of a record; a value never reaches into the next line. */
export function fieldLines(record: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in record) lines += `${name}: ${(record[name] ?? "").replace(/[^\t\x20-\x7e]/g, " ")}\r\n`;
  return lines;
}

/** A problem document (RFC 9457) as an answer. */
export function problemAnswer(code: ErrorCode, options: ProblemOptions): HttpAnswer {
  const { status, headers, body } = problemOf(code, options);
  return { status, fields: fieldLines(headers), body };
}

/** A client's socket. */
export interface ClientSocket {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Bytes that it took; -1 when it is closed. */
  write(data: string | Uint8Array): number;
  pause(): void;
  resume(): void;
  /** Says that nothing more is sent, and goes on receiving. */
  shutdown(): void;
  /** Closes when what was sent has gone out. */
  end(): void;
  /** Closes at once. */
  terminate(): void;
}

export interface ResponseFraming {
  /** `Date: …` with its end. */
  readonly date: string;
  readonly isLast: boolean;
  /** What is answered; null for what was no request. HTTP/1.0 knows no chunks, and HEAD is answered by a head alone. */
  readonly request: Pick<RequestHead, "method" | "minor"> | null;
}

/** Bytes up to here are copied behind what stands before them, so that both go out in one write. */
const joinedBytesMax = 32 * 1024;
const lineEnd = Buffer.from("\r\n");

const nothing = new Uint8Array(0);

const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  207: "Multi-Status",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  426: "Upgrade Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
};

const statusLine = (status: number): string => `HTTP/1.1 ${status} ${reasons[status] ?? ""}\r\n`;
const okLine = statusLine(200);

/** True for answers that never have a body, whose heads state no length either. */
const isBodiless = (status: number): boolean => status === 204 || status === 304 || status < 200;

/**
 * Writes answers to one socket, one after the other, and holds what it does not take at once: of an answer that is
 * whole its rest, of a streamed one a piece of its source.
 */
export class ResponseWriter {
  readonly #socket: ClientSocket;
  #unsent: Uint8Array | null = null;
  /** Settled with whether that has gone out. */
  #sending: PromiseWithResolvers<boolean> | null = null;
  #isClosed = false;
  /** Where the body under way comes from. */
  #source: ByteSource | null = null;

  constructor(socket: ClientSocket) {
    this.#socket = socket;
  }

  /** Whether something waits for the client to read. */
  get isBlocked(): boolean {
    return this.#unsent !== null;
  }

  /** True when the whole answer has been handed to the socket; else a promise of whether it was. */
  send(answer: HttpAnswer, framing: ResponseFraming): true | Promise<boolean> {
    const { status, fields, body } = answer;
    const line = status === 200 ? okLine : statusLine(status);
    const start = line + fields + framing.date + (framing.isLast ? "Connection: close\r\n" : "");
    const isHead = framing.request?.method === "HEAD";
    if (isStreamed(body)) return this.#sendStreamed(start, body, { isHead, isChunked: framing.request?.minor !== 0 });
    if (isBodiless(status)) return this.write(`${start}\r\n`);
    if (typeof body !== "string") return this.#sendBytes(start, body, isHead);
    const written = answer.bodyBytes ?? Buffer.byteLength(body);
    const bytes = isHead ? (answer.headBytes ?? written) : written;
    const head = `${start}Content-Length: ${bytes}\r\n\r\n`;
    return isHead ? this.write(head) : this.write(head + body, head.length + bytes);
  }

  #sendBytes(start: string, body: Uint8Array, isHead: boolean): true | Promise<boolean> {
    const head = `${start}Content-Length: ${body.length}\r\n\r\n`;
    if (isHead) return this.write(head);
    if (body.length <= joinedBytesMax) return this.write(Buffer.concat([Buffer.from(head), body]));
    const begun = this.write(head);
    return begun === true ? this.write(body) : begun.then((isSent) => isSent && this.write(body));
  }

  async #sendStreamed(
    start: string,
    { source, ended }: StreamedBody,
    framing: { readonly isHead: boolean; readonly isChunked: boolean },
  ): Promise<boolean> {
    const { isChunked } = framing;
    let bytes = 0;
    this.#source = source;
    try {
      const isBegun = await this.write(`${start}${isChunked ? "Transfer-Encoding: chunked\r\n" : ""}\r\n`);
      if (framing.isHead || !isBegun) {
        source.cancel();
        ended({ how: isBegun ? "whole" : "left", bytes, error: null });
        return isBegun;
      }
      for (let piece = await source.next(); piece !== null; piece = await source.next()) {
        bytes += piece.length;
        if (piece.length === 0 || (await this.#sendPiece(piece, isChunked))) continue;
        source.cancel();
        ended({ how: "left", bytes, error: null });
        return false;
      }
      const isWhole = isChunked ? await this.write("0\r\n\r\n") : !this.#isClosed;
      ended({ how: isWhole ? "whole" : "left", bytes, error: null });
      return isWhole;
    } catch (error) {
      source.cancel();
      ended({ how: this.#isClosed ? "left" : "cut", bytes, error });
      return false;
    } finally {
      this.#source = null;
    }
  }

  /** Large pieces are not copied: what the client has not taken of one is the source's until the next is asked for. */
  async #sendPiece(piece: Uint8Array, isChunked: boolean): Promise<boolean> {
    if (!isChunked) return this.write(piece);
    const size = `${piece.length.toString(16)}\r\n`;
    if (piece.length <= joinedBytesMax) return this.write(Buffer.concat([Buffer.from(size), piece, lineEnd]));
    return (await this.write(size)) && (await this.write(piece)) && (await this.write(lineEnd));
  }

  /** True when the socket took all of it, else a promise of whether it has, which is false when it is closed before. */
  write(data: string | Uint8Array, bytes = lengthOf(data)): true | Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    if (this.#sending !== null) {
      const waiting = this.#unsent ?? nothing;
      this.#unsent = Buffer.concat([waiting, bytesOf(data)]);
      return this.#sending.promise;
    }
    const written = this.#socket.write(data);
    if (written === bytes) return true;
    if (written < 0) return Promise.resolve(false);
    this.#unsent = bytesOf(data).subarray(written);
    this.#sending = Promise.withResolvers();
    return this.#sending.promise;
  }

  /** The socket takes more; true when it took something. */
  drained(): boolean {
    if (this.#unsent === null) return false;
    const written = this.#socket.write(this.#unsent);
    if (written < this.#unsent.length) {
      if (written > 0) this.#unsent = this.#unsent.subarray(written);
      return written > 0;
    }
    this.#unsent = null;
    this.#settle(true);
    return true;
  }

  closed(): void {
    this.#isClosed = true;
    this.#unsent = null;
    this.#source?.cancel();
    this.#settle(false);
  }

  #settle(isSent: boolean): void {
    const sending = this.#sending;
    this.#sending = null;
    sending?.resolve(isSent);
  }
}

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === "string" ? Buffer.from(data) : data);
const lengthOf = (data: string | Uint8Array): number =>
  typeof data === "string" ? Buffer.byteLength(data) : data.length;
