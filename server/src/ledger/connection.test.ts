import { expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { LedgerConnection } from "./connection.ts";
import { LedgerUnavailableError } from "./errors.ts";

/** A ClickHouse that answers each request with one row, which says on which connection it came. */
function listen() {
  let connections = 0;
  const held: (() => void)[] = [];
  const engine = { isHolding: false, breaksAll: false, held };
  const server = Bun.listen<{ number: number }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => {
        connections += 1;
        socket.data = { number: connections };
      },
      data: (socket) => {
        if (engine.breaksAll && socket.data.number <= 2) {
          socket.terminate();
          return;
        }
        const body = `${JSON.stringify({ connection: socket.data.number })}\n`;
        const answer = () => {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`);
        };
        if (engine.isHolding) held.push(answer);
        else answer();
      },
    },
  });
  return { engine, url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => server.stop(true) };
}

test("after a broken connection the next call comes on a new one, not on another that lies idle", async () => {
  using clickhouse = listen();
  const address = { url: clickhouse.url, user: "u", password: "p", ca: null, generation: 1 };
  const unreachable = () => undefined;
  const endpoint = { driver: "chdb", count: 1, current: async () => address, unreachable, pid: () => null } as const;
  const dependencies = { endpoint: { ...endpoint, [Symbol.asyncDispose]: async () => undefined }, clock: systemClock };
  await using connection = new LedgerConnection({ database: "d" }, dependencies);
  const ask = async () => (await connection.query<{ connection: number }>("SELECT 1"))[0]?.connection;
  clickhouse.engine.isHolding = true;
  const both = Promise.all([ask(), ask()]);
  while (clickhouse.engine.held.length < 2) await Bun.sleep(1);
  for (const answer of clickhouse.engine.held) answer();
  expect((await both).toSorted()).toEqual([1, 2]);
  clickhouse.engine.isHolding = false;
  clickhouse.engine.breaksAll = true;
  await expect(ask()).rejects.toBeInstanceOf(LedgerUnavailableError);
  expect(await ask()).toBe(3);
});
