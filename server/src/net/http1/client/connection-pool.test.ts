import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { ConnectionPoolOptions, PooledOutcome } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { requestTarget } from "./request-target.ts";
import { answerOf, RawNode } from "./testing/raw-node.ts";

function poolTo(
  url: string,
  options: Partial<ConnectionPoolOptions> = {},
): { pool: ConnectionPool; clock: ManualClock } {
  const clock = new ManualClock();
  const target = requestTarget(url, {});
  return { clock, pool: new ConnectionPool({ target, connectionsMax: 4, waitingMax: 4, ...options }, { clock }) };
}

function call(pool: ConnectionPool, deadlineAt = 60_000): Promise<PooledOutcome["kind"]> {
  return new Promise((resolve) => {
    pool.begin({
      body: "a",
      ownConnection: false,
      answerBytesMax: 1_000,
      streamsFrom: Number.POSITIVE_INFINITY,
      deadlineAt,
      settle: (outcome) => resolve(outcome.kind),
      isRepeated: false,
    });
  });
}

test("an idle connection is closed after its time, or a second before the node says it would", async () => {
  for (const [head, idleMs] of [
    ["", 4_000],
    ["Keep-Alive: timeout=3, max=100\r\n", 2_000],
    ["Keep-Alive: timeout=60\r\n", 4_000],
  ] as const) {
    using node = new RawNode(({ socket }) => void socket.write(answerOf("b", head)));
    const { pool, clock } = poolTo(node.url);
    expect(await call(pool)).toBe("answered");
    clock.advance(idleMs - 1);
    pool.sweep();
    expect([head, pool.connections]).toEqual([head, 1]);
    clock.advance(1);
    pool.sweep();
    expect([head, pool.connections]).toEqual([head, 0]);
    expect(await call(pool)).toBe("answered");
    expect(node.connections.length).toBe(2);
    pool[Symbol.dispose]();
  }
});

test("a connection that the node does not keep at all is closed at once", async () => {
  using node = new RawNode(({ socket }) => void socket.write(answerOf("b", "Keep-Alive: timeout=0\r\n")));
  const { pool } = poolTo(node.url);
  await call(pool);
  expect(pool.connections).toBe(0);
  pool[Symbol.dispose]();
});

test("an attempt that does not come to a connection is given up, and attempts are bounded until they are over", async () => {
  // It takes connections and never shakes hands.
  using node = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { pool, clock } = poolTo(`https://localhost:${node.port}/`, { connectionsMax: 1 });
  const outcome = call(pool);
  const waiting = call(pool);
  clock.advance(5_000);
  pool.sweep();
  expect(await outcome).toBe("unreachable");
  clock.advance(5_000);
  pool.sweep();
  expect(await waiting).toBe("unreachable");
  expect([pool.connections, pool.inFlight]).toEqual([0, 0]);
  pool[Symbol.dispose]();
});

test("a call past its deadline is over wherever it is, on the wire or waiting", async () => {
  using node = new RawNode(() => undefined);
  const { pool, clock } = poolTo(node.url, { connectionsMax: 1 });
  const calls = [call(pool, 1_000), call(pool, 500), call(pool, 1_500)];
  clock.advance(500);
  pool.sweep();
  expect(await calls[1]).toBe("timeout");
  clock.advance(500);
  pool.sweep();
  expect(await calls[0]).toBe("timeout");
  clock.advance(500);
  pool.sweep();
  expect(await calls[2]).toBe("timeout");
  expect(pool.inFlight).toBe(0);
  pool[Symbol.dispose]();
});
