import { expect, test } from "bun:test";
import { StubNode } from "../../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway, testGrant, testKey } from "../testing/booted-gateway.ts";

/** A client whose frames and end can be waited for. */
class Client {
  readonly socket: WebSocket;
  readonly received: (string | ArrayBuffer)[] = [];
  readonly closed: Promise<number>;
  readonly opened: Promise<void>;
  #arrived = Promise.withResolvers<void>();

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers } as unknown as string[]);
    this.socket.binaryType = "arraybuffer";
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<number>();
    this.opened = opened.promise;
    this.closed = closed.promise;
    this.socket.onopen = () => opened.resolve();
    this.socket.onclose = (event) => closed.resolve(event.code);
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.received.push(event.data);
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers<void>();
    };
  }

  async until(count: number): Promise<void> {
    while (this.received.length < count) await this.#arrived.promise;
  }
}

async function withGateway(
  use: (booted: BootedGateway, node: StubNode) => Promise<void>,
  options: { readonly reportEveryMs?: number } = {},
): Promise<void> {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`);
  await using booted = await bootGateway({ ...options, upstreams: { devnet: node } });
  await use(booted, node);
  expect(booted.faults).toEqual([]);
}

const subscribe = '{ "jsonrpc":"2.0", "id": 1,\t"method":"accountSubscribe","params":["x"] }';

test("frames pass both ways byte for byte, on /rpc, / and the PubSub port, with the key in header or query", () =>
  withGateway(async (booted, node) => {
    node.onPubSub = (socket, text) => {
      socket.send(`{"echo":${text},"rentEpoch":18446744073709551615}\n`);
      socket.send(new Uint8Array([0, 255, 128]));
    };
    const clients = [
      new Client(`${booted.ws}/rpc?api-key=${testKey}`),
      new Client(`${booted.ws}/`, { "x-api-key": testKey }),
      new Client(`${booted.pubsubWs}/?api-key=${testKey}`),
    ];
    for (const client of clients) {
      await client.opened;
      client.socket.send(subscribe);
      await client.until(2);
      expect(client.received[0]).toBe(`{"echo":${subscribe},"rentEpoch":18446744073709551615}\n`);
      expect(new Uint8Array(client.received[1] as ArrayBuffer)).toEqual(new Uint8Array([0, 255, 128]));
      client.socket.close();
      await client.closed;
    }
    expect(node.pubsubReceived).toEqual([subscribe, subscribe, subscribe]);
  }));

test("what a client says before the node is reached is not lost", () =>
  withGateway(async (booted, node) => {
    const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    for (let index = 0; index < 20; index += 1) client.socket.send(`{"method":"m${index}"}`);
    while (node.pubsubReceived.length < 20) await Bun.sleep(1);
    expect(node.pubsubReceived).toEqual(Array.from({ length: 20 }, (_unused, index) => `{"method":"m${index}"}`));
    client.socket.close();
  }));

test("a bad key is reported on the socket and closed with 4401, a broken restriction with 4403", () =>
  withGateway(async (booted) => {
    const stranger = new Client(`${booted.ws}/rpc?api-key=nobody`);
    expect(await stranger.closed).toBe(4401);
    expect(JSON.parse(String(stranger.received[0])).error.data.code).toBe("INVALID_API_KEY");
    booted.fakes.restriction = () => "DOMAIN_NOT_ALLOWED";
    expect(await new Client(`${booted.ws}/rpc?api-key=${testKey}`).closed).toBe(4403);
    const elsewhere = new Client(`${booted.ws}/rpc/moon?api-key=${testKey}`);
    expect(await elsewhere.closed).toBe(4403);
    expect(String(elsewhere.received[0])).toContain("There is no network of that name");
  }));

test("a network without nodes closes with 4503, an exhausted bucket with 4429", () =>
  withGateway(async (booted) => {
    expect(await new Client(`${booted.ws}/rpc/mainnet?api-key=${testKey}`).closed).toBe(4503);
    booted.fakes.take = () => ({ allowed: false });
    expect(await new Client(`${booted.ws}/rpc?api-key=${testKey}`).closed).toBe(4429);
  }));

test("a tier's connections are counted for its account and given back", () =>
  withGateway(async (booted) => {
    const url = `${booted.ws}/rpc?api-key=${testKey}`;
    const held = Array.from({ length: 5 }, () => new Client(url));
    await Promise.all(held.map((client) => client.opened));
    expect(await new Client(url).closed).toBe(4429);
    held[0]?.socket.close();
    await held[0]?.closed;
    while (booted.gateway.sockets > 4) await Bun.sleep(1);
    const again = new Client(url);
    await again.opened;
    again.socket.send("{}");
    expect(again.socket.readyState).toBe(WebSocket.OPEN);
    for (const client of [...held, again]) client.socket.close();
  }));

test("a message over 4 KiB closes with 1009, more than 50 in a second with 4429", () =>
  withGateway(async (booted) => {
    const wordy = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
    await wordy.opened;
    wordy.socket.send("x".repeat(4_097));
    expect(await wordy.closed).toBe(1009);
    const busy = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
    await busy.opened;
    for (let index = 0; index < 51; index += 1) busy.socket.send("{}");
    expect(await busy.closed).toBe(4429);
  }));

test("a client is closed with 4503 when its node is lost", () =>
  withGateway(async (booted, node) => {
    const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    client.socket.send(subscribe);
    while (node.pubsubReceived.length < 1) await Bun.sleep(1);
    node[Symbol.dispose]();
    expect(await client.closed).toBe(4503);
  }));

/** Two nodes that number subscriptions each in their own way, and a client that holds one of the first's. */
async function withTwoNodes(
  use: (client: Client, nodes: readonly [StubNode, StubNode], booted: BootedGateway) => Promise<void>,
): Promise<void> {
  const nodes = [40, 70].map((from) => {
    const node = new StubNode((call) => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`);
    let next = from;
    node.onPubSub = (socket, text) => {
      next += 1;
      socket.send(`{"jsonrpc":"2.0","result":${next},"id":${JSON.stringify(JSON.parse(text).id)}}`);
    };
    return node;
  }) as [StubNode, StubNode];
  await using booted = await bootGateway({ upstreams: { devnet: nodes } });
  const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
  await client.opened;
  client.socket.send('{"jsonrpc":"2.0","id":1,"method":"logsSubscribe","params":["all"]}');
  await client.until(1);
  await use(client, nodes, booted);
  client.socket.close();
  for (const node of nodes) node[Symbol.dispose]();
  expect(booted.faults).toEqual([]);
}

const logsNotice = (subscription: number) =>
  `{"jsonrpc":"2.0","method":"logsNotification","params":{"result":{"value":1},"subscription":${subscription}}}`;

async function tellOnceSubscribed(node: StubNode, subscription: number): Promise<void> {
  while (!node.pubsubReceived.some((text) => text.includes("logsSubscribe"))) await Bun.sleep(1);
  await Bun.sleep(5);
  for (const socket of node.sockets) socket.send(logsNotice(subscription));
}

test("when its node is lost a client goes on with another, its subscriptions under the numbers that it knows", () =>
  withTwoNodes(async (client, nodes) => {
    const { result } = JSON.parse(String(client.received[0])) as { result: number };
    const isFirst = result === 41;
    const [lost, other] = isFirst ? nodes : [nodes[1], nodes[0]];
    lost[Symbol.dispose]();
    await tellOnceSubscribed(other, isFirst ? 71 : 41);
    await client.until(2);
    expect(client.received[1]).toBe(logsNotice(result));
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
  }));

test("a client leaves a node that has fallen behind, though it speaks on", () =>
  withTwoNodes(async (client, nodes, booted) => {
    const { result } = JSON.parse(String(client.received[0])) as { result: number };
    const isFirst = result === 41;
    const [late, other] = isFirst ? nodes : [nodes[1], nodes[0]];
    other.announce(5_000);
    while (booted.slotOf("processed") !== 5_000n) await Bun.sleep(1);
    booted.gateway.tick();
    await tellOnceSubscribed(other, isFirst ? 71 : 41);
    await client.until(2);
    expect(client.received[1]).toBe(logsNotice(result));
    for (const socket of late.sockets) socket.send(logsNotice(result));
    client.socket.send('{"jsonrpc":"2.0","id":9,"method":"getVersion"}');
    await client.until(3);
    expect(client.received[2]).toContain('"id":9');
  }));

test("what is sent costs a credit for each started 0.1 MB, and closes with 4402 when there is none", () =>
  withGateway(async (booted, node) => {
    booted.fakes.creditsLeft = 2;
    node.onPubSub = (socket) => void socket.send("x".repeat(60_000));
    const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
    await client.opened;
    client.socket.send("{}");
    await client.until(1);
    expect(booted.fakes.creditsLeft).toBe(1);
    client.socket.send("{}");
    await client.until(2);
    expect(booted.fakes.creditsLeft).toBe(0);
    client.socket.send("{}");
    client.socket.send("{}");
    expect(await client.closed).toBe(4402);
    while (booted.facts.length < 1) await Bun.sleep(1);
    // What could not be paid is no cost: the last message went out before its credit was asked for.
    expect(booted.facts[0]).toMatchObject({ method: "pubsub", status: 4402, upstream: "devnet-1", credits: 2 });
  }));

test("what passes is reported while the connection lasts, and the rest at its end; the sums are exact", () =>
  withGateway(
    async (booted, node) => {
      booted.fakes.creditsAsync = true;
      node.onPubSub = (socket) => void socket.send("x".repeat(150_000));
      const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
      await client.opened;
      booted.gateway.tick();
      expect(booted.facts).toEqual([]);
      for (const count of [1, 2, 3]) {
        client.socket.send("12345");
        await client.until(count);
        if (count < 3) booted.gateway.tick();
      }
      client.socket.close(1000);
      await client.closed;
      while (booted.facts.length < 3) await Bun.sleep(1);
      expect(booted.facts.map(({ status, bytesIn, bytesOut }) => [status, bytesIn, bytesOut])).toEqual([
        [101, 5, 150_000],
        [101, 5, 150_000],
        [1000, 5, 150_000],
      ]);
      const credits = booted.facts.reduce((sum, fact) => sum + fact.credits, 0);
      // 450,000 bytes are five started tenths of a megabyte.
      expect([credits, booted.fakes.creditsLeft]).toEqual([5, 999_995]);
    },
    { reportEveryMs: 0 },
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
  }));

test("a key that is revoked while its connection lasts ends it with 4401", () =>
  withGateway(async (booted) => {
    const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
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
      const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`, { origin: "https://a.example" });
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
    const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
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
    const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`, headers);
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
    const clients: Client[] = [];
    for (let index = 0; index < 8; index += 1) {
      const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
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
  const client = new Client(`${booted.ws}/rpc?api-key=${testKey}`);
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
