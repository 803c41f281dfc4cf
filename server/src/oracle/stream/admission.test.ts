import { describe, expect, test } from "bun:test";
import { oracleBounds, oracleTierTerms } from "@sluice/contract/oracle";
import { oracleTiers } from "@sluice/contract/tiers";
import { grantOfTests } from "../../access/testing/grants.ts";
import { connect, enter, settled, streamBoots } from "./testing/stream-clients.ts";

const boot = streamBoots();

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
  const recorded = ({ served }: Awaited<ReturnType<typeof boot>>): string[] =>
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
