import { expect, test } from "bun:test";
import { isHost } from "./host.ts";

test("a Host field is a name, an address or nothing, with a port or without, and whatever passes has a URL", () => {
  for (const host of ["a", "a.example:8899", "a:", "A_b-c.d", "127.0.0.1:1", "[::1]:7435", "%41", "", null]) {
    expect([host, isHost(host)]).toEqual([host, true]);
    expect(URL.canParse(`http://${host ?? ""}${host === "" || host === null ? "localhost" : ""}/`)).toBe(true);
  }
});

test("two hosts, user information, a path, white space, control bytes and what no URL holds are no host", () => {
  const none = [
    "a, b",
    "a,b",
    "u@a",
    "a/b@c",
    "a/",
    "a b",
    "a\tb",
    "a\u00ff",
    "a?b",
    "a#b",
    "a\\b",
    "a:b",
    "a:1:2",
    ":1",
  ];
  const unaddressable = ["1.2.3.999", "a:99999", "[::1", "::1", "[1.2.3.4.5]", "[::1%25eth0]", "a%20b", "%zz", "xn--"];
  for (const host of [...none, ...unaddressable]) expect([host, isHost(host)]).toEqual([host, false]);
});
