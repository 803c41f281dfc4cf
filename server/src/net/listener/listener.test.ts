import { expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { Listener } from "./app-listener.ts";
import { ListenError, listening } from "./listen-error.ts";
import { PlainListener } from "./plain-listener.ts";

const clock = systemClock;
const events = { internalError: () => {} };
const options = (port: number) => ({ hostname: "127.0.0.1", port, bodyBytesMax: 1_024 });
const answer = () => new Response("ok");

test("a gateway's port is had by one server: the second is refused with the endpoint and port", async () => {
  await using first = new Listener(options(0), { clock, answer, events });
  const second = () =>
    listening("gateway", first.port, () => new Listener(options(first.port), { clock, answer, events }));
  expect(second).toThrow(ListenError);
  expect(second).toThrow(`gateway endpoint cannot listen on port ${first.port}`);
});

test("so is a small endpoint's", async () => {
  await using first = new PlainListener({ hostname: "127.0.0.1", port: 0 }, { clock, fetch: answer, events });
  const port = first.port ?? 0;
  expect(port).toBeGreaterThan(0);
  expect(() => new PlainListener({ hostname: "127.0.0.1", port }, { clock, fetch: answer, events })).toThrow();
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
