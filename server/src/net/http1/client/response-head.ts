import { areValueBytes, decimalIn, isBlank, isNamed, tokenBytes } from "../syntax.ts";

/** What the head of an answer says of its body and its connection. */
export class ResponseHead {
  status = 0;
  /** The last digit of HTTP/1.0 or HTTP/1.1. */
  minor = 1;
  contentLength: number | null = null;
  isChunked = false;
  isLast = false;
  /** Seconds for which the node says that it keeps an idle connection; null when it does not say. */
  keepAliveSeconds: number | null = null;
  contentEncoding: string | null = null;

  clear(): void {
    this.status = 0;
    this.minor = 1;
    this.contentLength = null;
    this.isChunked = false;
    this.isLast = false;
    this.keepAliveSeconds = null;
    this.contentEncoding = null;
  }
}

const statusPrefix = Uint8Array.from("HTTP/1.", (char) => char.charCodeAt(0));

/** False when what has come of the first line cannot become a status line, so that garbage is not waited for. */
export function maybeStatusLine(bytes: Uint8Array, start: number, end: number): boolean {
  const until = Math.min(end - start, statusPrefix.length);
  for (let at = 0; at < until; at += 1) if (bytes[start + at] !== statusPrefix[at]) return false;
  return true;
}

/** Reads `HTTP/1.1 200 OK` (RFC 9112, 4) without its line end; a missing reason with or without its space is taken. */
export function readStatusLine(head: ResponseHead, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 12 || !maybeStatusLine(bytes, start, end)) return false;
  const minor = (bytes[start + 7] ?? 0) - 0x30;
  if ((minor !== 0 && minor !== 1) || bytes[start + 8] !== 0x20) return false;
  const status = decimalIn(bytes, start + 9, start + 12);
  if (status === null || status < 100 || status > 599) return false;
  if (end > start + 12 && bytes[start + 12] !== 0x20) return false;
  if (!areValueBytes(bytes, start + 12, end)) return false;
  head.minor = minor;
  head.status = status;
  return true;
}

/**
 * Reads one field line without its line end into `head`; false for what is no field line and for what makes the body's
 * length doubtful: lengths that differ or are lists, codings other than chunked. A folded line begins with a space,
 * which no name does.
 */
export function readFieldLine(head: ResponseHead, bytes: Uint8Array, start: number, end: number): boolean {
  let colon = start;
  while (colon < end && tokenBytes[bytes[colon] ?? 0] === 1) colon += 1;
  if (colon === start || colon === end || bytes[colon] !== 0x3a) return false;
  let from = colon + 1;
  let to = end;
  while (from < to && isBlank(bytes[from])) from += 1;
  while (to > from && isBlank(bytes[to - 1])) to -= 1;
  if (!areValueBytes(bytes, from, to)) return false;
  switch (colon - start) {
    case 10:
      if (isNamed(bytes, start, "connection")) readConnection(head, text(bytes, from, to));
      else if (isNamed(bytes, start, "keep-alive")) readKeepAlive(head, text(bytes, from, to));
      return true;
    case 14:
      return !isNamed(bytes, start, "content-length") || readLength(head, bytes, from, to);
    case 16:
      return !isNamed(bytes, start, "content-encoding") || readEncoding(head, text(bytes, from, to));
    case 17:
      return !isNamed(bytes, start, "transfer-encoding") || readTransfer(head, text(bytes, from, to));
    default:
      return true;
  }
}

function readLength(head: ResponseHead, bytes: Uint8Array, from: number, to: number): boolean {
  const length = decimalIn(bytes, from, to);
  if (length === null || (head.contentLength !== null && head.contentLength !== length)) return false;
  head.contentLength = length;
  return true;
}

function readEncoding(head: ResponseHead, value: string): boolean {
  const encoding = value.toLowerCase();
  if (head.contentEncoding !== null) return false;
  if (encoding !== "identity" && encoding !== "") head.contentEncoding = encoding;
  return true;
}

function readTransfer(head: ResponseHead, value: string): boolean {
  if (head.isChunked || value.toLowerCase() !== "chunked") return false;
  head.isChunked = true;
  return true;
}

function readConnection(head: ResponseHead, value: string): void {
  if (value === "keep-alive") return;
  for (const option of value.toLowerCase().split(",")) if (option.trim() === "close") head.isLast = true;
}

function readKeepAlive(head: ResponseHead, value: string): void {
  const seconds = /(?:^|[\s,])timeout=([0-9]{1,6})/i.exec(value)?.[1];
  if (seconds !== undefined) head.keepAliveSeconds = Number(seconds);
}

function text(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
}
