import { expect, test } from "bun:test";
import { AppListener } from "./app-listener.ts";
import { ListenError, listening } from "./listen-error.ts";
import { Listener } from "./listener.ts";

const events = { faultCaught: () => {} };
const options = (port: number) => ({ hostname: "127.0.0.1", port, bodyBytesMax: 1_024 });
const answer = () => new Response("ok");

test("a gateway's port is had by one server: the second is refused and told which door and port it was", async () => {
  await using first = new Listener(options(0), { answer, events });
  const second = () => listening("gateway", first.port, () => new Listener(options(first.port), { answer, events }));
  expect(second).toThrow(ListenError);
  expect(second).toThrow(`gateway door cannot listen on port ${first.port}`);
});

test("so is a small door's", async () => {
  await using first = new AppListener({ hostname: "127.0.0.1", port: 0 }, { fetch: answer, events });
  const port = first.port ?? 0;
  expect(port).toBeGreaterThan(0);
  expect(() => new AppListener({ hostname: "127.0.0.1", port }, { fetch: answer, events })).toThrow();
});
