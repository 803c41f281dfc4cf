import { afterEach, describe, expect, test } from "bun:test";
import { oracleBounds, oracleSymbols, oracleTierTerms } from "@sluice/contract/oracle";
import { oracleTiers } from "@sluice/contract/tiers";
import { systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { grantOfTests } from "../../access/testing/grants.ts";
import { AppListener } from "../../net/index.ts";
import { decimal } from "../model/decimal.ts";
import { Quotation } from "../model/quotation.ts";
import { bootOracle } from "../testing/booted-oracle.ts";
import { priced, tick } from "../testing/rounds.ts";
import type { StreamSession } from "./session.ts";
import { pushEveryMs } from "./stream.ts";

/** A client whose reading is played: while `isFull` nothing leaves, as with a peer that does not read. */
class PlayedSocket {
  // biome-ignore lint/suspicious/noExplicitAny: messages are asserted on, member by member.
  readonly got: any[] = [];
  readonly texts: string[] = [];
  closed: number | null = null;
  terminated = false;
  pings = 0;
  isFull = false;
  readonly #gone = Promise.withResolvers<number>();
  readonly gone = this.#gone.promise;

  send(data: string): number {
    this.texts.push(data);
    this.got.push(JSON.parse(data));
    return data.length;
  }
  close(code = 1000): void {
    this.closed ??= code;
    this.#gone.resolve(code);
  }
  terminate(): void {
    this.terminated = true;
  }
  ping(): number {
    this.pings += 1;
    return 1;
  }
  getBufferedAmount(): number {
    return this.isFull ? 1_000_000 : 0;
  }
  types(): string[] {
    return this.got.map((message) => message.type);
  }
  prices(): [string, number][] {
    return this.got.filter(({ type }) => type === "price_update").map(({ symbol, price }) => [symbol, price]);
  }
}

type Booted = Awaited<ReturnType<typeof bootOracle>>;
let booted: Booted | null = null;
const boot = async (options: Parameters<typeof bootOracle>[0] = {}): Promise<Booted> => {
  booted = await bootOracle(options);
  return booted;
};
afterEach(async () => {
  await booted?.dispose();
  booted = null;
});

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function connect({ oracle }: Booted): {
  session: StreamSession;
  socket: PlayedSocket;
  say: (message: unknown) => void;
} {
  const request = new Request("http://oracle.test/api/v1/ws");
  const session = oracle.stream.begin(request, { requestIP: () => ({ address: "127.0.0.1" }) });
  const socket = new PlayedSocket();
  session.opened(socket);
  return { session, socket, say: (message) => session.received(JSON.stringify(message)) };
}

async function enter(server: Booted, key: string): Promise<ReturnType<typeof connect>> {
  const client = connect(server);
  client.say({ type: "auth", api_key: key });
  await settled();
  return client;
}

describe("who may follow prices", () => {
  test("the tiers that the table says, with their tier; every other is closed with 4403", async () => {
    const server = await boot();
    for (const tier of oracleTiers) {
      const { socket } = await enter(server, server.addKey({ oracle: tier }));
      if (oracleTierTerms[tier].webSocketConnections > 0) {
        expect([tier, socket.got, socket.closed]).toEqual([tier, [{ type: "auth_success", tier }], null]);
      } else {
        expect([tier, socket.got[0]?.code, socket.closed]).toEqual([tier, "INSUFFICIENT_TIER", 4403]);
      }
    }
    expect(oracleTiers.filter((tier) => oracleTierTerms[tier].webSocketConnections > 0)).toEqual([
      "enterprise",
      "ultra",
    ]);
  });

  test("nothing is taken before auth, a wrong key is closed with 4401, and silence too", async () => {
    const server = await boot({ authMs: 5 });
    const early = connect(server);
    early.say({ type: "subscribe", channel: "prices", symbols: ["BTC"] });
    expect([early.socket.got[0]?.code, early.socket.closed]).toEqual(["MISSING_API_KEY", 4401]);
    const wrong = await enter(server, "sk_dev_wrong");
    expect([wrong.socket.got[0]?.code, wrong.socket.closed]).toEqual(["INVALID_API_KEY", 4401]);
    const silent = connect(server);
    server.clock.advance(5);
    expect(await silent.socket.gone).toBe(4401);
  });

  test("a key that may not be used from here is closed with 4403, one without requests left with 4402", async () => {
    const server = await boot();
    server.restrict("IP_NOT_ALLOWED");
    const key = server.addKey({ oracle: "enterprise" }, "acct_e");
    expect((await enter(server, key)).socket.closed).toBe(4403);
    server.restrict(null);
    await server.stores.v1.lease("acct_e", "2026-11", 1_000_000n, null, null);
    expect((await enter(server, key)).socket.closed).toBe(4402);
  });

  test("connections of an account are bounded by its tier, and a place is free again when one leaves", async () => {
    const server = await boot();
    const key = server.addKey({ oracle: "enterprise" });
    const clients: ReturnType<typeof connect>[] = [];
    for (let index = 0; index < oracleTierTerms.enterprise.webSocketConnections; index += 1) {
      clients.push(await enter(server, key));
      server.clock.advance(100);
    }
    expect(clients.every(({ socket }) => socket.closed === null)).toBe(true);
    expect((await enter(server, key)).socket.closed).toBe(4429);
    server.clock.advance(1_000);
    clients[0]?.session.closed(1000);
    expect((await enter(server, key)).socket.closed).toBeNull();
  });

  test("clients that have not said who they are are bounded in number", async () => {
    const server = await boot();
    const waiting = Array.from({ length: oracleBounds.socketsUnknownMax }, () => connect(server));
    expect(connect(server).socket.closed).toBe(4503);
    for (const { session } of waiting) session.closed(1000);
    expect(connect(server).socket.closed).toBeNull();
  });

  test("a key that is revoked, or whose tier falls, ends its connections at once", async () => {
    const server = await boot();
    const [first, second] = [server.addKey({ oracle: "ultra" }), server.addKey({ oracle: "enterprise" })];
    const revoked = await enter(server, first);
    const fallen = await enter(server, second);
    server.oracle.stream.recheck();
    await settled();
    expect([revoked.socket.closed, fallen.socket.closed]).toEqual([null, null]);
    server.grants.delete(first);
    const grant = server.grants.get(second);
    if (grant === undefined) throw new Error("no grant");
    server.grants.set(second, { ...grant, tiers: grantOfTests.tiers });
    server.oracle.stream.recheck();
    await settled();
    expect([revoked.socket.closed, fallen.socket.closed]).toEqual([4401, 4403]);
  });
});

describe("records of refused clients", () => {
  const recorded = ({ served }: Booted): string[] =>
    served
      .filter(({ method }) => method === "/api/v1/ws")
      .map(({ accountId, status, code }) => `${accountId} ${status} ${code}`);

  test("a client whose account is known has a record with the code that it was told, under its request id", async () => {
    const server = await boot();
    const key = server.addKey({ oracle: "community" }, "acct_c");
    server.clock.advance(70);
    const { session, socket, say } = connect(server);
    server.clock.advance(30);
    say({ type: "auth", api_key: key });
    await settled();
    expect(server.served).toEqual([
      {
        at: server.clock.now(),
        requestId: session.requestId,
        accountId: "acct_c",
        keyId: server.grants.get(key)?.keyId ?? "",
        network: "",
        door: "rest",
        method: "/api/v1/ws",
        status: 4403,
        rpcCode: null,
        latencyMs: 30,
        bytesIn: 0,
        bytesOut: Buffer.byteLength(socket.texts[0] ?? ""),
        credits: 0,
        code: "INSUFFICIENT_TIER",
        cache: "",
        upstream: "",
      },
    ]);
  });

  test("restriction, permission, places, quota and a store that fails each have their code", async () => {
    const server = await boot();
    const key = server.addKey({ oracle: "enterprise" }, "acct_e");
    server.restrict("IP_NOT_ALLOWED");
    await enter(server, key);
    server.restrict(null);
    await enter(server, server.addKey({ oracle: "enterprise" }, "acct_p", []));
    const { webSocketConnections } = oracleTierTerms.enterprise;
    for (let index = 0; index <= webSocketConnections; index += 1) {
      await enter(server, key);
      server.clock.advance(100);
    }
    await server.stores.v1.lease("acct_q", "2026-11", 1_000_000n, null, null);
    await enter(server, server.addKey({ oracle: "enterprise" }, "acct_q"));
    server.stores.v1.isDown = true;
    await enter(server, server.addKey({ oracle: "enterprise" }, "acct_s"));
    expect(recorded(server)).toEqual([
      "acct_e 4403 PERMISSION_DENIED",
      "acct_p 4403 PERMISSION_DENIED",
      "acct_e 4429 RATE_LIMIT_EXCEEDED",
      "acct_q 4402 QUOTA_EXCEEDED",
      "acct_s 4503 SERVICE_UNAVAILABLE",
    ]);
  });

  test("an end after the client was let in is recorded once: its key was revoked, or it sends too much", async () => {
    const server = await boot();
    const [first, second] = [
      server.addKey({ oracle: "ultra" }, "acct_1"),
      server.addKey({ oracle: "ultra" }, "acct_2"),
    ];
    await enter(server, first);
    const chatty = await enter(server, second);
    server.grants.delete(first);
    server.clock.advance(3_600_000);
    server.oracle.stream.recheck();
    await settled();
    for (let index = 0; index < oracleBounds.socketMessagesPerSecond + 5; index += 1) chatty.say({ type: "x" });
    expect(recorded(server)).toEqual(["acct_1 4401 INVALID_API_KEY", "acct_2 4429 RATE_LIMIT_EXCEEDED"]);
    // Found by when it ended, not by when it was opened.
    expect(server.served.map(({ at }) => at)).toEqual([server.clock.now(), server.clock.now()]);
  });

  test("a client whose account is not known has none, and neither has one that leaves by itself", async () => {
    const server = await boot({ authMs: 5 });
    await enter(server, "sk_dev_wrong");
    connect(server).say({ type: "subscribe", channel: "prices", symbols: ["BTC"] });
    connect(server);
    server.clock.advance(5);
    const { session } = await enter(server, server.addKey({ oracle: "ultra" }));
    session.closed(1000);
    expect(server.served).toEqual([]);
  });
});

describe("what clients say", () => {
  test("a symbol in letters that are not ASCII is not taken for one, and is repeated in whole characters", async () => {
    const server = await boot();
    const { socket, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    for (const symbol of ["un\u0131", `${"A".repeat(31)}\u{1f600}\ud83d`]) {
      say({ type: "subscribe", channel: "prices", symbols: [symbol] });
      expect(socket.got.at(-1)).toMatchObject({ type: "error", code: "INVALID_SYMBOL" });
      expect(socket.texts.at(-1)?.isWellFormed()).toBe(true);
      expect(socket.texts.at(-1)).not.toContain("\\ud83d");
    }
  });

  test("subscriptions are acknowledged in order, each symbol once, in any letter case, and taken back", async () => {
    const server = await boot();
    await server.say("BTC", "65000");
    const { socket, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["btc", "ETH", "BTC"] });
    expect(socket.got[1]).toEqual({ type: "subscribed", channel: "prices", symbols: ["BTC", "ETH"] });
    expect(socket.prices()).toEqual([["BTC", 65_000]]);
    say({ type: "unsubscribe", channel: "prices", symbols: ["BTC"] });
    expect(socket.got.at(-1)).toEqual({ type: "unsubscribed", channel: "prices", symbols: ["BTC"] });
    server.clock.advance(1_000);
    await server.say("BTC", "65001");
    expect(socket.prices()).toHaveLength(1);
  });

  test("a price message is the whole price record, digit by digit", async () => {
    const server = await boot();
    await server.say("ETH", "3000.000000000000000001");
    const key = server.addKey({ oracle: "ultra" });
    const { socket, say } = await enter(server, key);
    say({ type: "subscribe", channel: "prices", symbols: ["ETH"] });
    const record = await server.get("/api/v1/price/ETH", key);
    expect(socket.texts.at(-1)).toBe(`{"type":"price_update",${record.text.slice(1)}`);
    expect(record.text).toContain('"price":3000.000000000000000001,');
  });

  test("what is no message, no channel or no symbol is answered with an error, and nothing is subscribed", async () => {
    const deepSubscription = `{"type":"subscribe","channel":"prices","symbols":[${"[".repeat(7_000)}${"]".repeat(7_000)}]}`;
    const server = await boot();
    const { socket, session, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    const wrong: [unknown, string][] = [
      ["{", "INVALID_PARAMETER"],
      [[], "INVALID_PARAMETER"],
      [{ type: "hello" }, "INVALID_PARAMETER"],
      [{ type: "subscribe", symbols: ["BTC"] }, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices" }, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices", symbols: [] }, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices", symbols: ["BTC", "DOGE"] }, "INVALID_SYMBOL"],
      [{ type: "subscribe", channel: "prices", symbols: ["BTC", { a: 1 }] }, "INVALID_PARAMETER"],
      // Neither can be turned into a text: one has no way to, the other nests too deep.
      [{ type: "subscribe", channel: "prices", symbols: [{ toString: 1 }] }, "INVALID_PARAMETER"],
      [deepSubscription, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices", symbols: Array.from({ length: 51 }, () => "BTC") }, "TOO_MANY_SYMBOLS"],
      [{ type: "auth", api_key: 7 }, "INVALID_PARAMETER"],
      [{ type: "auth", api_key: "again" }, "INVALID_PARAMETER"],
    ];
    for (const [message, code] of wrong) {
      if (typeof message === "string") session.received(message);
      else say(message);
      await settled();
      expect([message, socket.got.at(-1)?.type, socket.got.at(-1)?.code]).toEqual([message, "error", code]);
    }
    expect(session.symbols.size).toBe(0);
    expect(socket.closed).toBeNull();
  });

  test("too many messages in a second close with 4429, a message that is too large with 1009", async () => {
    const server = await boot();
    const chatty = await enter(server, server.addKey({ oracle: "ultra" }));
    for (let index = 0; index < oracleBounds.socketMessagesPerSecond; index += 1) chatty.say({ type: "x" });
    expect(chatty.socket.closed).toBe(4429);
    const large = connect(server);
    large.session.received("x".repeat(oracleBounds.socketMessageBytes + 1));
    expect(large.socket.closed).toBe(1009);
  });
});

describe("what clients are sent", () => {
  test("a client that does not read gets the newest price of each symbol when it reads again, and never a backlog", async () => {
    const server = await boot();
    const { socket, session, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["BTC", "ETH"] });
    await server.say("BTC", "100");
    expect(socket.prices()).toEqual([["BTC", 100]]);
    socket.isFull = true;
    for (let price = 101; price <= 200; price += 1) {
      server.clock.advance(1_000);
      await server.say("BTC", String(100 + (price - 100) / 100));
      await server.say("ETH", String(1_000 + (price - 100) / 100));
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

  test("no price follows the word that there is none, neither of the same turn nor one that waited for its time", async () => {
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
    expect(socket.prices()).toEqual([
      ["BTC", 101],
      ["ETH", 200],
      ["ETH", 201],
    ]);
    expect(socket.types().filter((type) => type === "error").length).toBe(2);
  });

  test("what waits for a client that does not read is forgotten when it unsubscribes", async () => {
    const server = await boot();
    const { socket, session, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["BTC"] });
    socket.isFull = true;
    await server.say("BTC", "100");
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
