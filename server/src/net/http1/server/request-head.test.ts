import { expect, test } from "bun:test";
import { RequestHead, readRequestHead } from "./request.ts";

const read = (text: string) => {
  const bytes = Buffer.from(text, "latin1");
  return readRequestHead(bytes, 0, bytes.length);
};
/** The field that HTTP/1.1 asks for, where a test is about others. */
const hostFor = (lines: string, start: string): string =>
  /^host:/im.test(lines) || start.includes("/1.0") ? "" : "Host: a\r\n";
const good = (lines: string, start = "POST /rpc HTTP/1.1"): RequestHead => {
  const head = read(`${start}\r\n${hostFor(lines, start)}${lines}\r\n`);
  if (!(head instanceof RequestHead)) throw new Error(head.message);
  return head;
};
const statusOf = (lines: string, start = "POST /rpc HTTP/1.1"): number => {
  const head = read(`${start}\r\n${hostFor(lines, start)}${lines}\r\n`);
  return head instanceof RequestHead ? 200 : head.status;
};

test("a head gives its line, its framing and its fields in any letter case, several of one name as a list", () => {
  const head = good("Host: a\r\nCONTENT-length:  12 \r\nX-A: b\r\nx-a:c\r\nCookie: d\r\nCookie: e\r\nX-Empty:\r\n");
  expect([head.method, head.target, head.minor, head.contentLength, head.isChunked, head.isLast]).toEqual([
    "POST",
    "/rpc",
    1,
    12,
    false,
    false,
  ]);
  expect(["host", "x-a", "cookie", "x-empty", "x-b"].map((name) => head.get(name))).toEqual([
    "a",
    "b, c",
    "d; e",
    "",
    null,
  ]);
  expect([...head.fields()].length).toBe(7);
  expect([...head.fields()][4]).toEqual(["Cookie", "d"]);
  expect(Buffer.from(head.bytes()).toString()).toStartWith("POST /rpc HTTP/1.1\r\nHost: a\r\n");
});

test("a target is a path, or an http URL of which the path counts", () => {
  const targetOf = (target: string): string => good("", `GET ${target} HTTP/1.1`).target;
  expect(["/", "/a?b=c", "http://x/a?b", "HTTPS://x", "http://x?a", "//x/y", "/\u00fc"].map(targetOf)).toEqual([
    "/",
    "/a?b=c",
    "/a?b",
    "/",
    "/?a",
    "//x/y",
    "/\u00fc",
  ]);
  for (const target of ["", "*", "a", "x:443", "http:///a", "/a#b", "/a b", "/\u0000", "/\t", "ftp://x/"]) {
    expect([target, statusOf("", `GET ${target} HTTP/1.1`)]).toEqual([target, 400]);
  }
});

test("HTTP/1.1 names one host, once and well-formed; HTTP/1.0 may leave it out; an absolute target stands over it", () => {
  const hostOf = (lines: string, start?: string): string | null => good(lines, start).host;
  expect(hostOf("Host: a.example:8899\r\n")).toBe("a.example:8899");
  expect(hostOf("Host:\r\n")).toBe("");
  expect(hostOf("", "GET / HTTP/1.0")).toBeNull();
  expect(hostOf("HOST: [::1]:1\r\n", "GET / HTTP/1.0")).toBe("[::1]:1");
  expect(hostOf("Host: a\r\n", "GET http://b:2/ HTTP/1.1")).toBe("b:2");
  for (const lines of [
    "Host: a\r\nHost: a\r\n",
    "Host: a\r\nX: y\r\nhost: b\r\n",
    "Host: a/b@c\r\n",
    "Host: a b\r\n",
  ]) {
    for (const start of ["GET / HTTP/1.1", "GET / HTTP/1.0"]) {
      expect([lines, start, statusOf(lines, start)]).toEqual([lines, start, 400]);
    }
  }
  const none = read("GET / HTTP/1.1\r\nX: y\r\n\r\n");
  expect(none instanceof RequestHead ? "" : none.message).toContain("exactly one Host");
  expect(read("GET http://b/ HTTP/1.1\r\n\r\n")).toMatchObject({ status: 400 });
  expect(statusOf("", "GET http://u@b/ HTTP/1.1")).toBe(400);
});

test("no tunnel is opened, in whatever form it is asked for", () => {
  for (const target of ["a:443", "/", "http://a/"]) {
    expect([target, statusOf("", `CONNECT ${target} HTTP/1.1`)]).toEqual([target, 400]);
  }
});

test("an asterisk is a target of OPTIONS alone", () => {
  expect(good("", "OPTIONS * HTTP/1.1").target).toBe("*");
  for (const start of ["GET * HTTP/1.1", "OPTIONS ** HTTP/1.1", "OPTIONS *?a HTTP/1.1", "options * HTTP/1.1"]) {
    expect([start, statusOf("", start)]).toEqual([start, 400]);
  }
});

test("a value holds any byte but control bytes", () => {
  for (let byte = 0; byte < 256; byte += 1) {
    const status = statusOf(`X-A: b${String.fromCharCode(byte)}c\r\n`);
    expect([byte, status]).toEqual([byte, byte === 0x09 || (byte >= 0x20 && byte !== 0x7f) ? 200 : 400]);
  }
});

test("a request line of another form or version is refused", () => {
  for (const start of [
    "GET /",
    "GET  / HTTP/1.1",
    " GET / HTTP/1.1",
    "G(T / HTTP/1.1",
    "GET / http/1.1",
    "GET / HTTP/1.1 ",
  ])
    expect([start, statusOf("", start)]).toEqual([start, 400]);
  expect(["HTTP/2.0", "HTTP/0.9", "HTTP/1.2"].map((version) => statusOf("", `GET / ${version}`))).toEqual([
    505, 505, 505,
  ]);
});

test("whatever leaves the end of a request in doubt is refused", () => {
  for (const lines of [
    "Content-Length: 5\r\nContent-Length: 5\r\n",
    "Content-Length: 5, 5\r\n",
    "Content-Length: +5\r\n",
    "Content-Length: 0x5\r\n",
    "Content-Length: -1\r\n",
    "Content-Length:\r\n",
    "Content-Length: 5\t\r\n",
    "Content-Length: 5 \t \r\n",
    "Content-Length: 9999999999999999\r\n",
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    "Content-Length : 5\r\n",
    "X-A: b\r\n folded\r\n",
    "X-A: b\u0000\r\n",
    "X-A: b\rc\r\n",
    "X A: b\r\n",
    ": b\r\n",
    "X-A\r\n",
  ])
    expect([lines, statusOf(lines)]).toEqual([lines, 400]);
  for (const coding of [
    "xchunked",
    "gzip, chunked",
    "chunked, chunked",
    "identity",
    "",
    "chunked\t",
    '"chunked"',
    "\u000bchunked",
  ])
    expect([coding, statusOf(`Transfer-Encoding: ${coding}\r\n`)]).toEqual([
      coding,
      coding === "\u000bchunked" ? 400 : 501,
    ]);
  expect(statusOf("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")).toBe(501);
  expect(statusOf("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0")).toBe(400);
  expect(statusOf("Expect: 200-ok\r\n")).toBe(417);
  expect(statusOf("X: y\r\n".repeat(201))).toBe(431);
  expect(good("transfer-encoding: Chunked\r\n").isChunked).toBe(true);
});

test("a connection is the client's to keep: until it says close, and not over HTTP/1.0", () => {
  expect(good("Connection: keep-alive, CLOSE\r\n").isLast).toBe(true);
  expect(good("Connection: closed\r\n").isLast).toBe(false);
  expect(good("Connection: keep-alive\r\n", "GET / HTTP/1.0").isLast).toBe(true);
});
