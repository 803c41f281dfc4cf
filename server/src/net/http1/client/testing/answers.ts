import fc from "fast-check";
import { ResponseReader } from "../response-reader.ts";

export const bytesMax = 4_096;

export interface Reading {
  readonly state: string;
  readonly status: number;
  readonly coding: string | null;
  readonly body: string;
  readonly isReusable: boolean;
}

/** Feeds the pieces and, when more is awaited, the end of the connection. */
export function read(pieces: readonly Uint8Array[], reader = new ResponseReader()): Reading {
  reader.begin(bytesMax);
  let state = "more";
  for (const piece of pieces) {
    if (state !== "more") break;
    state = reader.feed(Uint8Array.from(piece));
  }
  if (state === "more") state = reader.end();
  const isDone = state === "done";
  return {
    state,
    status: isDone ? reader.head.status : 0,
    coding: isDone ? reader.head.contentEncoding : null,
    body: isDone ? Buffer.from(reader.body()).toString("latin1") : "",
    isReusable: isDone && reader.isReusable,
  };
}

export const latin = (text: string): Uint8Array => Buffer.from(text, "latin1");
export const readText = (text: string): Reading => read([latin(text)]);

export function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places
    .slice(1)
    .map((place, index) => bytes.subarray(places[index], place))
    .filter((piece) => piece.length > 0);
}

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/);
const value = fc.stringMatching(/^[!-~\x80-\xff]([\t -~\x80-\xff]{0,30}[!-~])?$/);
const framing = new Set([
  "content-length",
  "transfer-encoding",
  "connection",
  "content-encoding",
  "keep-alive",
  "host",
  "trailer",
]);
const fields = fc.array(
  fc.tuple(
    token.filter((name) => !framing.has(name.toLowerCase())),
    value,
  ),
  { maxLength: 6 },
);
const content = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const anyCase = (name: string) => fc.boolean().map((isUpper) => (isUpper ? name.toUpperCase() : name));

const chunked = fc
  .record({ parts: fc.array(content.filter((part) => part.length > 0)), extension: fc.option(token), trailers: fields })
  .map(({ parts, extension, trailers }) => {
    const end = `${extension === null ? "" : `;${extension}=1`}\r\n`;
    const chunks = parts.map((part) => `${part.length.toString(16)}${end}${part}\r\n`);
    return {
      body: parts.join(""),
      wire: `${chunks.join("")}0${end}${trailers.map(([name, text]) => `${name}: ${text}\r\n`).join("")}\r\n`,
    };
  });

const framed = fc.oneof(
  fc.tuple(content, anyCase("content-length")).map(([body, name]) => ({
    framing: `${name}: ${body.length}\r\n`,
    wire: body,
    body,
    isReusable: true,
  })),
  fc
    .tuple(chunked, anyCase("transfer-encoding"))
    .map(([{ body, wire }, name]) => ({ framing: `${name}:chunked \r\n`, wire, body, isReusable: true })),
  content.map((body) => ({ framing: "", wire: body, body, isReusable: false })),
);

/** A valid answer and what it says. */
export const answer = fc
  .record({
    status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
    reason: fc.option(value),
    interim: fc.integer({ min: 0, max: 2 }),
    before: fields,
    framed,
    isClosed: fc.boolean(),
  })
  .map(({ status, reason, interim, before, framed, isClosed }) => {
    const lines = before.map(([name, text]) => `${name}:  ${text}\r\n`).join("");
    const close = isClosed ? "Connection: foo, Close\r\n" : "";
    const first = reason === null ? `HTTP/1.1 ${status}` : `HTTP/1.1 ${status} ${reason}`;
    return {
      bytes: latin(
        `${"HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n".repeat(interim)}${first}\r\n${lines}${framed.framing}${close}\r\n${framed.wire}`,
      ),
      expected: {
        state: "done",
        status,
        coding: null,
        body: framed.body,
        isReusable: framed.isReusable && !isClosed,
      },
    };
  });

const change = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.constantFrom("set", "drop", "insert", "cut") });

/** The bytes of an answer with a few changes, valid by chance only. */
export const changedAnswer = fc
  .tuple(answer, fc.array(change, { minLength: 1, maxLength: 4 }))
  .map(([valid, changes]) => {
    let bytes = [...valid.bytes];
    for (const { at, byte, kind } of changes) {
      const place = at % (bytes.length + 1);
      if (kind === "cut") bytes = bytes.slice(0, place);
      else bytes.splice(place, kind === "insert" ? 0 : 1, ...(kind === "drop" ? [] : [byte]));
    }
    return Uint8Array.from(bytes);
  });
