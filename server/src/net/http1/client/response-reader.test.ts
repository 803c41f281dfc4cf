import { expect, test } from "bun:test";
import { run } from "./response-reader.campaign.ts";
import { ResponseReader } from "./response-reader.ts";
import { bytesMax, latin, read, readText } from "./testing/answers.ts";

test("an answer reads the same whole, cut anywhere and byte by byte; a changed one is evaluated alike and never throws", async () => {
  expect(await run({ n: 300, seed: 7 })).toMatchObject({ passed: true });
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
    `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 3\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\nCONNECTION: close\r\n\r\n`,
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

test("equal lengths twice and tabs around values are taken", () => {
  expect(readText(`${ok}Content-Length: 2\r\nContent-Length:\t2 \r\n\r\nab`).body).toBe("ab");
  expect(readText(`${ok}Transfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`).body).toBe("ab");
});

test("a chunk whose size came in a read of its own ends where its size says", () => {
  const head = latin(`${ok}Transfer-Encoding: chunked\r\n\r\n5\r\n`);
  expect(read([head, latin("hello\r\n0\r\n\r\n")])).toMatchObject({ state: "done", body: "hello" });
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

test("the head of a call holds nothing of the call before, until its own has come", () => {
  const reader = new ResponseReader();
  reader.begin(bytesMax);
  reader.feed(
    latin(
      "HTTP/1.1 429 X\r\nConnection: close\r\nRetry-After: 7\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
    ),
  );
  expect(reader.head).toMatchObject({ status: 429, retryAfter: "7", contentEncoding: "gzip", isLast: true });
  reader.begin(bytesMax);
  expect(reader.head).toMatchObject({ status: 0, retryAfter: null, contentEncoding: null, isLast: false });
});
