import { expect, test } from "bun:test";
import fc from "fast-check";
import { bearerToken, isUpgrade, pathOf, presentedKey, queryParameter, targetOf } from "./request-head.ts";

const url = "http://localhost:8899/rpc?api-key=query";

test("the key is taken from X-API-Key, then Authorization: Bearer, then the query", () => {
  const all = new Headers({ "X-API-Key": "own", Authorization: "Bearer bearer" });
  expect(presentedKey(all, url)).toBe("own");
  all.delete("x-api-key");
  expect(presentedKey(all, url)).toBe("bearer");
  all.delete("authorization");
  expect(presentedKey(all, url)).toBe("query");
  expect(presentedKey(all, "http://localhost:8899/rpc")).toBeNull();
});

test("a header that is empty or of another scheme counts as absent", () => {
  expect(presentedKey(new Headers({ "X-API-Key": "", Authorization: "Basic dTpw" }), url)).toBe("query");
  expect(presentedKey(new Headers({ Authorization: "Bearer " }), "/rpc?api-key=")).toBeNull();
  expect(bearerToken("bearer  x ")).toBe("x");
  expect(bearerToken("Bearerx y")).toBeNull();
});

test("queryParameter finds only whole names and the first value", () => {
  expect(queryParameter("/rpc?x-api-key=1&api-key=2&api-key=3", "api-key")).toBe("2");
  expect(queryParameter("/rpc?api-keys=1", "api-key")).toBeNull();
  expect(queryParameter("/rpc?api-key", "api-key")).toBe("");
  expect(queryParameter("/rpc?api%2Dkey=a%2Bb+c", "api-key")).toBe("a+b c");
  expect(queryParameter("/rpc?a=%zz", "a")).toBe("%zz");
  expect(queryParameter("/api-key=1#?api-key=2", "network")).toBeNull();
  expect(queryParameter("/rpc?a=1#api-key=2", "api-key")).toBeNull();
});

test("queryParameter reads what URLSearchParams reads", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "=", "&", "%", "+", " ", "é", "?"), maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("api-key", "network", "a b", "é"), text), { maxLength: 4 }),
      (pairs) => {
        const parameters = new URLSearchParams(pairs);
        expect(queryParameter(`/rpc?${parameters}`, "api-key")).toBe(parameters.get("api-key"));
        expect(queryParameter(`/rpc?${parameters}`, "é")).toBe(parameters.get("é"));
      },
    ),
  );
});

test("a token has at least a character, behind the scheme Bearer in any letter case and one space", () => {
  const tokens = ["Bearer x", "BEARER x", "bearer x", "Basicx x", "Bearer", "Bearer  ", "Bear er x", null].map(
    bearerToken,
  );
  expect(tokens).toEqual(["x", "x", "x", null, null, null, null, null]);
});

test("target and path are what the client wrote behind the host", () => {
  expect(targetOf("http://localhost:8899/rpc?a=1#b")).toBe("/rpc?a=1#b");
  expect([targetOf("http://localhost"), targetOf("http://h/")]).toEqual(["/", "/"]);
  expect([pathOf("/rpc?a=1?b"), pathOf("/rpc"), pathOf("?a=1")]).toEqual(["/rpc", "/rpc", ""]);
});

test("an upgrade is one to a WebSocket, in any letter case", () => {
  const upgrades = ["websocket", "WebSocket", "h2c", ""].map((upgrade) => isUpgrade(new Headers({ upgrade })));
  expect([...upgrades, isUpgrade(new Headers())]).toEqual([true, true, false, false, false]);
});
