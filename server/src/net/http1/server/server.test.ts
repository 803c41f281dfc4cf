import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { Listener } from "../../listener/listener.ts";
import type { SocketSession } from "../../websocket/session.ts";
import type { HttpAnswer } from "./answer.ts";
import type { HttpRequest } from "./request.ts";
import { HttpServer } from "./server.ts";
import { webAnswer, webRequest } from "./web.ts";

const plain = (body: string): HttpAnswer => ({ status: 200, fields: "", body });

function serve(answer: ConstructorParameters<typeof HttpServer>[1]["answer"], faults: unknown[] = []): HttpServer {
  return new HttpServer(
    { hostname: "127.0.0.1", port: 0 },
    {
      clock: systemClock,
      events: { internalError: (_where, fault) => void faults.push(fault) },
      answer,
      refusal: (fault) => ({ ...plain("refused"), status: fault === "fault" ? 500 : fault.status }),
    },
  );
}

/** Serves a handler in the web's terms. */
const serveWeb = (fetch: (request: Request) => Response | Promise<Response>): HttpServer =>
  serve(async (request) => webAnswer(await fetch(webRequest(request))));

test("a port is had by one server", async () => {
  await using first = serve(() => plain("a"));
  const second = (): HttpServer =>
    new HttpServer(
      { hostname: "127.0.0.1", port: first.port },
      { clock: systemClock, events: { internalError: () => {} }, answer: () => plain("b"), refusal: () => plain("") },
    );
  expect(second).toThrow();
});

test("a fault of a handler is told and answered, and the next request is served", async () => {
  const faults: unknown[] = [];
  let isFaulty = true;
  await using server = serve(() => {
    if (isFaulty) throw new Error("a fault of ours");
    return plain("well");
  }, faults);
  expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(500);
  isFaulty = false;
  expect(await (await fetch(`http://127.0.0.1:${server.port}/`)).text()).toBe("well");
  expect(faults.map(String)).toEqual(["Error: a fault of ours"]);
});

test("an application gets the request as it was sent and its response goes out as it is", async () => {
  await using server = serveWeb(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const headers = {
      "X-Method": request.method,
      "X-Path": decodeURI(pathname),
      "X-Name": request.headers.get("x-a") ?? "",
    };
    const response = new Response(`${searchParams.get("b")} ${await request.text()}`, { status: 201, headers });
    response.headers.append("Set-Cookie", "c=1");
    response.headers.append("Set-Cookie", "d=2");
    return response;
  });
  const url = `http://127.0.0.1:${server.port}/p%C3%BC?b=1`;
  const response = await fetch(url, { method: "PUT", body: "body", headers: { "X-A": "v" } });
  expect([response.status, response.headers.get("x-method"), response.headers.get("x-name")]).toEqual([
    201,
    "PUT",
    "v",
  ]);
  expect(response.headers.getSetCookie()).toEqual(["c=1", "d=2"]);
  expect(response.headers.get("content-length")).toBe("6");
  expect(await response.text()).toBe("1 body");
  const chunked = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode("in "));
      controller.enqueue(new TextEncoder().encode("parts"));
      controller.close();
    },
  });
  expect(await (await fetch(url, { method: "POST", body: chunked })).text()).toBe("1 in parts");
  const head = await fetch(url, { method: "HEAD" });
  expect([head.headers.get("content-length"), await head.text()]).toEqual(["2", ""]);
});

test("a body is handed on as it comes, both ways, and a client's leaving is told", async () => {
  const parts: string[] = [];
  const gone = Promise.withResolvers<void>();
  await using server = serveWeb((request) => {
    request.signal.addEventListener("abort", () => gone.resolve());
    const reader = request.body?.getReader();
    return new Response(
      new ReadableStream({
        pull: async (controller) => {
          const read = await reader?.read();
          if (read === undefined || read.done) return controller.close();
          parts.push(new TextDecoder().decode(read.value));
          controller.enqueue(read.value);
        },
        cancel: () => gone.resolve(),
      }),
    );
  });
  const socket: Socket = connect(server.port, "127.0.0.1");
  let received = "";
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("latin1");
  });
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  await until(() => received.includes("\r\n\r\n"));
  for (const part of ["one", "two"]) {
    socket.write(`3\r\n${part}\r\n`);
    await until(() => received.includes(part));
  }
  expect(parts).toEqual(["one", "two"]);
  socket.destroy();
  await gone.promise;
  await until(() => server.pending === 0 && server.connections === 0);
});

test("what a slow client does not take is not made for it", async () => {
  let made = 0;
  const cancelled = Promise.withResolvers<void>();
  await using server = serveWeb(
    () =>
      new Response(
        new ReadableStream(
          {
            pull: (controller) => {
              made += 65_536;
              controller.enqueue(new Uint8Array(65_536));
            },
            cancel: () => cancelled.resolve(),
          },
          { highWaterMark: 0 },
        ),
      ),
  );
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.pause();
  let before = -1;
  // The kernel's buffers fill up, and then nothing more is asked for.
  for (let turn = 0; turn < 200 && made !== before; turn += 1) {
    before = made;
    await Bun.sleep(50);
  }
  expect(made).toBe(before);
  expect(made).toBeLessThan(64 * 1024 * 1024);
  socket.destroy();
  await cancelled.promise;
});

test("a server that stops answers what is under way, refuses new connections, and ends what lasts too long", async () => {
  const release = Promise.withResolvers<void>();
  const asked: HttpRequest[] = [];
  const answer = async (request: HttpRequest): Promise<HttpAnswer> => {
    asked.push(request);
    if (request.target === "/slow") await release.promise;
    else await new Promise(() => undefined);
    return plain("late");
  };
  const server = serve(answer);
  const { port } = server;
  const slow = fetch(`http://127.0.0.1:${port}/slow`);
  const never = fetch(`http://127.0.0.1:${port}/never`).then(
    () => "answered",
    () => "ended",
  );
  await until(() => asked.length === 2);
  const stopping = server.stop(300);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  release.resolve();
  const response = await slow;
  expect([await response.text(), response.headers.get("connection")]).toEqual(["late", "close"]);
  await stopping;
  expect(await never).toBe("ended");
  expect([server.pending, server.connections]).toEqual([0, 0]);
});

/** A session that sends back what it gets. */
function echoSession(): SocketSession {
  let send: (data: string | Uint8Array) => void = () => undefined;
  let close = (): void => undefined;
  return {
    requestId: "req_2",
    opened: (socket) => {
      send = (data) => void socket.send(data);
      close = () => socket.close(1001);
    },
    received: (data) => send(data),
    ponged: () => {},
    tick: () => {},
    drain: () => close(),
    closed: () => {},
  };
}

test("a tunnel passes a client on under its own address, and whoever comes by another way has none", async () => {
  const addresses: (string | null)[] = [];
  await using listener: Listener = new Listener(
    { hostname: "127.0.0.1", port: 0, bodyBytesMax: 1_024 },
    {
      answer: (request, runtime) => {
        const address = server.clientAt(runtime.requestIP(request)?.port ?? 0);
        addresses.push(address);
        if (address === null) return new Response(null, { status: 404 });
        return runtime.upgrade(request, { data: { session: echoSession() } }) ? undefined : new Response(null);
      },
      events: { internalError: () => {} },
    },
  );
  await using server: HttpServer = serve(() => ({ tunnelTo: listener.port }));
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const answers: string[] = [];
  socket.addEventListener("message", ({ data }) => answers.push(String(data)));
  const large = "x".repeat(200_000);
  for (let count = 0; count < 50; count += 1) socket.send(`${count} ${large}`);
  await until(() => answers.length === 50);
  expect(answers).toEqual(Array.from({ length: 50 }, (_, count) => `${count} ${large}`));
  expect((await fetch(`http://127.0.0.1:${listener.port}/`)).status).toBe(404);
  expect(addresses).toEqual(["127.0.0.1", null]);
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  await listener.stop(1_000);
  expect(await closed).toBe(1001);
  await until(() => server.connections === 0);
});

test("a tunnel to a port that nobody has ends its client's connection", async () => {
  const probe = serve(() => plain(""));
  const { port } = probe;
  await probe.stop(0);
  await using server = serve(() => ({ tunnelTo: port }));
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`);
  await new Promise((resolve) => socket.addEventListener("close", resolve));
  await until(() => server.connections === 0);
});
