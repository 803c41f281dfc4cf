import { expect, test } from "bun:test";
import { connect } from "node:net";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway, testKey } from "./testing/booted-gateway.ts";

const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
const head = `Content-Type: application/json\r\nX-API-Key: ${testKey}\r\n`;

/** Writes bytes to the gateway as they are and returns what comes back until the gateway or the time ends it. */
async function raw(
  booted: BootedGateway,
  parts: readonly string[],
  options: { readonly hangUp?: boolean; readonly answers?: number } = {},
): Promise<string> {
  const received: string[] = [];
  const ended = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: booted.port,
    socket: {
      data(_socket, data) {
        received.push(data.toString("latin1"));
        const answers = received.join("").match(/HTTP\/1\.1 [2-5][\s\S]*?\r\n\r\n[\s\S]/g)?.length ?? 0;
        if (answers >= (options.answers ?? 1)) ended.resolve();
      },
      close: () => ended.resolve(),
      error: () => ended.resolve(),
    },
  });
  for (const part of parts) socket.write(part);
  if (options.hangUp === true) socket.terminate();
  await Promise.race([ended.promise, Bun.sleep(500)]);
  socket.end();
  return received.join("");
}

async function withGateway(use: (booted: BootedGateway) => Promise<void>): Promise<void> {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`);
  await using booted = await bootGateway({ upstreams: { devnet: node }, bodyTimeoutMs: 100 });
  await use(booted);
  expect((await booted.post(body)).status).toBe(200);
  expect(booted.faults).toEqual([]);
}

const statusOf = (response: string): string => response.slice(9, 12);

test("two Host headers are refused", () =>
  withGateway(async (booted) => {
    const response = await raw(booted, [
      `POST /rpc HTTP/1.1\r\nHost: a\r\nHost: b\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
    ]);
    expect(statusOf(response)).toBe("400");
    expect(response).toContain("Host");
  }));

test("lengths that contradict each other and headers without bound are refused", () =>
  withGateway(async (booted) => {
    const start = `POST /rpc HTTP/1.1\r\nHost: a\r\n${head}`;
    const smuggled = [
      `${start}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${start}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`,
      `${start}Content-Length: -1\r\n\r\n`,
      `POST /rpc HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`,
    ];
    for (const request of smuggled) expect(statusOf(await raw(booted, [request]))).toMatch(/^4|^$/);
    const large = `${start}X-Large: ${"a".repeat(64 * 1024)}\r\n\r\n`;
    expect(statusOf(await raw(booted, [large]))).toMatch(/^4|^$/);
  }));

test("garbage, half requests and clients that hang up change nothing for the next one", () =>
  withGateway(async (booted) => {
    await raw(booted, ["\u0000\u0001\u0002 not http at all\r\n\r\n"]);
    await raw(booted, ["GET "], { hangUp: true });
    const request = `POST /rpc HTTP/1.1\r\nHost: a\r\n${head}Content-Length: ${body.length}\r\n\r\n`;
    await raw(booted, [request], { hangUp: true });
    await raw(booted, [request, body.slice(0, 10)], { hangUp: true });
    await raw(booted, [request, body], { hangUp: true });
  }));

test("pipelined requests are answered in order, also while an answer has to be waited for", () =>
  withGateway(async (booted) => {
    const request = (id: number): string => {
      const call = body.replace('"id":1', `"id":${id}`);
      return `POST /rpc HTTP/1.1\r\nHost: a\r\n${head}Content-Length: ${call.length}\r\n\r\n${call}`;
    };
    const ids = async (parts: readonly string[]): Promise<string[]> => {
      const text = await raw(booted, parts, { answers: 3 });
      return [...text.matchAll(/HTTP\/1\.1 200 OK[\s\S]*?"id":(\d)/g)].map(([, id]) => id ?? "");
    };
    // The first of them asks the node, and the others come meanwhile.
    expect(await ids([request(1) + request(2) + request(3)])).toEqual(["1", "2", "3"]);
    expect(await ids([request(4) + request(5) + request(6)])).toEqual(["4", "5", "6"]);
    const together = request(7) + request(8) + request(9);
    expect(await ids([together.slice(0, 300), together.slice(300, 301), together.slice(301)])).toEqual(["7", "8", "9"]);
  }));

test("a body that does not come is given up", () =>
  withGateway(async (booted) => {
    const response = await raw(booted, [
      `POST /rpc HTTP/1.1\r\nHost: a\r\n${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    ]);
    expect(statusOf(response)).toBe("400");
    expect(response).toContain("in time");
  }));

test("a body that is no UTF-8 is refused, a replacement character that was sent is not", () =>
  withGateway(async (booted) => {
    const broken = Buffer.from('{"jsonrpc":"2.0","id":"\u00ff\u00fe","method":"getSlot"}', "latin1");
    expect((await booted.post(broken)).status).toBe(400);
    const whole = await booted.post('{"jsonrpc":"2.0","id":"\ufffd","method":"getSlot"}');
    expect(((await whole.json()) as { id: string }).id).toBe("\ufffd");
  }));

test("nesting without end is a parse error, not a crash", () =>
  withGateway(async (booted) => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"getSlot","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect((await booted.post(deep)).status).toBe(400);
    expect((await booted.post("[".repeat(200_000))).status).toBe(400);
  }));

test("names of the prototype are ordinary members", () =>
  withGateway(async (booted) => {
    for (const method of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const response = await booted.post(`{"jsonrpc":"2.0","id":1,"method":"${method}","__proto__":{"id":2}}`);
      expect(((await response.json()) as { error: { code: number } }).error.code).toBe(-32601);
    }
    const polluting = '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"__proto__":{"commitment":"processed"}}]}';
    expect((await booted.post(polluting)).status).toBe(200);
  }));

test("a client that closes its sending half has its call answered", () =>
  withGateway(async (booted) => {
    const received = Promise.withResolvers<string>();
    let text = "";
    const socket = connect({ port: booted.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
    });
    socket.on("end", () => received.resolve(text));
    const balance = '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["11111111111111111111111111111111"]}';
    socket.end(`POST /rpc HTTP/1.1\r\nHost: a\r\n${head}Content-Length: ${balance.length}\r\n\r\n${balance}`);
    expect(await received.promise).toContain('"result":5');
    socket.destroy();
  }));

test("a balancer's HTTP/1.0 probe without a Host, and OPTIONS of the server as a whole, are answered", () =>
  withGateway(async (booted) => {
    expect(statusOf(await raw(booted, ["GET /health HTTP/1.0\r\n\r\n"]))).toBe("200");
    const options = await raw(booted, ["OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"]);
    expect(statusOf(options)).toBe("204");
    expect(options).toMatch(/\r\nAllow: GET, HEAD, POST, /);
    expect(options).toContain("\r\nX-Request-Id: req_");
  }));

test("a Host that names no host is refused on every path, and reported as no fault of the gateway", () =>
  withGateway(async (booted) => {
    for (const line of ["POST /rpc", "GET /docs/errors", "GET /health", "GET /"]) {
      const start = `${line} HTTP/1.1\r\nHost: a/b@c\r\n${head}`;
      expect([line, statusOf(await raw(booted, [`${start}Content-Length: 0\r\n\r\n`]))]).toEqual([line, "400"]);
    }
  }));

test("a body whose chunks are malformed is an invalid request, not a parse error of JSON", () =>
  withGateway(async (booted) => {
    const response = await raw(booted, [
      `POST /rpc HTTP/1.1\r\nHost: a\r\n${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ]);
    expect(statusOf(response)).toBe("400");
    expect(response).toContain("\r\nX-Error-Code: INVALID_REQUEST\r\n");
    expect(response).toContain('"code":-32600,"message":"The request body did not arrive whole"');
  }));

test("browsers and crawlers get no error for what they ask of any address", () =>
  withGateway(async (booted) => {
    expect((await fetch(`${booted.url}/favicon.ico`)).status).toBe(204);
    expect(await (await fetch(`${booted.url}/robots.txt`)).text()).toBe("User-agent: *\nDisallow: /\n");
  }));
