import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readRoute } from "./http.ts";

const routeOf = (path: string): string => {
  const route = readRoute(`http://host:8691${path}`);
  if (route.kind === "resolve") return `resolve ${route.input}`;
  return route.kind === "undecodable" ? `undecodable ${route.segment}` : route.kind;
};

describe("a path's route", () => {
  test.each([
    ["/health", "health"],
    ["/health?now", "health"],
    ["/health/", "unknown"],
    ["/Health", "unknown"],
    ["/version", "version"],
    ["/version#x", "version"],
    ["/", "unknown"],
    ["/resolve", "unknown"],
    ["/resolve/", "unknown"],
    ["/resolve/?x", "unknown"],
    ["//resolve/a", "unknown"],
    ["/resolve//a", "unknown"],
    ["/resolve/a/b", "unknown"],
    ["/resolve/a/", "unknown"],
    ["/RESOLVE/a", "unknown"],
    ["/resolve/a", "resolve a"],
    ["/resolve/@a", "resolve @a"],
    ["/resolve/%40a?x=%zz", "resolve @a"],
    ["/resolve/..%2f", "resolve ../"],
    ["/resolve/a%2Fb.x1", "resolve a/b.x1"],
    ["/resolve/a+b", "resolve a+b"],
    ["/resolve/%2540a", "resolve %40a"],
    ["/resolve/%00", "resolve \0"],
    ["/resolve/%C3%A9.x1", "resolve é.x1"],
    ["/resolve/%", "undecodable %"],
    ["/resolve/%4", "undecodable %4"],
    ["/resolve/%zz.x1", "undecodable %zz.x1"],
    ["/resolve/%ff.x1", "undecodable %ff.x1"],
    ["/resolve/%C0%AF.x1", "undecodable %C0%AF.x1"],
    ["/resolve/%ED%A0%80.x1", "undecodable %ED%A0%80.x1"],
    ["/resolve/%F4%90%80%80", "undecodable %F4%90%80%80"],
  ])("%s", (path, expected) => expect(routeOf(path)).toBe(expected));
});

test("a URL without a path is no route", () => {
  expect(readRoute("http://host").kind).toBe("unknown");
});

test("any text comes back as it was once encoded once", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), (text) => {
      if (!text.isWellFormed()) return;
      expect(readRoute(`http://host/resolve/${encodeURIComponent(text)}`)).toEqual({ kind: "resolve", input: text });
    }),
  );
});
