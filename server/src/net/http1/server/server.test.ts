import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import type { HttpRequest } from "./request.ts";
import type { HttpAnswer } from "./response-writer.ts";
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

test("a fault of a handler is reported and answered, and the next request is served", async () => {
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

test("a body is handed on as it comes, both ways, and a client's leaving is reported", async () => {
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
  let created = 0;
  const cancelled = Promise.withResolvers<void>();
  await using server = serveWeb(
    () =>
      new Response(
        new ReadableStream(
          {
            pull: (controller) => {
              created += 65_536;
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
  for (let turn = 0; turn < 200 && created !== before; turn += 1) {
    before = created;
    await Bun.sleep(50);
  }
  expect(created).toBe(before);
  expect(created).toBeLessThan(64 * 1024 * 1024);
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

test("a connection that switches gives what the client sent ahead to the other protocol, and its end", async () => {
  const receivedText: string[] = [];
  const { promise: gone, resolve: clientGone } = Promise.withResolvers<void>();
  await using server = serve(() => ({
    head: "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    begin: (socket) => ({
      fromClient: (bytes) => {
        receivedText.push(bytes.toString());
        socket.write("welcome");
      },
      clientDrained: () => {},
      clientGone,
    }),
    abandoned: () => {},
  }));
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\nahead");
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString();
  });
  await until(() => received.endsWith("welcome"));
  expect([receivedText, received]).toEqual([["ahead"], "HTTP/1.1 101 Switching Protocols\r\n\r\nwelcome"]);
  socket.destroy();
  await gone;
  await until(() => server.connections === 0);
});

test("a switch whose client has gone meanwhile is abandoned", async () => {
  const { promise: waited, resolve: go } = Promise.withResolvers<void>();
  const { promise: isAbandoned, resolve: abandoned } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  await using server = serve(async () => {
    ask();
    await waited;
    const begin = (): never => {
      throw new Error("the client has gone");
    };
    return { head: "", begin, abandoned };
  });
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await asked;
  socket.destroy();
  await until(() => server.connections === 0);
  go();
  await isAbandoned;
});
