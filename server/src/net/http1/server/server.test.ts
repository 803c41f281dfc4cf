import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { ManualClock, systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import type { ConnectionEvents } from "../../events.ts";
import { ConnectionLimit } from "./connection-limit.ts";
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

/** Opens a connection, sends, and gives all that comes back until the server closes. */
function exchange(port: number, text: string, halfCloses = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
    });
    socket.on("error", () => resolve(`${received} reset`));
    socket.on("end", () => socket.end());
    socket.on("close", () => resolve(received));
    if (halfCloses) socket.end(text);
    else socket.write(text);
  });
}

test("a client that closes its sending half gets a late answer, HTTP/1.0 without a Host too", async () => {
  await using server = serve(async () => {
    await Bun.sleep(20);
    return plain("late");
  });
  const asked = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
  const answer = await exchange(server.port, asked + asked, true);
  expect(answer.match(/\r\n\r\nlate/g)?.length).toBe(2);
  expect(await exchange(server.port, "GET /health HTTP/1.0\r\n\r\n")).toStartWith("HTTP/1.1 200 OK\r\n");
  await until(() => server.connections === 0);
  expect(server.pending).toBe(0);
});

test("a head that does not arrive in time is answered 408, and an idle connection ends without a reset", async () => {
  await using server = new HttpServer(
    { hostname: "127.0.0.1", port: 0, times: { idleMs: 60, headMs: 40, lingerMs: 40, partingMs: 40 } },
    {
      clock: systemClock,
      events: { internalError: () => {} },
      answer: () => plain("a"),
      refusal: (fault) => ({ ...plain("refused"), status: fault === "fault" ? 500 : fault.status }),
    },
  );
  expect(await exchange(server.port, "GET / HTT")).toStartWith("HTTP/1.1 408 Request Timeout\r\n");
  expect(await exchange(server.port, "")).toBe("");
  expect(await exchange(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")).toEndWith("\r\n\r\na");
});

/** A bound for tests, with what it reported. */
function limitOf(connectionsMax: number) {
  const clock = new ManualClock(0);
  const reports: number[] = [];
  let refused = 0;
  let open = (): number => 0;
  const events: ConnectionEvents = {
    connectionsBounded: (count) => {
      open = count;
    },
    connectionRefused: () => {
      refused += 1;
    },
    connectionsExhausted: (fields) => void reports.push(fields.refused),
  };
  const limit = new ConnectionLimit({ connectionsMax }, { clock, events });
  return { limit, clock, reports, refused: () => refused, open: () => open() };
}

function serveBounded(limit: ConnectionLimit, answer: () => Promise<HttpAnswer>): HttpServer {
  return new HttpServer(
    { hostname: "127.0.0.1", port: 0 },
    {
      clock: systemClock,
      events: { internalError: () => {} },
      answer,
      refusal: (fault) => ({ ...plain("refused"), status: fault === "fault" ? 500 : fault.status }),
      connectionLimit: limit,
    },
  );
}

test("connections beyond the bound are answered 503 while all others are at work, and it is reported at times", async () => {
  const { limit, clock, reports, refused, open } = limitOf(2);
  const release = Promise.withResolvers<void>();
  const answer = async (): Promise<HttpAnswer> => {
    await release.promise;
    return plain("done");
  };
  await using server = serveBounded(limit, answer);
  await using other = serveBounded(limit, answer);
  const request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const served = [exchange(server.port, request), exchange(other.port, request)];
  await until(() => server.pending + other.pending === 2);
  for (let count = 0; count < 3; count += 1) {
    expect(await exchange(server.port, "")).toStartWith("HTTP/1.1 503 Service Unavailable\r\n");
  }
  expect([refused(), reports, open()]).toEqual([3, [1], 2]);
  clock.advance(10_000);
  await exchange(other.port, "");
  expect(reports).toEqual([1, 3]);
  release.resolve();
  for (const text of await Promise.all(served)) expect(text).toEndWith("done");
  await until(() => open() === 0);
  expect(await exchange(server.port, request)).toEndWith("done");
});

test("a new client takes the place of a connection that waits for a request, and of none that is at work", async () => {
  const { limit, refused, open } = limitOf(2);
  const release = Promise.withResolvers<void>();
  await using server = serveBounded(limit, async () => {
    await release.promise;
    return plain("done");
  });
  const request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const working = exchange(server.port, request);
  const idle = exchange(server.port, "");
  await until(() => server.pending === 1 && open() === 2);
  await Bun.sleep(5);
  server.tick();
  const newcomer = exchange(server.port, request);
  expect(await idle).toBe("");
  await until(() => server.pending === 2);
  expect([refused(), open()]).toEqual([0, 2]);
  release.resolve();
  expect([await working, await newcomer].map((text) => text.endsWith("done"))).toEqual([true, true]);
});

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

test("a HEAD is told the length that the application states, and what a GET is told is that of the body", async () => {
  await using server = serveWeb(({ method }) =>
    method === "HEAD"
      ? new Response(null, { headers: { "content-length": "77" } })
      : new Response(null, { headers: { "content-length": "5" } }),
  );
  const lengthOf = async (method: string) =>
    (await fetch(`http://127.0.0.1:${server.port}/`, { method })).headers.get("content-length");
  expect([await lengthOf("HEAD"), await lengthOf("GET")]).toEqual(["77", "0"]);
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

test("a server that stops answers the request that was on its way on a connection that waited for one", async () => {
  const server = serve(() => plain("a"));
  const socket = connect(server.port, "127.0.0.1");
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString();
  });
  const asked = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  socket.write(asked);
  await until(() => received.endsWith("\r\n\r\na"));
  received = "";
  const stopping = server.stop(10_000);
  // The server has closed what it closes at once before this is sent.
  socket.write(asked);
  await until(() => received.endsWith("\r\n\r\na"));
  expect(received).toContain("Connection: close\r\n");
  await stopping;
  socket.destroy();
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
  socket.resetAndDestroy();
  await until(() => server.connections === 0);
  go();
  await isAbandoned;
});
