import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { ManualClock, systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { WireSocket } from "../http1/server/testing/wire-socket.ts";
import { HttpServer } from "../index.ts";
import { WebSocketConnection } from "./connection.ts";
import { handshakeAnswer, WebSocketServer } from "./server.ts";
import { ClientSession, type Socket, type SocketSession } from "./session.ts";
import { clientFrame } from "./testing/client-frames.ts";

/** Sends back what it gets; "fail" is an error of the session. */
class EchoSession extends ClientSession {
  closedWith: number | null = null;
  pongs = 0;

  constructor() {
    super("req_1", null);
  }
  override received(data: string | Uint8Array): void {
    if (data === "fail") throw new Error("a session failed");
    this.send(data);
  }
  override ponged(): void {
    super.ponged();
    this.pongs += 1;
  }
  protected onOpened(): void {}
  protected onClosed(code: number): void {
    this.closedWith = code;
  }
}

let errors: unknown[];
let sessions: EchoSession[];
let webSockets: WebSocketServer;
let server: HttpServer;
const events = { internalError: (_where: string, error: unknown) => errors.push(error) };

beforeEach(() => {
  errors = [];
  sessions = [];
  webSockets = new WebSocketServer({ clock: new ManualClock(), events });
  const refused = { status: 400, fields: "", body: "" };
  server = new HttpServer(
    { hostname: "127.0.0.1", port: 0 },
    {
      clock: systemClock,
      events,
      refusal: () => refused,
      answer: (request) => {
        const session = new EchoSession();
        sessions.push(session);
        return webSockets.upgrade(request, session) ?? refused;
      },
    },
  );
});
afterEach(async () => {
  await server.stop(0);
  webSockets[Symbol.dispose]();
});

async function opened(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  return socket;
}
const closeCode = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));

describe("the handshake", () => {
  const of = (headers: Record<string, string>, minor: 0 | 1 = 1): string | null =>
    handshakeAnswer({ get: (name) => headers[name] ?? null, minor }, "X-A: b\r\n");
  const key = "dGhlIHNhbXBsZSBub25jZQ==";

  test("is answered as RFC 6455, section 1.3, says, with the first subprotocol that was offered", () => {
    const answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    const accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
    expect(of({ "sec-websocket-key": key })).toBe(`${answer}${accept}X-A: b\r\n\r\n`);
    expect(of({ "sec-websocket-key": key, "sec-websocket-protocol": "one, two" })).toBe(
      `${answer}${accept}Sec-WebSocket-Protocol: one\r\nX-A: b\r\n\r\n`,
    );
  });

  test("without a key of 16 bytes, over HTTP/1.0 or with a body is none", async () => {
    expect([of({}), of({ "sec-websocket-key": "short" }), of({ "sec-websocket-key": key }, 0)]).toEqual([
      null,
      null,
      null,
    ]);
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: ${key}\r\nContent-Length: 2\r\n\r\nab`);
    const answer = await new Promise((resolve) => socket.on("data", (bytes) => resolve(bytes.toString())));
    expect(answer).toStartWith("HTTP/1.1 400 ");
    socket.destroy();
  });
});

describe("a client of the runtime", () => {
  test("gets back what it says, text and bytes, of any length, in order", async () => {
    const socket = await opened();
    socket.binaryType = "arraybuffer";
    const answers: unknown[] = [];
    socket.addEventListener("message", ({ data }) =>
      answers.push(typeof data === "string" ? data : Buffer.from(data).toString("hex")),
    );
    const said = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000].flatMap((length) => [
      "€".repeat(length / 4),
      new Uint8Array(length).fill(length % 251),
    ]);
    for (const data of said) socket.send(data);
    await until(() => answers.length === said.length);
    expect(answers).toEqual(said.map((data) => (typeof data === "string" ? data : Buffer.from(data).toString("hex"))));
    expect(webSockets.size).toBe(1);
  });

  test("closes with its code, and the session is notified; the connection is gone on both sides", async () => {
    const socket = await opened();
    const code = closeCode(socket);
    socket.close(4000, "enough");
    expect(await code).toBe(4000);
    await until(() => server.connections === 0);
    expect([sessions[0]?.closedWith, webSockets.size]).toEqual([4000, 0]);
  });

  test("is closed with 1001 when the server drains, with 1011 when its session fails, and 1009 beyond the bound", async () => {
    const failing = await opened();
    const failed = closeCode(failing);
    failing.send("fail");
    expect([await failed, errors.length]).toEqual([1011, 1]);
    const large = await opened();
    const tooLarge = closeCode(large);
    large.send("x".repeat(256 * 1024 + 1));
    expect(await tooLarge).toBe(1009);
    const drained = closeCode(await opened());
    webSockets.drain();
    expect(await drained).toBe(1001);
    await server.stop(1_000);
    expect(sessions.map(({ closedWith }) => closedWith)).toEqual([1011, 1009, 1001]);
  });

  test("receives the closing frame while it still sends the message that is too large", async () => {
    const socket = connect(server.port, "127.0.0.1");
    const received: Buffer[] = [];
    const ended = new Promise<void>((resolve, reject) => socket.on("end", resolve).on("error", reject));
    socket.on("data", (bytes) => received.push(Buffer.from(bytes)));
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
    await until(() => received.length > 0);
    socket.write(clientFrame({ opcode: 1, payload: new Uint8Array(8 * 1024 * 1024) }));
    await ended;
    expect(Buffer.concat(received).toString("latin1")).toEndWith("\x88\x02\x03\xf1");
    await until(() => server.connections === 0);
    expect(sessions[0]?.closedWith).toBe(1009);
  });

  test("that does not answer the server's closing frame sees the connection end behind it", async () => {
    const silent = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    const received: Buffer[] = [];
    silent.on("data", (bytes) => received.push(Buffer.from(bytes)));
    silent.write(`GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
    await until(() => webSockets.size === 1);
    const ended = new Promise((resolve) => silent.on("end", resolve));
    sessions[0]?.end({ code: 4401 });
    await ended;
    expect(Buffer.concat(received).toString("latin1")).toEndWith("\x88\x02\x11\x31");
    expect([sessions[0]?.closedWith, webSockets.size]).toEqual([4401, 0]);
    silent.destroy();
  });

  test("answers pings, and is ended when it misses two", async () => {
    const socket = await opened();
    webSockets.tick();
    await until(() => sessions[0]?.pongs === 1);
    const silent = connect(server.port, "127.0.0.1").resume();
    silent.on("error", () => undefined);
    silent.write(`GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
    await until(() => webSockets.size === 2);
    const ended = new Promise((resolve) => silent.on("close", resolve));
    for (let tick = 0; tick < 3; tick += 1) {
      webSockets.tick();
      await until(() => sessions[0]?.pongs === tick + 2);
    }
    await ended;
    expect(socket.readyState).toBe(WebSocket.OPEN);
    expect([sessions[1]?.closedWith, webSockets.size]).toEqual([1006, 1]);
  });
});

describe("a client that does not read", () => {
  function played(unsentBytesMax = 1_000): { connection: WebSocketConnection; wire: WireSocket; reported: string[] } {
    const reported: string[] = [];
    const wire = new WireSocket();
    const session: SocketSession = {
      requestId: "req_1",
      opened: () => {},
      received: () => {},
      ponged: () => {},
      writable: () => reported.push("writable"),
      closed: (code) => reported.push(`closed ${code}`),
      tick: () => {},
      drain: () => {},
    };
    const connection = new WebSocketConnection(
      { session, messageBytesMax: 100, unsentBytesMax },
      { socket: wire, failed: () => {}, ended: (lingers) => reported.push(lingers ? "ended, lingers" : "ended") },
    );
    return { connection, wire, reported };
  }
  const frames = (count: number): string => Array.from({ length: count }, (_, index) => `\x81\x02${index}x`).join("");

  test("gets everything in order when it reads again, and the session is notified once", () => {
    const { connection, wire, reported } = played();
    const socket: Socket = connection;
    wire.takes = 5;
    expect([socket.send("0x"), socket.send("1x"), socket.send("2x")]).toEqual([4, 4, 4]);
    wire.takes = 3;
    expect([socket.send("3x"), socket.send("4x"), socket.getBufferedAmount()]).toEqual([-1, -1, 5]);
    connection.clientDrained();
    expect([reported, socket.getBufferedAmount()]).toEqual([[], 2]);
    connection.clientDrained();
    expect([reported, wire.written, socket.getBufferedAmount()]).toEqual([["writable"], frames(5), 0]);
  });

  test("is ended beyond the bound of what waits", () => {
    const { connection, wire, reported } = played(20);
    wire.takes = 0;
    for (let index = 0; index < 6; index += 1) connection.send("ab");
    expect([wire.closedBy, reported, connection.getBufferedAmount()]).toEqual([
      "terminate",
      ["closed 1006", "ended"],
      0,
    ]);
    expect(connection.send("ab")).toBe(0);
  });

  test("gets what is corked in one write, and nothing behind a closing frame", () => {
    const { connection, wire, reported } = played();
    let writes = 0;
    const write = wire.write.bind(wire);
    wire.write = (data) => {
      writes += 1;
      return write(data);
    };
    connection.cork(() => {
      for (let index = 0; index < 3; index += 1) connection.send(`${index}x`);
    });
    expect([writes, wire.written]).toEqual([1, frames(3)]);
    connection.close(4000, "why");
    connection.send("late");
    connection.close(4001);
    expect(wire.written).toBe(`${frames(3)}\x88\x05\x0f\xa0why`);
    connection.fromClient(clientFrame({ opcode: 8, payload: Uint8Array.of(0x0f, 0xa0) }));
    expect(reported).toEqual(["closed 4000", "ended, lingers"]);
  });
});
