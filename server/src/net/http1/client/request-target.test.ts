import { expect, test } from "bun:test";
import { requestTarget } from "./request-target.ts";

const headOf = (url: string, headers = {}): string[] => requestTarget(url, headers).head.split("\r\n");

test("the head names path, query and host as the URL has them, without user part or fragment", () => {
  expect(headOf("http://user:p%40ss@node.example:8899/rpc/v1?api-key=a%20b#x")).toEqual([
    "POST /rpc/v1?api-key=a%20b HTTP/1.1",
    "host: node.example:8899",
    "accept-encoding: identity",
    `authorization: Basic ${btoa("user:p@ss")}`,
    "content-length: ",
  ]);
  expect(headOf("https://node.example")[0]).toBe("POST / HTTP/1.1");
});

test("addresses, names and default ports go to the socket as it takes them", () => {
  const place = (url: string) => {
    const { hostname, port, isTls, head } = requestTarget(url, {});
    return [hostname, port, isTls, head.split("\r\n")[1]];
  };
  expect(place("http://[::1]:8899/")).toEqual(["::1", 8899, false, "host: [::1]:8899"]);
  expect(place("https://[2001:db8::1]/")).toEqual(["2001:db8::1", 443, true, "host: [2001:db8::1]"]);
  expect(place("http://127.0.0.1:80/")).toEqual(["127.0.0.1", 80, false, "host: 127.0.0.1"]);
  expect(place("https://NODE.example:443/")).toEqual(["node.example", 443, true, "host: node.example"]);
});

test("configured headers win, but for those that frame the message", () => {
  const head = headOf("https://node.example/", {
    Host: "other.example",
    "Accept-Encoding": "br",
    Authorization: "Bearer x",
    "Content-Length": "1",
    "Transfer-Encoding": "chunked",
    Connection: "close",
  });
  expect(head.slice(1)).toEqual([
    "host: other.example",
    "accept-encoding: br",
    "authorization: Bearer x",
    "content-length: ",
  ]);
});

test("what cannot be sent is refused without being said", () => {
  for (const [url, headers] of [
    ["ftp://hunter2.example/", {}],
    ["hunter2", {}],
    ["http://a/", { "X-Key": "hunter2\r\nX-Other: 1" }],
    ["http://a/", { "X-Key": "hünter2" }],
    ["http://a/", { "X hunter2": "1" }],
  ] as const) {
    let message = "";
    try {
      requestTarget(url, headers);
    } catch (error) {
      message = String(error);
    }
    expect(message).toStartWith("TypeError: A ");
    expect(message).not.toContain("h\u00fcnter2");
    expect(message).not.toContain("hunter2");
  }
});
