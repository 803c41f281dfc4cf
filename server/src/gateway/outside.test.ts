import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, type BootOptions, bootGateway, testKey } from "./testing/booted-gateway.ts";

const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';

async function withGateway(use: (booted: BootedGateway) => Promise<void>, options: BootOptions = {}): Promise<void> {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`);
  await using booted = await bootGateway({ upstreams: { devnet: node }, ...options });
  await use(booted);
  expect(booted.faults).toEqual([]);
}

/** A body whose length is not declared beforehand. */
function streamed(...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const postTo = (booted: BootedGateway, content: BodyInit, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${booted.url}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": testKey, ...headers },
    body: content,
  });

test("a body far beyond the limit is refused by the gateway, declared or not, with a code and a request id", () =>
  withGateway(async (booted) => {
    const large = new Uint8Array(3 * 1024 * 1024).fill(0x20);
    for (const response of [await postTo(booted, large), await postTo(booted, streamed(large))]) {
      expect(response.status).toBe(413);
      expect(response.headers.get("x-error-code")).toBe("BODY_TOO_LARGE");
      expect(response.headers.get("x-request-id")).toMatch(/^req_/);
      expect((await response.json()).error.data.code).toBe("BODY_TOO_LARGE");
    }
  }));

test("a body of undeclared length is read as any other, and must be UTF-8 as any other", () =>
  withGateway(async (booted) => {
    const bytes = Buffer.from(body);
    const whole = await postTo(booted, streamed(bytes.subarray(0, 9), bytes.subarray(9)));
    expect(await whole.json()).toEqual({ jsonrpc: "2.0", id: 1, result: 5 });
    const cut = Buffer.from('{"jsonrpc":"2.0","id":"\xf0\x9f\x98","method":"getSlot"}', "latin1");
    const refused = await postTo(booted, streamed(cut));
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([400, "PARSE_ERROR"]);
  }));

test("a body that is compressed or in another charset is refused for what it is, also where it would be JSON", () =>
  withGateway(async (booted) => {
    const response = await postTo(booted, gzipSync(body), { "content-encoding": "gzip" });
    expect([response.status, response.headers.get("x-error-code")]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    expect((await response.json()).error.message).toContain("Content-Encoding");
    expect((await postTo(booted, body, { "content-encoding": "identity" })).status).toBe(200);
    const plain = await postTo(booted, body, { "content-encoding": "gzip" });
    expect([plain.status, plain.headers.get("accept-encoding")]).toEqual([415, "identity"]);
    const charset = await postTo(booted, body, { "content-type": "application/json; charset=utf-16" });
    expect([charset.status, charset.headers.get("accept-encoding")]).toEqual([415, null]);
  }));

test("health and ready answer GET and HEAD and name the allowed methods for others; a server that refuses calls lives and is not ready, and says when to come back", () =>
  withGateway(async (booted) => {
    const answer = async (path: string, method = "GET") => await fetch(`${booted.url}${path}`, { method });
    for (const path of ["/health", "/ready"]) {
      expect((await answer(path)).status).toBe(200);
      expect((await answer(path, "HEAD")).status).toBe(200);
      for (const method of ["POST", "PUT", "OPTIONS"]) {
        const refused = await answer(path, method);
        expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      }
    }
    booted.fakes.health = "down";
    const [lives, ready] = await Promise.all([answer("/health"), answer("/ready")]);
    expect([lives.status, (await lives.json()).status]).toEqual([200, "down"]);
    expect([ready.status, ready.headers.get("retry-after"), (await ready.json()).status]).toEqual([503, "1", "down"]);
  }));

test("an answer of a mounted application carries the request id, whether the application knew it or not", () =>
  withGateway(
    async (booted) => {
      expect((await fetch(`${booted.url}/page`)).headers.get("x-request-id")).toMatch(/^req_/);
      expect((await fetch(`${booted.url}/later`)).headers.get("x-request-id")).toMatch(/^req_/);
      expect((await fetch(`${booted.url}/own`)).headers.get("x-request-id")).toBe("own");
    },
    {
      apps: [
        { prefix: "/page", fetch: () => new Response("page") },
        { prefix: "/later", fetch: async () => new Response("later") },
        { prefix: "/own", fetch: () => new Response("own", { headers: { "X-Request-Id": "own" } }) },
      ],
    },
  ));

test("a page at / is read by GET and HEAD alone; without one they are refused as JSON-RPC is", async () => {
  const read = async (booted: BootedGateway, method: string, path = "/") =>
    (await fetch(`${booted.url}${path}`, { method })).status;
  await withGateway(
    async (booted) => {
      expect(await (await fetch(`${booted.url}/`)).text()).toBe("page");
      expect([await read(booted, "HEAD"), await read(booted, "DELETE"), await read(booted, "GET", "/rpc")]).toEqual([
        200, 405, 405,
      ]);
    },
    { apps: [{ prefix: "/", fetch: () => new Response("page") }] },
  );
  await withGateway(async (booted) => expect(await read(booted, "GET")).toBe(405));
});

test("an upgrade carries the request id", () =>
  withGateway(async (booted) => {
    const upgraded = await handshake(booted);
    expect(upgraded).toStartWith("HTTP/1.1 101");
    expect(upgraded).toMatch(/\r\nx-request-id: req_/i);
  }));

test("a call to a network without nodes is refused under its own id", () =>
  withGateway(async (booted) => {
    const refusal = async (content: string) => {
      const response = await booted.post(content, { path: "/rpc/mainnet" });
      return [response.status, (await response.json()).id];
    };
    expect(await refusal('{"jsonrpc":"2.0","id":"mine","method":"getSlot"}')).toEqual([503, "mine"]);
    expect(await refusal(`[${body}]`)).toEqual([503, null]);
    booted.fakes.take = () => ({ allowed: false });
    expect(await refusal('{"jsonrpc":"2.0","id":"mine","method":"getSlot"}')).toEqual([429, "mine"]);
  }));

test("an unknown method has no name of its own in the ledger, whatever it was refused for", () =>
  withGateway(async (booted) => {
    const invented = '{"jsonrpc":"2.0","id":1,"method":"invented"}';
    await booted.post(invented);
    booted.fakes.creditsLeft = 0;
    await booted.post(invented);
    expect(booted.facts.map((fact) => [fact.method, fact.rpcCode])).toEqual([
      ["unknown", -32601],
      ["unknown", -33402],
    ]);
  }));

test("every answer with status 200 says whether it was cached, whose it is and how long it took", () =>
  withGateway(async (booted) => {
    const bodies = [
      body,
      '{"jsonrpc":"2.0","id":1,"method":"invented"}',
      '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["x"]}',
      '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":{}}',
      "[1]",
    ];
    const answers = await Promise.all(bodies.map((content) => booted.post(content)));
    expect(answers.map(({ status, headers }) => [status, headers.get("x-rpc-endpoint")])).toEqual([
      [200, "devnet-1"],
      [200, "gateway"],
      [200, "gateway"],
      [200, "gateway"],
      [200, "gateway"],
    ]);
    for (const { headers } of answers) {
      expect(headers.get("x-cache-status")).toBe("MISS");
      expect(headers.get("x-rpc-latency-ms")).toMatch(/^\d+$/);
    }
  }));

/** The head of the answer to a WebSocket's handshake. */
async function handshake(booted: BootedGateway): Promise<string> {
  const answered = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: booted.port,
    socket: { data: (_socket, data) => answered.resolve(data.toString("latin1")), close: () => answered.resolve("") },
  });
  socket.write(
    `GET /rpc?api-key=${testKey} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  const head = await answered.promise;
  socket.terminate();
  return head;
}
