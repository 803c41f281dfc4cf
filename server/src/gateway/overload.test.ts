import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { Overload } from "./overload.ts";
import { bootGateway } from "./testing/booted-gateway.ts";

test("a request that is begun late in a long turn of the event loop is refused, one in the next turn is not", () => {
  const clock = new ManualClock(0);
  // The timer of a long turn fires after it, so this clock's never does by itself.
  const stalled = { monotonic: () => clock.monotonic(), every: () => clock.after(0, () => undefined) };
  using overload = new Overload({ inFlightMax: 10, turnMsMax: 1_000 }, { clock: stalled, inFlight: () => 0 });
  clock.advance(1_000);
  expect(overload.admits(clock.monotonic())).toBe(true);
  clock.advance(1);
  expect(overload.admits(clock.monotonic())).toBe(false);
  overload.turned();
  expect(overload.admits(clock.monotonic())).toBe(true);
});

test("beyond its requests in flight the gateway refuses with 503 and Retry-After before anything is read, and recovers with them", async () => {
  const released = Promise.withResolvers<void>();
  using node = new StubNode(async (call) => {
    await released.promise;
    return `{"jsonrpc":"2.0","result":5,"id":${call.id}}`;
  });
  await using booted = await bootGateway({ upstreams: { devnet: node }, inFlightMax: 3 });
  const call = (): Promise<Response> => booted.post('{"jsonrpc":"2.0","id":1,"method":"getLatestBlockhash"}');
  const held = [call(), call(), call()];
  for (let turn = 0; turn < 2_000 && node.calls.length < 3; turn += 1) await Bun.sleep(1);
  expect(node.calls.length).toBe(3);
  const refused = await call();
  expect([refused.status, refused.headers.get("x-error-code"), refused.headers.get("retry-after")]).toEqual([
    503,
    "OVERLOADED",
    "1",
  ]);
  expect(refused.headers.get("x-request-id")).not.toBeNull();
  expect(await refused.json()).toMatchObject({ id: null, error: { code: -33513, data: { code: "OVERLOADED" } } });
  expect(booted.facts.length).toBe(0);
  expect((await fetch(`${booted.url}/health`)).status).toBe(200);
  released.resolve();
  for (const answer of held) expect((await answer).status).toBe(200);
  expect((await call()).status).toBe(200);
  expect(node.calls.length).toBe(4);
});
