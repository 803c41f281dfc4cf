/** A whole server whose operator names the addresses of its endpoints: what people and clients are told everywhere. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { type Network, runSluice, startNetwork } from "./testing/network.ts";

const named = {
  PUBLIC_URL: "https://rpc.example",
  PUBLIC_URL_PUBSUB: "wss://stream.example",
  PUBLIC_URL_ORACLE: "https://prices.example",
  PUBLIC_URL_RESOLVER: "https://names.example",
  PUBLIC_URL_ENGINE: "https://bundles.example",
  PUBLIC_URL_ENGINE_GRPC: "https://engine.example:7441",
};
/** What customers are told of the endpoints, by their names. */
const told = {
  rpc: "https://rpc.example/rpc",
  pubsub: "wss://stream.example",
  oracle: "https://prices.example",
  resolver: "https://names.example",
  engineRest: "https://bundles.example",
  engineGrpcTls: "https://engine.example:7441",
};

let network: Network;
beforeAll(async () => {
  network = await startNetwork({ env: named });
}, 90_000);
afterAll(async () => await network?.[Symbol.asyncDispose](), 30_000);

/** Where programs of this machine reach an endpoint. */
const at = (endpoint: string, path: string): string => new URL(path, network.dev.doors[endpoint] ?? "").href;
const ask = (endpoint: string, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(at(endpoint, path), { redirect: "manual", ...init });
const withKey = { headers: { "x-api-key": "" } };

test("programs of this machine still find the endpoints where they listen", () => {
  withKey.headers["x-api-key"] = network.dev.key;
  const hosts = Object.values(network.dev.doors).flatMap((url) => (url === null ? [] : [new URL(url).hostname]));
  expect(new Set(hosts)).toEqual(new Set(["127.0.0.1"]));
});

test("the start prints them, and a first call to them", async () => {
  // The file for programs is written before the banner.
  await eventually("the banner", () => network.said().includes("Ctrl-C ends it."));
  const said = network.said();
  for (const url of ["https://rpc.example/\n", ...Object.values(told)]) expect(said).toContain(url);
  expect(said).toContain("curl https://rpc.example/rpc -H");
  for (const port of ["rpc", "oracle", "resolver", "engineRest"]) {
    expect(said).not.toContain(`${new URL(network.dev.doors[port] ?? "").origin}`);
  }
});

test("`sluice status` lists them", async () => {
  const { code, out } = await runSluice(["status", "--json"], { directory: network.directory });
  expect(code).toBe(0);
  const status = JSON.parse(out) as { endpoints: { name: string; url: string }[] };
  expect(Object.fromEntries(status.endpoints.map(({ name, url }) => [name, url]))).toMatchObject(told);
});

test("the console shows them: its endpoints, and those of its samples", async () => {
  const overview = await (await ask("rpc", "/api/v1/console/overview", withKey)).json();
  const shown = overview.doors.map(({ name, address }: { name: string; address: string }) => [name, address]);
  expect(Object.fromEntries(shown)).toMatchObject(told);
  expect((await (await ask("rpc", "/api/v1/console/prices", withKey)).json()).door).toBe(told.oracle);
  expect((await (await ask("rpc", "/api/v1/console/bundles", withKey)).json()).door).toBe(told.engineRest);
});

test("descriptions of the interface name them as their servers, at the gateway and at each endpoint", async () => {
  const gateway = new URL(told.rpc).origin;
  const expected = { "": gateway, engine: told.engineRest, oracle: told.oracle, resolver: told.resolver };
  for (const [name, url] of Object.entries(expected)) {
    const description = await (await ask("rpc", name === "" ? "/openapi.json" : `/openapi/${name}.json`)).json();
    expect([name, description.servers]).toEqual([name, [{ url }]]);
  }
  for (const endpoint of ["oracle", "engineRest"] as const) {
    expect((await (await ask(endpoint, "/openapi.json")).json()).servers).toEqual([{ url: told[endpoint] }]);
  }
  expect(await (await ask("rpc", "/docs")).text()).toContain(`Address: <code>${told.engineRest}`);
});

test("the first pages and the redirects of the other endpoints lead to the gateway's address", async () => {
  for (const endpoint of ["oracle", "engineRest"]) {
    expect(await (await ask(endpoint, "/")).text()).toContain(
      "Console: https://rpc.example/ Error codes: https://rpc.example/docs/errors",
    );
  }
  const pubsub = at("pubsub", "/docs/errors").replace(/^ws/, "http");
  for (const url of [at("oracle", "/docs/errors"), at("engineRest", "/docs/errors"), pubsub]) {
    const { status, headers } = await fetch(url, { redirect: "manual" });
    expect([url, status, headers.get("location")]).toEqual([url, 307, "https://rpc.example/docs/errors"]);
  }
});

test("the type of a problem is the address of its page, whoever refuses", async () => {
  const refusals: [string, string, RequestInit, string][] = [
    ["rpc", "/nowhere", {}, "not-found"],
    ["rpc", "/ready", { method: "PUT" }, "method-not-allowed"],
    ["rpc", "/api/v1/console/overview", {}, "invalid-api-key"],
    ["rpc", "/api/v1/admin/nowhere", withKey, "not-found"],
    ["rpc", "/other", { headers: { upgrade: "websocket", connection: "upgrade" } }, "not-found"],
    ["engineRest", "/api/v1/encryption-keys", {}, "missing-api-key"],
    ["engineRest", "/nowhere", withKey, "not-found"],
    ["engineRest", "/health", { method: "PUT" }, "method-not-allowed"],
    ["oracle", "/ready", { method: "PUT" }, "method-not-allowed"],
  ];
  for (const [endpoint, path, init, code] of refusals) {
    const answer = await ask(endpoint, path, init);
    expect([path, answer.headers.get("content-type")]).toEqual([path, "application/problem+json"]);
    expect([path, (await answer.json()).type]).toEqual([path, `https://rpc.example/docs/errors#${code}`]);
  }
  const pubsub = await fetch(at("pubsub", "/").replace(/^ws/, "http"));
  expect((await pubsub.json()).type).toBe("https://rpc.example/docs/errors#not-found");
});

test("the console opens with a key at its address behind a proxy, on a Secure cookie, and for nobody else", async () => {
  expect((await ask("rpc", "/api/v1/console/overview")).status).toBe(401);
  const headers = { origin: "https://rpc.example", "content-type": "application/json" };
  const body = JSON.stringify({ key: network.dev.key });
  const opened = await ask("rpc", "/api/v1/console/session", { method: "POST", headers, body });
  const cookie = opened.headers.get("set-cookie") ?? "";
  expect([opened.status, cookie]).toEqual([200, expect.stringMatching(/; HttpOnly; SameSite=Strict; .*; Secure$/)]);
  const [session = ""] = cookie.split(";", 1);
  expect((await ask("rpc", "/api/v1/console/overview", { headers: { cookie: session } })).status).toBe(200);
  const other = { ...headers, origin: "https://other.example" };
  expect((await ask("rpc", "/api/v1/console/session", { method: "POST", headers: other, body })).status).toBe(403);
});
