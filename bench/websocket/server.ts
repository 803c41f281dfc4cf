/**
 * A server of WebSockets that sends every client the same notification, or each message back; orders arrive on stdin.
 */
import { systemClock } from "@sluice/lib";
import type { ClientSocket } from "../../server/src/net/http1/server/response-writer.ts";
import {
  type Handled,
  type HttpRequest,
  HttpServer,
  type Socket,
  type SocketSession,
  WebSocketServer,
} from "../../server/src/net/index.ts";
import { Listener } from "../../server/src/net/listener/app-listener.ts";
import { ordersOf } from "../orders.ts";
import { Tunnel } from "./tunnel.ts";

export type Way = "tunnel" | "own" | "runtime";
export interface Order {
  /** Messages to every client, one each `everyMs`. */
  readonly messages: number;
  readonly everyMs: number;
}

const way = process.argv[2] as Way;
const sockets = new Set<Socket>();

function session(): SocketSession {
  let own: Socket | null = null;
  return {
    requestId: "req_0",
    opened: (socket) => {
      own = socket;
      sockets.add(socket);
    },
    received: (data) => void own?.send(data),
    ponged: () => undefined,
    closed: () => own !== null && sockets.delete(own),
    tick: () => undefined,
    drain: () => undefined,
  };
}

const events = { internalError: (_where: string, error: unknown) => console.error(error) };
const listener = new Listener(
  { hostname: "127.0.0.1", port: 0, bodyBytesMax: 1024 },
  {
    clock: systemClock,
    events,
    requestId: () => "req_1",
    answer: (request, server) =>
      server.upgrade(request, { data: { session: session() } }) ? undefined : new Response(null, { status: 400 }),
  },
);
const webSockets = new WebSocketServer({ clock: systemClock, events });

function upgraded(request: HttpRequest): Handled {
  if (way === "own") return webSockets.upgrade(request, session()) ?? refused;
  const beginning = new Uint8Array(request.headers.bytes());
  const begin = (socket: ClientSocket, ended: () => void): Tunnel =>
    new Tunnel({ port: listener.port, beginning }, { socket, ended });
  return { head: "", begin, abandoned: () => undefined };
}

const refused = { status: 400, fields: "", body: "" };
const server = new HttpServer(
  { hostname: "127.0.0.1", port: 0 },
  { clock: systemClock, events, answer: upgraded, refusal: () => refused },
);
console.log(JSON.stringify({ port: way === "runtime" ? listener.port : server.port }));

for await (const { messages, everyMs } of ordersOf<Order>(Bun.stdin.stream())) {
  for (let sent = 0; sent < messages; sent += 1) {
    const text = `{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"parent":${sent},"root":${sent},"slot":${sent + 1}},"subscription":1}}`;
    for (const socket of sockets) socket.send(text);
    await Bun.sleep(everyMs);
  }
  console.log(JSON.stringify({ sent: messages * sockets.size }));
}
process.exit(0);
