import { expect, test } from "bun:test";
import { type BootedGateway, bootGateway, testGrant, testKey } from "../../gateway/testing/booted-gateway.ts";
import { StubNode } from "../../upstreams/testing/stub-node.ts";
import { PubSubClient } from "./testing/pubsub-client.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";

interface WithOptions {
  readonly reportEveryMs?: number;
  readonly allowUnknownMethods?: boolean;
}

async function withGateway(
  use: (booted: BootedGateway, node: StubNode) => Promise<void>,
  options: WithOptions = {},
): Promise<void> {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`);
  await using booted = await bootGateway({ ...options, upstreams: { devnet: node } });
  await use(booted, node);
  expect(booted.faults).toEqual([]);
}

/** Lets a test's node say what it likes to a client of its own. */
const passing = { allowUnknownMethods: true } as const;
/** A call that is passed to the node as it is. */
const passed = '{ "jsonrpc":"2.0", "id": 1,\t"method":"tellMe","params":{"rentEpoch":18446744073709551615} }';

test("a call of an unknown method and what the node says to it pass byte for byte, on /rpc, / and the PubSub port", () =>
  withGateway(async (booted, node) => {
    node.onPubSub = (socket, text) => {
      socket.send(`{"echo":${text},"rentEpoch":18446744073709551615}\n`);
      socket.send(new Uint8Array([0, 255, 128]));
    };
    const clients = [
      new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`),
      new PubSubClient(`${booted.ws}/`, { "x-api-key": testKey }),
      new PubSubClient(`${booted.pubsubWs}/?api-key=${testKey}`),
    ];
    for (const client of clients) {
      await client.opened;
      client.socket.send(passed);
      await client.until(2);
      expect(client.received[0]).toBe(`{"echo":${passed},"rentEpoch":18446744073709551615}\n`);
      expect(new Uint8Array(client.received[1] as ArrayBuffer)).toEqual(new Uint8Array([0, 255, 128]));
      client.socket.close();
      await client.closed;
    }
    expect(node.pubsubReceived).toEqual([passed, passed, passed]);
  }, passing));

test("no connection to a node is made for a client that has asked for nothing", () =>
  withGateway(async (booted, node) => {
    const before = node.sockets.size;
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    client.socket.send('{"jsonrpc":"2.0","method":"ping"}');
    client.socket.send('{"jsonrpc":"2.0","id":1,"method":"nosuchSubscribe"}');
    await client.until(1);
    expect([node.sockets.size, client.received.length]).toEqual([before, 1]);
    client.socket.close();
  }));

test("what a client says before the node is reached is not lost", () =>
  withGateway(async (booted, node) => {
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    const texts = Array.from({ length: 20 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"tellMe"}`);
    for (const text of texts) client.socket.send(text);
    while (node.pubsubReceived.length < 20) await Bun.sleep(1);
    expect(node.pubsubReceived).toEqual(texts);
    client.socket.close();
  }, passing));

test("a bad key is reported on the socket and closed with 4401, a broken restriction with 4403", () =>
  withGateway(async (booted) => {
    const stranger = new PubSubClient(`${booted.ws}/rpc?api-key=nobody`);
    expect(await stranger.closed).toBe(4401);
    expect(JSON.parse(String(stranger.received[0])).error.data.code).toBe("INVALID_API_KEY");
    booted.fakes.restriction = () => "DOMAIN_NOT_ALLOWED";
    expect(await new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`).closed).toBe(4403);
    const elsewhere = new PubSubClient(`${booted.ws}/rpc/moon?api-key=${testKey}`);
    expect(await elsewhere.closed).toBe(4403);
    expect(String(elsewhere.received[0])).toContain("There is no network of that name");
    // The stranger belongs to no account.
    expect(booted.facts.map(({ status, code, keyId }) => [status, code, keyId])).toEqual([
      [4403, "DOMAIN_NOT_ALLOWED", testGrant.keyId],
      [4403, "INVALID_REQUEST", testGrant.keyId],
    ]);
  }));

test("a key without read gets no connection, and one that loses it loses the connection", () =>
  withGateway(async (booted) => {
    const open = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await open.opened;
    booted.fakes.authenticate = () => ({ ...testGrant, permissions: ["bundles:write"] });
    const refused = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    expect(await refused.closed).toBe(4403);
    expect(JSON.parse(String(refused.received[0])).error.data.code).toBe("PERMISSION_DENIED");
    booted.pubsub.recheck();
    expect(await open.closed).toBe(4403);
  }));

test("what a key may not call is answered in its place, however it is said, and the rest goes on", () =>
  withGateway(async (booted, node) => {
    node.onPubSub = (socket, text) => {
      socket.send(`{"jsonrpc":"2.0","result":8,"id":${JSON.stringify(JSON.parse(text).id)}}`);
    };
    booted.fakes.authenticate = () => ({
      ...testGrant,
      permissions: ["read"],
      methods: { exact: new Set(["accountSubscribe"]), prefixes: ["send"] },
    });
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    const call = (id: number, method: string, params: readonly unknown[] = []): string =>
      JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const permitted = [call(8, "accountSubscribe", [address]), call(9, "accountUnsubscribe", [1])];
    const said: readonly [string | Uint8Array<ArrayBuffer>, string][] = [
      [call(1, "slotSubscribe"), "-33443"],
      [call(2, "sendTransaction"), "-33433"],
      [call(3, "slotSubscribe").replace("slotS", "\\u0073lotS"), "-33443"],
      [new TextEncoder().encode(call(4, "slotSubscribe")), "-33443"],
      [`[${call(6, "accountSubscribe", ["bad"])},${call(5, "slotSubscribe")}]`, "-33443"],
      ['{"jsonrpc":"2.0","method":"sendTransaction","params":[],"id":null}', "-32600"],
    ];
    for (const [index, [message, code]] of said.entries()) {
      client.socket.send(message);
      await client.until(index + 1);
      expect([index, String(client.received[index])]).toEqual([index, expect.stringContaining(`"code":${code},`)]);
    }
    expect(node.pubsubReceived).toEqual([]);
    for (const [index, message] of permitted.entries()) {
      client.socket.send(message);
      await client.until(said.length + index + 1);
    }
    expect(client.received.slice(-2)).toEqual([
      '{"jsonrpc":"2.0","result":1,"id":8}',
      '{"jsonrpc":"2.0","result":true,"id":9}',
    ]);
    client.socket.close();
  }));

test("a network without nodes closes with 4503, an exhausted bucket with 4429", () =>
  withGateway(async (booted) => {
    expect(await new PubSubClient(`${booted.ws}/rpc/mainnet?api-key=${testKey}`).closed).toBe(4503);
    booted.fakes.take = () => ({ allowed: false });
    expect(await new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`).closed).toBe(4429);
    expect(booted.facts.map(({ network, status, rpcCode, code }) => [network, status, rpcCode, code])).toEqual([
      ["mainnet", 4503, -33503, "NETWORK_UNAVAILABLE"],
      ["devnet", 4429, -33429, "RATE_LIMIT_EXCEEDED"],
    ]);
  }));

test("a tier's connections are counted for its account and given back", () =>
  withGateway(async (booted) => {
    const url = `${booted.ws}/rpc?api-key=${testKey}`;
    const held = Array.from({ length: 5 }, () => new PubSubClient(url));
    await Promise.all(held.map((client) => client.opened));
    expect(await new PubSubClient(url).closed).toBe(4429);
    held[0]?.socket.close();
    await held[0]?.closed;
    while (booted.gateway.sockets > 4) await Bun.sleep(1);
    const again = new PubSubClient(url);
    await again.opened;
    again.socket.send("{}");
    expect(again.socket.readyState).toBe(WebSocket.OPEN);
    for (const client of [...held, again]) client.socket.close();
  }));

test("a message over 4 KiB closes with 1009, more than 50 in a second with 4429", () =>
  withGateway(async (booted) => {
    const wordy = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await wordy.opened;
    wordy.socket.send("x".repeat(4_097));
    expect(await wordy.closed).toBe(1009);
    expect(wordy.received).toEqual([]);
    const busy = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await busy.opened;
    for (let index = 0; index < 51; index += 1) busy.socket.send("{}");
    expect(await busy.closed).toBe(4429);
    expect(busy.received.at(-1)).toContain('"code":"RATE_LIMIT_EXCEEDED"');
  }));

test("what is sent costs a credit for each started 0.1 MB, and closes with 4402 when there is none", () =>
  withGateway(async (booted, node) => {
    booted.fakes.creditsLeft = 2;
    node.onPubSub = (socket) => void socket.send("x".repeat(60_000));
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    client.socket.send(passed);
    await client.until(1);
    expect(booted.fakes.creditsLeft).toBe(1);
    client.socket.send(passed);
    await client.until(2);
    expect(booted.fakes.creditsLeft).toBe(0);
    client.socket.send(passed);
    client.socket.send(passed);
    expect(await client.closed).toBe(4402);
    while (booted.facts.length < 1) await Bun.sleep(1);
    // What could not be paid is no cost: the last message went out before its credit was asked for.
    expect(booted.facts[0]).toMatchObject({ method: "pubsub", status: 4402, upstream: "devnet-1", credits: 2 });
  }, passing));

test("a connection whose credits no store can lease is closed with 4503, and no month is said to be used up", () =>
  withGateway(async (booted, node) => {
    booted.fakes.creditsAway = true;
    node.onPubSub = (socket) => void socket.send("x".repeat(60_000));
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    client.socket.send(passed);
    expect(await client.closed).toBe(4503);
    expect(client.received.map(String).at(-1)).toContain('"code":"STORE_UNAVAILABLE"');
    while (booted.facts.length < 1) await Bun.sleep(1);
    expect(booted.facts[0]).toMatchObject({ method: "pubsub", status: 4503, credits: 0 });
  }, passing));

test("what passes is reported while the connection lasts, and the rest at its end; the sums are exact", () =>
  withGateway(
    async (booted, node) => {
      booted.fakes.creditsAsync = true;
      node.onPubSub = (socket) => void socket.send("x".repeat(150_000));
      const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
      await client.opened;
      booted.gateway.tick();
      expect(booted.facts).toEqual([]);
      for (const count of [1, 2, 3]) {
        client.socket.send(passed);
        await client.until(count);
        if (count < 3) booted.gateway.tick();
      }
      client.socket.close(1000);
      await client.closed;
      while (booted.facts.length < 3) await Bun.sleep(1);
      expect(booted.facts.map(({ status, bytesIn, bytesOut }) => [status, bytesIn, bytesOut])).toEqual([
        [101, passed.length, 150_000],
        [101, passed.length, 150_000],
        [1000, passed.length, 150_000],
      ]);
      const credits = booted.facts.reduce((sum, fact) => sum + fact.credits, 0);
      // 450,000 bytes are five started tenths of a megabyte.
      expect([credits, booted.fakes.creditsLeft]).toEqual([5, 999_995]);
    },
    { reportEveryMs: 0, ...passing },
  ));

test("a handshake of another version is answered with the version that is spoken", () =>
  withGateway(async (booted) => {
    for (const version of ["8", ""]) {
      const headers = { Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": version };
      const answer = await fetch(`http://127.0.0.1:${booted.port}/rpc?api-key=${testKey}`, { headers });
      expect([answer.status, answer.headers.get("sec-websocket-version")]).toEqual([426, "13"]);
    }
  }));

test("a client that does not read is closed with 4408 and holds only a bounded buffer", () =>
  withGateway(async (booted, node) => {
    booted.fakes.authenticate = () => ({ ...testGrant, accountId: "acc_slow" });
    const handshake = `GET /rpc?api-key=${testKey} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
    const upgraded = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: booted.port,
      socket: { data: () => upgraded.resolve(), close: () => {}, error: () => {} },
    });
    socket.write(handshake);
    await upgraded.promise;
    const call = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tellMe"}');
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | call.length, 0, 0, 0, 0]), call]));
    socket.pause();
    while (node.sockets.size < 2) await Bun.sleep(1);
    const chunk = "x".repeat(1024 * 1024);
    for (let sent = 0; sent < 40; sent += 1) {
      for (const peer of node.sockets) peer.send(chunk);
      await Bun.sleep(2);
    }
    // The closing frame waits behind what is not read; the next tick ends the connection.
    booted.gateway.tick();
    while (booted.facts.length < 1) await Bun.sleep(1);
    socket.terminate();
    expect(booted.facts[0]).toMatchObject({ status: 4408 });
    expect(booted.facts[0]?.bytesOut).toBeLessThan(40 * 1024 * 1024);
  }, passing));

test("messages over the account's rate wait for it in their order, and the connection whose wait is too long ends with 4408", () =>
  withGateway(async (booted, node) => {
    let tokens = 2;
    booted.fakes.take = (bucket) => {
      if (!bucket.startsWith("messages:")) return {};
      tokens -= 1;
      return { allowed: tokens >= 0 };
    };
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    client.socket.send(passed);
    while (node.pubsubReceived.length < 1) await Bun.sleep(1);
    const [peer] = [...node.sockets].slice(-1);
    for (let index = 0; index < 6; index += 1) peer?.send(`m${index}`);
    await client.until(2);
    await Bun.sleep(50);
    expect(client.received).toEqual(["m0", "m1"]);
    expect(booted.fakes.messagesWaited).toBe(4);
    tokens = 3;
    await client.until(5);
    expect(client.received.slice(2)).toEqual(["m2", "m3", "m4"]);
    // An answer of the gateway itself is a message like another.
    client.socket.send("{}");
    for (let sent = 0; sent < 9; sent += 1) peer?.send("x".repeat(1024 * 1024));
    expect(await client.closed).toBe(4408);
    expect(client.received.length).toBe(5);
  }, passing));

test("the messages of a connection that is gone take no tokens of its account's other connections", () =>
  withGateway(async (booted, node) => {
    let tokens = 0;
    booted.fakes.take = (bucket) => {
      if (!bucket.startsWith("messages:")) return {};
      tokens -= 1;
      return { allowed: tokens >= 0 };
    };
    node.onPubSub = (socket) => void socket.send("told");
    const clients = [1, 2].map(() => new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`));
    for (const [index, client] of clients.entries()) {
      await client.opened;
      client.socket.send(passed);
      while (booted.fakes.messagesWaited <= index) await Bun.sleep(1);
    }
    const [gone, other] = clients;
    gone?.socket.close();
    await gone?.closed;
    while (booted.gateway.sockets > 1) await Bun.sleep(1);
    tokens = 1;
    await other?.until(1);
    expect(other?.received).toEqual(["told"]);
    other?.socket.close();
  }, passing));

test("a wrong call is answered by the gateway, and no node hears of it", () =>
  withGateway(async (booted, node) => {
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    client.socket.send('{"jsonrpc":"2.0","id":1,"method":"accountSubscribe","params":["bad"]}');
    client.socket.send(new TextEncoder().encode('{"jsonrpc":"2.0","id":2,"method":"nosuchSubscribe"}'));
    await client.until(2);
    const [bad, unknown] = client.received.map((text) => JSON.parse(String(text)));
    expect(bad).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(unknown).toMatchObject({ id: 2, error: { code: -32601 } });
    expect(node.pubsubReceived).toEqual([]);
    client.socket.close();
  }));

test("a key that is revoked while its connection lasts ends it with 4401", () =>
  withGateway(async (booted) => {
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    booted.fakes.authenticate = () => ({ ok: false, code: "KEY_INACTIVE" });
    booted.gateway.tick();
    expect(await client.closed).toBe(4401);
  }));

test("a key that is refused or narrowed while its connection lasts ends it at once, each with its code", () =>
  withGateway(async (booted) => {
    const changes: readonly [number, string, () => void][] = [
      [4401, "KEY_INACTIVE", () => (booted.fakes.authenticate = async () => ({ ok: false, code: "KEY_INACTIVE" }))],
      [4403, "NETWORK_NOT_ALLOWED", () => (booted.fakes.restriction = () => "NETWORK_NOT_ALLOWED")],
    ];
    for (const [closeCode, code, change] of changes) {
      booted.fakes.authenticate = () => testGrant;
      const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`, { origin: "https://a.example" });
      await client.opened;
      booted.pubsub.recheck();
      change();
      booted.pubsub.recheck();
      expect(await client.closed).toBe(closeCode);
      expect(JSON.parse(String(client.received[0])).error.data.code).toBe(code);
    }
  }));

test("many changes at once evaluate each connection once", () =>
  withGateway(async (booted) => {
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    let evaluated = 0;
    booted.fakes.authenticate = () => {
      evaluated += 1;
      return testGrant;
    };
    for (let change = 0; change < 1_000; change += 1) booted.pubsub.recheck();
    while (evaluated === 0) await Bun.sleep(1);
    booted.fakes.authenticate = () => ({ ok: false, code: "KEY_INACTIVE" });
    booted.pubsub.recheck();
    expect([await client.closed, evaluated]).toEqual([4401, 1]);
  }));

test("restrictions are evaluated by what the upgrade said, as long as the connection lasts", () =>
  withGateway(async (booted) => {
    const seen: unknown[] = [];
    booted.fakes.restriction = (request) => {
      seen.push([request.network, request.origin, request.referer, request.clientAddress]);
      return null;
    };
    const headers = { origin: "https://a.example", referer: "https://b.example/x" };
    const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`, headers);
    await client.opened;
    booted.pubsub.recheck();
    while (seen.length < 2) await Bun.sleep(1);
    expect(seen[0]).toEqual(["devnet", "https://a.example", "https://b.example/x", "127.0.0.1"]);
    expect(seen[1]).toEqual(seen[0]);
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
    client.socket.close();
  }));

test("when the tier allows fewer connections than there are, the newest end with 4429 and the oldest stay", () =>
  withGateway(async (booted) => {
    booted.fakes.authenticate = () => ({ ...testGrant, tier: "business" });
    const clients: PubSubClient[] = [];
    for (let index = 0; index < 8; index += 1) {
      const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
      await client.opened;
      clients.push(client);
    }
    booted.fakes.authenticate = () => testGrant;
    booted.pubsub.recheck();
    const ended = await Promise.all(clients.slice(5).map((client) => client.closed));
    expect(ended).toEqual([4429, 4429, 4429]);
    booted.pubsub.recheck();
    while (booted.gateway.sockets > 5) await Bun.sleep(1);
    for (const client of clients.slice(0, 5)) expect(client.socket.readyState).toBe(WebSocket.OPEN);
    for (const client of clients) client.socket.close();
  }));

test("draining closes sockets with 1001, lets a call in flight finish and takes no more", async () => {
  using node = new StubNode(() => "");
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const release = Promise.withResolvers<void>();
  node.answer = async (call) => {
    await release.promise;
    return `{"jsonrpc":"2.0","result":5,"id":${call.id}}`;
  };
  const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
  await client.opened;
  const inFlight = booted.post('{"jsonrpc":"2.0","id":1,"method":"getSlot"}');
  while (node.calls.length < 1) await Bun.sleep(1);
  const stopped = booted.gateway.stop(5_000);
  expect(await client.closed).toBe(1001);
  await expect(fetch(`${booted.url}/health`, { headers: { connection: "close" } })).rejects.toThrow();
  release.resolve();
  expect((await inFlight).status).toBe(200);
  await stopped;
});
