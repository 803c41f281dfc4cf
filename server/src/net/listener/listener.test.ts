import { expect, test } from "bun:test";
import { connect } from "node:net";
import { systemClock } from "@sluice/lib";
import { fixedProbes } from "../../http/testing/fixed-probes.ts";
import { AppListener, Listener } from "./app-listener.ts";
import { ListenError, listening } from "./listen-error.ts";
import { PlainListener } from "./plain-listener.ts";

const clock = systemClock;
const events = { internalError: () => {} };
const options = (port: number) => ({ hostname: "127.0.0.1", port, bodyBytesMax: 1_024 });
const probes = { source: fixedProbes(), role: "engine" };
const answer = () => new Response("ok");
const requestId = () => "req_1";

test("a gateway's port is had by one server: the second is refused with the endpoint and port", async () => {
  await using first = new Listener(options(0), { clock, answer, requestId, events });
  const second = () =>
    listening("gateway", first.port, () => new Listener(options(first.port), { clock, answer, requestId, events }));
  expect(second).toThrow(ListenError);
  expect(second).toThrow(`gateway endpoint cannot listen on port ${first.port}`);
});

test("so is a small endpoint's", async () => {
  await using first = new PlainListener(
    { hostname: "127.0.0.1", port: 0 },
    { clock, fetch: answer, requestId, events },
  );
  const port = first.port ?? 0;
  expect(port).toBeGreaterThan(0);
  expect(
    () => new PlainListener({ hostname: "127.0.0.1", port }, { clock, fetch: answer, requestId, events }),
  ).toThrow();
});

test("every answer of a small endpoint names its request, also one of a fault, and keeps a name that it has", async () => {
  const fetched = (request: Request): Response => {
    const { pathname } = new URL(request.url);
    if (pathname === "/fault") throw new Error("a fault of ours");
    return pathname === "/named" ? new Response("", { headers: { "X-Request-Id": "own" } }) : answer();
  };
  const dependencies = { clock, fetch: fetched, requestId, events };
  await using listener = new PlainListener({ hostname: "127.0.0.1", port: 0 }, dependencies);
  const named = async (path: string, host = "localhost"): Promise<[number, string | null]> => {
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`, { headers: { host } });
    return [response.status, response.headers.get("x-request-id")];
  };
  expect(await named("/")).toEqual([200, "req_1"]);
  expect(await named("/named")).toEqual([200, "own"]);
  expect(await named("/fault")).toEqual([500, "req_1"]);
  expect(await named("/", "a b")).toEqual([400, "req_1"]);
});

test("a fault of one socket's session is reported, and ends that connection alone", async () => {
  const faults: unknown[] = [];
  const said = Promise.withResolvers<string>();
  const session = {
    requestId: "req_1",
    opened: () => {},
    received: (data: string | Uint8Array) => {
      if (data === "fault") throw new Error("a fault of ours");
      said.resolve(String(data));
    },
    ponged: () => {},
    tick: () => {},
    drain: () => {},
    closed: () => {},
  };
  await using listener = new Listener(options(0), {
    clock,
    answer: (request, server) => (server.upgrade(request, { data: { session } }) ? undefined : answer()),
    requestId,
    events: { internalError: (_where, fault) => void faults.push(fault) },
  });
  const connect = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${listener.port}/`);
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    return socket;
  };
  const [bystander, faulty] = [await connect(), await connect()];
  const gone = new Promise<number>((resolve) => faulty.addEventListener("close", ({ code }) => resolve(code)));
  faulty.send("fault");
  expect(await gone).toBe(1011);
  expect(faults.map(String)).toEqual(["Error: a fault of ours"]);
  bystander.send("still here");
  expect(await said.promise).toBe("still here");
  bystander.close();
});

/** What an application's port answers to bytes, with what its application was given. */
async function ask(text: string): Promise<{ readonly answer: string; readonly urls: readonly string[] }> {
  const urls: string[] = [];
  await using listener = new AppListener(
    {
      hostname: "127.0.0.1",
      port: 0,
      page: { title: "block engine", version: "1.2.3", gateway: { port: 8899, url: null }, probes },
    },
    {
      clock,
      events,
      sockets: [],
      requestId: () => "req_1",
      fetch: (request) => {
        urls.push(request.url);
        return new Response("served");
      },
    },
  );
  const received = Promise.withResolvers<string>();
  const socket = connect(listener.port, "127.0.0.1");
  socket.once("data", (bytes) => received.resolve(bytes.toString("latin1")));
  socket.write(text);
  const answer = await received.promise;
  socket.destroy();
  return { answer, urls };
}

test("an application's port refuses a Host field that names no host, and serves HTTP/1.0 without one by its path", async () => {
  for (const host of ["a/b@c", "a b", "1.2.3.999"]) {
    for (const path of ["/docs/errors", "/api/v1/prices"]) {
      const { answer, urls } = await ask(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect([host, answer.slice(9, 12), answer.includes("exactly one Host"), urls]).toEqual([host, "400", true, []]);
    }
  }
  const two = await ask("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
  expect(two.answer.slice(9, 12)).toBe("400");
  const { answer, urls } = await ask("GET /api/v1/prices?a=b HTTP/1.0\r\n\r\n");
  expect([answer.slice(9, 12), urls]).toEqual(["200", ["http://localhost/api/v1/prices?a=b"]]);
  expect((await ask("GET / HTTP/1.0\r\n\r\n")).answer).toContain("Sluice 1.2.3, block engine.");
});
