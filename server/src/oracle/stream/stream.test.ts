import { describe, expect, test } from "bun:test";
import { oracleSymbols } from "@sluice/contract/oracle";
import { systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { AppListener } from "../../net/index.ts";
import { decimal } from "../model/decimal.ts";
import { Quotation } from "../model/quotation.ts";
import { priced, tick } from "../testing/rounds.ts";
import { pushEveryMs } from "./stream.ts";
import { enter, settled, streamBoots } from "./testing/stream-clients.ts";

const boot = streamBoots();

describe("what clients are sent", () => {
  test("a client that does not read gets the newest price of each symbol when it reads again, and never a backlog", async () => {
    const server = await boot();
    const { socket, session, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["BTC", "ETH"] });
    await server.say("BTC", "100");
    await settled();
    expect(socket.prices()).toEqual([["BTC", 100]]);
    socket.isFull = true;
    for (let price = 101; price <= 200; price += 1) {
      server.clock.advance(1_000);
      await server.say("BTC", String(100 + (price - 100) / 100));
      await server.say("ETH", String(1_000 + (price - 100) / 100));
      await settled();
    }
    expect(socket.prices()).toEqual([["BTC", 100]]);
    socket.isFull = false;
    session.writable();
    expect(socket.prices()).toEqual([
      ["BTC", 100],
      ["BTC", 101],
      ["ETH", 1_001],
    ]);
    expect(server.counts.get("conflated")).toBe(198);
    expect(server.counts.get("sent")).toBe(3);
  });

  test("prices that were agreed in one turn go out together to those who follow them, and to no other", async () => {
    const server = await boot();
    const key = server.addKey({ oracle: "ultra" });
    const [both, one, none] = [await enter(server, key), await enter(server, key), await enter(server, key)];
    both.say({ type: "subscribe", channel: "prices", symbols: ["BTC", "ETH"] });
    one.say({ type: "subscribe", channel: "prices", symbols: ["ETH"] });
    const corks: string[][] = [];
    Object.assign(both.socket, {
      cork: (work: () => void) => {
        const before = both.socket.texts.length;
        work();
        corks.push(
          both.socket
            .prices()
            .slice(before - both.socket.texts.length)
            .map(([symbol]) => symbol),
        );
      },
    });
    for (const [symbol, price] of [
      ["ETH", "3000"],
      ["BTC", "65000"],
    ] as const) {
      for (const source of ["coinbase", "kraken", "bitstamp"] as const) {
        server.feed.play(tick(source, symbol, server.clock.now(), decimal(price)));
      }
    }
    await settled();
    expect(corks).toEqual([["BTC", "ETH"]]);
    expect(one.socket.prices()).toEqual([["ETH", 3_000]]);
    expect(none.socket.prices()).toEqual([]);
  });

  test("prices of one symbol are at least a quarter of a second apart, and the newest is never held back for good", async () => {
    const server = await boot();
    const { socket, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["BTC"] });
    await server.say("BTC", "100");
    await server.say("BTC", "100.1");
    await server.say("BTC", "100.2");
    await settled();
    expect(socket.prices()).toEqual([["BTC", 100]]);
    server.clock.advance(pushEveryMs - 1);
    await settled();
    expect(socket.prices()).toEqual([["BTC", 100]]);
    server.clock.advance(1);
    await settled();
    expect(socket.prices()).toEqual([
      ["BTC", 100],
      ["BTC", 100.2],
    ]);
  });

  test("no price follows the word that there is none, also not one that waited for its time", async () => {
    const server = await boot();
    const { stream } = server.oracle;
    const { socket, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["BTC", "ETH"] });
    const publish = (symbol: string, price: string): void =>
      stream.publish(new Quotation(priced({ symbol, atMs: server.clock.now(), price }), server.clock.monotonic()));
    const withdraw = (): void => stream.withdraw({ kind: "none", symbol: "BTC", reason: "disagreement", last: null });
    publish("BTC", "100");
    withdraw();
    await settled();
    server.clock.advance(pushEveryMs);
    publish("BTC", "101");
    publish("ETH", "200");
    await settled();
    publish("BTC", "102");
    publish("ETH", "201");
    withdraw();
    server.clock.advance(pushEveryMs);
    // The two waited for the same time, so that with ETH's the other would have come.
    await until(() => socket.prices().some(([, price]) => price === 201));
    const sent = socket.got.slice(2).map(({ price, code }) => price ?? code);
    expect(sent).toEqual([100, "PRICE_UNAVAILABLE", 101, 200, "PRICE_UNAVAILABLE", 201]);
  });

  test("what waits for a client that does not read is forgotten when it unsubscribes", async () => {
    const server = await boot();
    const { socket, session, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["BTC"] });
    socket.isFull = true;
    await server.say("BTC", "100");
    await settled();
    say({ type: "unsubscribe", channel: "prices", symbols: ["BTC"] });
    socket.isFull = false;
    session.writable();
    expect(socket.prices()).toEqual([]);
  });

  test("followers are notified once when a symbol has no price any more", async () => {
    const server = await boot();
    await server.say("SOL", "150");
    const { socket, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["SOL"] });
    // The wall clock alone, so that the next mark finds the whole time passed at once.
    server.clock.jump(server.clock.now() + 120_000);
    server.clock.advance(250);
    await until(() => socket.types().includes("error"));
    server.clock.advance(120_000);
    const reported = socket.got.filter(({ code }) => code === "PRICE_UNAVAILABLE");
    expect(reported).toHaveLength(1);
    expect(reported[0]).toMatchObject({ type: "error", details: { symbol: "SOL", last_price_age_seconds: 120 } });
  });

  test("a client that answers no ping is ended after two, one that does is not", async () => {
    const server = await boot();
    const key = server.addKey({ oracle: "ultra" });
    const [dead, alive] = [await enter(server, key), await enter(server, key)];
    for (let round = 0; round < 3; round += 1) {
      dead.session.tick();
      alive.session.tick();
      alive.session.ponged();
    }
    expect([dead.socket.terminated, alive.socket.terminated, alive.socket.pings]).toEqual([true, false, 3]);
  });

  test("1,000 clients that follow all symbols each get every price, and are gone from the registry when they leave", async () => {
    const server = await boot();
    const key = server.addKey({ oracle: "ultra" });
    await using endpoint = new AppListener(
      { hostname: "127.0.0.1", port: 0 },
      {
        fetch: (request, bindings) => server.oracle.fetch(request, bindings),
        sockets: [server.oracle.stream],
        clock: systemClock,
        requestId: () => "req_x",
        events: { internalError: () => undefined },
      },
    );
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => follow(endpoint.port, key)));
    expect(server.oracle.stream.size).toBe(1_000);
    for (const symbol of oracleSymbols) await server.say(symbol, "1.01");
    await Promise.all(clients.map((client) => client.until(oracleSymbols.length)));
    for (const client of clients) expect([...client.seen].sort()).toEqual([...oracleSymbols].sort());
    await Promise.all(clients.map((client) => client.close()));
    await until(() => server.oracle.stream.size === 0);
  }, 30_000);
});

/** Waits for something that timers or sockets bring, within what even a busy machine needs. */
interface Follower {
  readonly seen: Set<string>;
  until(symbols: number): Promise<void>;
  close(): Promise<void>;
}

/** A real client that has subscribed to everything; what was said of prices before does not count. */
async function follow(port: number, key: string): Promise<Follower> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/ws`);
  const seen = new Set<string>();
  const subscribed = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let enoughSeen = Promise.withResolvers<void>();
  let enough = Number.POSITIVE_INFINITY;
  socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "auth", api_key: key })));
  socket.addEventListener("error", () => subscribed.reject(new Error("the socket failed")));
  socket.addEventListener("close", ({ code }) => {
    subscribed.reject(new Error(`closed with ${code}`));
    gone.resolve();
  });
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data));
    if (message.type === "auth_success") {
      socket.send(JSON.stringify({ type: "subscribe", channel: "prices", symbols: oracleSymbols }));
    } else if (message.type === "subscribed") subscribed.resolve();
    else if (message.type === "price_update") {
      seen.add(message.symbol);
      if (seen.size >= enough) enoughSeen.resolve();
    }
  });
  await subscribed.promise;
  return {
    seen,
    until: (symbols) => {
      enoughSeen = Promise.withResolvers<void>();
      enough = symbols;
      if (seen.size >= enough) enoughSeen.resolve();
      return enoughSeen.promise;
    },
    close: () => {
      socket.close();
      return gone.promise;
    },
  };
}
