import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { LiveStreams } from "./live-stream.ts";
import { openConsoleStand } from "./testing/console-stand.ts";

const of = (holder: string) => ({ holder, method: "GET" });

function open() {
  const clock = new ManualClock();
  const closing = new AbortController();
  let listeners = 0;
  const signal = {
    get aborted() {
      return closing.signal.aborted;
    },
    addEventListener: (...args: Parameters<AbortSignal["addEventListener"]>) => {
      listeners += 1;
      closing.signal.addEventListener(...args);
    },
  } as AbortSignal;
  const live = new LiveStreams({ clock, everyMs: 1_000, closing: signal });
  return { live, clock, closing, listeners: () => listeners };
}

test("streams that come and go leave nothing behind, however many there were", async () => {
  const { live, clock, listeners } = open();
  for (let index = 0; index < 2_000; index += 1) {
    const { body } = live.open(of("a"), async () => index);
    await body?.cancel();
  }
  expect([live.size, listeners(), clock.pendingTimers]).toEqual([0, 1, 0]);
});

test("an account has twenty streams, and one that ends makes room for another", async () => {
  const { live } = open();
  const bodies = Array.from({ length: 20 }, () => live.open(of("a"), async () => 1).body);
  expect(() => live.open(of("a"), async () => 1)).toThrow("20 live streams");
  live.open(of("b"), async () => 1);
  await bodies[7]?.cancel();
  live.open(of("a"), async () => 1);
  expect(() => live.open(of("a"), async () => 1)).toThrow("20 live streams");
  expect(live.size).toBe(21);
});

test("a stream whose reading keeps failing ends, and gives its place back", async () => {
  const { live, clock } = open();
  const reader = live
    .open(of("a"), async () => {
      throw new Error("away");
    })
    .body?.getReader();
  for (let beat = 0; beat < 5; beat += 1) {
    await Promise.resolve();
    await Promise.resolve();
    clock.advance(1_000);
  }
  expect(await reader?.read()).toMatchObject({ done: true });
  expect(live.size).toBe(0);
});

test("all streams end when the server drains, and no more are opened", async () => {
  const { live, closing } = open();
  const readers = ["a", "b"].map((account) => live.open(of(account), async () => 1).body?.getReader());
  for (const reader of readers) await reader?.read();
  closing.abort();
  for (const reader of readers) expect(await reader?.read()).toMatchObject({ done: true });
  expect(live.size).toBe(0);
  expect(() => live.open(of("a"), async () => 1)).toThrow("busy");
});

test("HEAD of a stream is its headers, and holds no place", async () => {
  await using stand = await openConsoleStand();
  const { key } = await stand.key(await stand.account(), ["read"]);
  for (let index = 0; index < 30; index += 1) {
    const answer = await stand.ask("live", { method: "HEAD", headers: { "x-api-key": key } });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  }
});

test("a live console ends soon after its key is revoked", async () => {
  await using stand = await openConsoleStand();
  const { id, key } = await stand.key(await stand.account(), ["read"]);
  const cookie = await stand.signIn(key);
  const reader = (await stand.ask("live", { headers: { cookie } })).body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  expect(first).toContain('"networkState":"operational"');
  await stand.state.keys.setStatus(id, "revoked");
  const ended = reader?.read();
  for (let beat = 0; beat < 6; beat += 1) {
    stand.clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await ended).toMatchObject({ done: true });
});
