import { expect, test } from "bun:test";
import fc from "fast-check";
import { ResponseReader } from "./response-reader.ts";

const bytesMax = 4_096;

interface Reading {
  readonly state: string;
  readonly status: number;
  readonly coding: string | null;
  readonly body: string;
  readonly isReusable: boolean;
}

/** Feeds the pieces and, when more is awaited, the end of the connection. */
function read(pieces: readonly Uint8Array[], reader = new ResponseReader()): Reading {
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

const latin = (text: string): Uint8Array => Buffer.from(text, "latin1");
const readText = (text: string): Reading => read([latin(text)]);

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
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

const answer = fc
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

test("a valid answer reads the same whole, cut anywhere and byte by byte", () => {
  const reader = new ResponseReader();
  fc.assert(
    fc.property(answer, fc.array(fc.nat(), { maxLength: 8 }), ({ bytes, expected }, cuts) => {
      expect(read([bytes])).toEqual(expected);
      expect(read(cutAt(bytes, cuts), reader)).toEqual(expected);
      expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test("a changed answer never throws, holds no more than its bound, and is judged alike however it is cut", () => {
  const change = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.constantFrom("set", "drop", "insert", "cut") });
  fc.assert(
    fc.property(
      answer,
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat()),
      (valid, changes, cuts) => {
        let bytes = [...valid.bytes];
        for (const { at, byte, kind } of changes) {
          const place = at % (bytes.length + 1);
          if (kind === "cut") bytes = bytes.slice(0, place);
          else bytes.splice(place, kind === "insert" ? 0 : 1, ...(kind === "drop" ? [] : [byte]));
        }
        const changed = Uint8Array.from(bytes);
        const whole = read([changed]);
        const { isReusable: _whole, ...said } = whole;
        const { isReusable: _parts, ...saidInParts } = read(cutAt(changed, cuts));
        expect(saidInParts).toEqual(said);
        expect(whole.body.length).toBeLessThanOrEqual(bytesMax);
      },
    ),
    { numRuns: 500 },
  );
});

test("noise is malformed at its first byte", () => {
  for (const noise of ["\x16\x03\x01", "SSH-2.0-OpenSSH\r\n", "<html>", "HTTP/2 200", "\r\nHTTP/1.1 200 OK", "h"]) {
    const reader = new ResponseReader();
    reader.begin(bytesMax);
    expect([noise, reader.feed(latin(noise))]).toEqual([noise, "malformed"]);
  }
});

const ok = "HTTP/1.1 200 OK\r\n";

test("whatever leaves the body's length in doubt is malformed", () => {
  for (const text of [
    `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`,
    `${ok}Content-Length: 2, 2\r\n\r\nab`,
    `${ok}Content-Length: +2\r\n\r\nab`,
    `${ok}Content-Length: -1\r\n\r\nab`,
    `${ok}Content-Length: 0x2\r\n\r\nab`,
    `${ok}Content-Length:\r\n\r\nab`,
    `${ok}Content-Length: 9999999999999999999\r\n\r\nab`,
    `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    `${ok}Content-Length: 2\r\n\r\na`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n-2\r\nab\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n2 x\r\nab\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n0000000000002\r\nab\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n`,
  ]) {
    expect([text, readText(text).state]).toEqual([text, "malformed"]);
  }
});

test("a head that is none is malformed", () => {
  for (const text of [
    "",
    "HTTP/1.1",
    "HTTP/1.1 20\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 099 OK\r\n\r\n",
    "HTTP/1.1 600 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.2 200 OK\r\n\r\n",
    "http/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    `${ok}Content-Length : 0\r\n\r\n`,
    `${ok} Content-Length: 0\r\n\r\n`,
    `${ok}X: a\r\n b\r\nContent-Length: 0\r\n\r\n`,
    `${ok}X: a\0b\r\n\r\n`,
    `${ok}X: a\rb\r\n\r\n`,
    `${ok}: a\r\n\r\n`,
    `${ok}X\r\n\r\n`,
    `${ok}X: a`,
    `${"HTTP/1.1 100 Continue\r\n\r\n".repeat(9)}${ok}Content-Length: 0\r\n\r\n`,
  ]) {
    expect([text, readText(text).state]).toEqual([text, "malformed"]);
  }
});

test("heads, extensions and trailers are bounded in size and number, a body in size", () => {
  const long = "a".repeat(33_000);
  const many = "X: a\r\n".repeat(201);
  for (const text of [
    `${ok}X: ${long}\r\n\r\n`,
    `${ok}X: ${long}`,
    `${ok}${many}\r\n`,
    `HTTP/1.1 200 ${long}\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n1;${long}\r\na\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n${`1;${"a".repeat(3_000)}\r\na\r\n`.repeat(12)}0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n${many}\r\n`,
  ]) {
    expect(readText(text).state).toBe("malformed");
  }
  const tooLong = "b".repeat(bytesMax + 1);
  for (const text of [
    `${ok}Content-Length: ${bytesMax + 1}\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n${(bytesMax + 1).toString(16)}\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n${"800\r\n".concat("c".repeat(2_048), "\r\n").repeat(2)}1\r\nd\r\n`,
    `${ok}\r\n${tooLong}`,
  ]) {
    expect(readText(text).state).toBe("too-large");
  }
});

test("204 and 304 have no body, whatever they state; the connection goes on", () => {
  for (const status of [204, 304]) {
    expect(readText(`HTTP/1.1 ${status} X\r\nContent-Length: 10\r\n\r\n`)).toMatchObject({
      status,
      body: "",
      isReusable: true,
    });
  }
});

test("equal lengths twice, tabs around values and padding after a chunk's size are taken", () => {
  expect(readText(`${ok}Content-Length: 2\r\nContent-Length:\t2 \r\n\r\nab`).body).toBe("ab");
  expect(readText(`${ok}Transfer-Encoding: Chunked\r\n\r\n2 \r\nab\r\n0\r\n\r\n`).body).toBe("ab");
});

test("an HTTP/1.0 answer, surplus bytes and Connection: close end the connection, not the answer", () => {
  for (const text of [
    "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab",
    `${ok}Content-Length: 2\r\n\r\nabHTTP/1.1 200 OK`,
    `${ok}Content-Length: 2\r\nConnection: close\r\n\r\nab`,
  ]) {
    expect(readText(text)).toMatchObject({ state: "done", body: "ab", isReusable: false });
  }
});

test("one piece of a body is not copied, several are put together exactly", () => {
  const reader = new ResponseReader();
  reader.begin(1 << 20);
  const whole = latin(`${ok}Content-Length: 3\r\n\r\nabc`);
  expect(reader.feed(whole)).toBe("done");
  expect(reader.body().buffer).toBe(whole.buffer);
  const large = Uint8Array.from({ length: 500_000 }, (_unused, index) => index % 251);
  reader.begin(1 << 20);
  reader.feed(latin(`${ok}Content-Length: ${large.length}\r\n\r\n`));
  for (let at = 0; at < large.length; at += 70_001) reader.feed(large.slice(at, at + 70_001));
  expect(Buffer.compare(reader.body(), large)).toBe(0);
});
