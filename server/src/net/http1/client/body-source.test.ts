import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { BodySource } from "./body-source.ts";
import type { ConnectionPoolOptions, PooledOutcome } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { requestTarget } from "./request-target.ts";
import { RawNode } from "./testing/raw-node.ts";

interface Booted extends Disposable {
  readonly node: RawNode;
  readonly pool: ConnectionPool;
  readonly clock: ManualClock;
  ask(): Promise<PooledOutcome>;
  /** Asks and gives the source of the answer, which the node begins with `sent` of `stated` bytes. */
  stream(): Promise<BodySource>;
}

function boot(stated: number, sent: number, options: Partial<ConnectionPoolOptions> = {}): Booted {
  const clock = new ManualClock();
  const node = new RawNode(
    ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${stated}\r\n\r\n${"a".repeat(sent)}`),
  );
  const target = requestTarget(node.url, {});
  const pool = new ConnectionPool({ target, connectionsMax: 4, waitingMax: 4, ...options }, { clock });
  const ask = (): Promise<PooledOutcome> =>
    new Promise((settle) => {
      const deadlineAt = clock.monotonic() + 1_000;
      const call = { body: "a", ownConnection: false, isRepeated: false, answerBytesMax: 10_000_000 };
      pool.begin({ ...call, streamsFrom: 1_000, deadlineAt, settle });
    });
  return {
    node,
    pool,
    clock,
    ask,
    stream: async () => {
      const outcome = await ask();
      if (outcome.kind !== "streaming") throw new Error(outcome.kind);
      return outcome.source;
    },
    [Symbol.dispose]: () => {
      pool[Symbol.dispose]();
      node[Symbol.dispose]();
    },
  };
}

async function read(source: BodySource, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; ) left -= (await source.next())?.length ?? Number.POSITIVE_INFINITY;
}

test("after a body that was handed out while it came, the connection carries the next call", async () => {
  using booted = boot(3_000, 2_000);
  const source = await booted.stream();
  await read(source, 2_000);
  booted.node.connections[0]?.socket.write("b".repeat(1_000));
  await read(source, 1_000);
  expect(await source.next()).toBeNull();
  // A caller that holds the source for longer cannot touch the connection any more.
  await booted.stream();
  source.cancel();
  expect([booted.node.connections.length, booted.pool.connections]).toEqual([1, 1]);
});

test("a body that is gathered keeps the call's own deadline, one that is passed on may take longer while it moves", async () => {
  using booted = boot(3_000, 2_000);
  const gathered = await booted.stream();
  await read(gathered, 2_000);
  booted.clock.advance(1_000);
  booted.pool.sweep();
  await expect(gathered.next()).rejects.toThrow("timeout");

  const passedOn = await booted.stream();
  passedOn.passOn();
  await read(passedOn, 2_000);
  booted.pool.sweep();
  booted.clock.advance(29_999);
  booted.pool.sweep();
  booted.node.connections[1]?.socket.write("b".repeat(500));
  await read(passedOn, 500);
  booted.pool.sweep();
  booted.clock.advance(29_999);
  booted.pool.sweep();
  const next = passedOn.next();
  booted.clock.advance(1);
  booted.pool.sweep();
  await expect(next).rejects.toThrow("timeout");
  expect([booted.pool.connections, booted.pool.inFlight]).toEqual([0, 0]);
});

test("a body that is not read holds its connection for a minute, and none is held for more than ten", async () => {
  using booted = boot(2_000_000, 900_000);
  const unread = await booted.stream();
  unread.passOn();
  // So much waits that it is the reader's turn.
  while (!unread.isPaused) await Bun.sleep(1);
  booted.pool.sweep();
  booted.clock.advance(30_000);
  booted.pool.sweep();
  expect(booted.pool.connections).toBe(1);
  booted.clock.advance(30_000);
  booted.pool.sweep();
  expect(booted.pool.connections).toBe(0);
  await expect(read(unread, 2_000_000)).rejects.toThrow("unread");

  using trickling = boot(1_000_000, 2_000);
  const slow = await trickling.stream();
  slow.passOn();
  await read(slow, 2_000);
  for (let turn = 0; turn < 29; turn += 1) {
    trickling.clock.advance(20_000);
    trickling.node.connections[0]?.socket.write("b");
    await read(slow, 1);
  }
  // Its time began with the pool's first sweep.
  trickling.clock.advance(20_050);
  await expect(slow.next()).rejects.toThrow("timeout");
});

test("what is cancelled, and what its node cuts, frees its connection for who waits", async () => {
  using booted = boot(3_000, 2_000, { connectionsMax: 1 });
  const first = await booted.stream();
  const second = booted.stream();
  expect(booted.pool.inFlight).toBe(2);
  first.cancel();
  await expect(first.next()).rejects.toThrow("unread");
  const cut = await second;
  booted.node.connections[1]?.socket.terminate();
  await expect(read(cut, 3_000)).rejects.toThrow("malformed");
  expect([booted.pool.connections, booted.pool.inFlight]).toEqual([0, 0]);
});

test("bodies that are read slowly hold no more than half of a node's connections", async () => {
  using booted = boot(3_000, 2_000, { connectionsMax: 4 });
  const held = [await booted.stream(), await booted.stream()];
  expect((await booted.ask()).kind).toBe("overloaded");
  held[0]?.cancel();
  await booted.stream();
});

test("a socket is paused while too much waits, and resumed when it was read or the body is over", async () => {
  const reported: string[] = [];
  const flow = {
    pause: () => void reported.push("pause"),
    resume: () => void reported.push("resume"),
    abandon: () => void reported.push("abandon"),
  };
  const source = new BodySource(flow);
  source.push(new Uint8Array(256 * 1024));
  expect(reported).toEqual([]);
  source.push(new Uint8Array(1));
  source.push(new Uint8Array(1));
  expect(reported).toEqual(["pause"]);
  await source.next();
  expect(reported).toEqual(["pause", "resume"]);
  source.push(new Uint8Array(600 * 1024));
  source.end();
  expect(reported).toEqual(["pause", "resume", "pause", "resume"]);
  source.cancel();
  expect(reported.length).toBe(4);
});
