import { createHash } from "node:crypto";
import type { Clock } from "@sluice/lib";
import type { NetEvents } from "../events.ts";
import type { Upgrade } from "../http1/server/connection.ts";
import type { HttpRequest, RequestHead } from "../http1/server/request.ts";
import { WebSocketConnection } from "./connection.ts";
import { closedAbnormally, type SocketSession } from "./session.ts";

/** How often sessions are pinged and checked. */
const tickMs = 30_000;
/** The longest message of a client; the bound of each session is below it. */
const messageBytesMax = 256 * 1024;
/** What may wait for a client that does not read before its connection is ended; sessions have bounds below it. */
const unsentBytesMax = 64 * 1024 * 1024;

/** The WebSockets on the connections of HTTP/1.1 servers: accepts their handshakes and keeps their sessions alive. */
export class WebSocketServer implements Disposable {
  readonly #events: NetEvents;
  readonly #connections = new Set<WebSocketConnection>();
  readonly #timer: Disposable;
  #isDraining = false;

  constructor(dependencies: { readonly clock: Pick<Clock, "every">; readonly events: NetEvents }) {
    this.#events = dependencies.events;
    this.#timer = dependencies.clock.every(tickMs, () => this.tick());
  }

  /** Connected clients. */
  get size(): number {
    return this.#connections.size;
  }

  /** The switch of a request's connection to `session`; null, with nothing done, when the handshake is not valid. */
  upgrade(request: HttpRequest, session: SocketSession): Upgrade | null {
    const body = request.takeBody();
    if (body === null || body.length > 0) return null;
    const head = handshakeAnswer(request.headers, `X-Request-Id: ${session.requestId}\r\n`);
    if (head === null) return null;
    return {
      head,
      begin: (socket, ended) => {
        const connection = new WebSocketConnection(
          { session, messageBytesMax, unsentBytesMax },
          {
            socket,
            failed: (error) => this.#events.internalError("websocket", error, { requestId: session.requestId }),
            ended: (lingers) => {
              this.#connections.delete(connection);
              ended(lingers);
            },
          },
        );
        this.#connections.add(connection);
        session.opened(connection);
        if (this.#isDraining) session.drain();
        return connection;
      },
      abandoned: () => session.closed(closedAbnormally),
    };
  }

  /** Pings and checks every session; runs by itself. */
  tick(): void {
    for (const { session } of this.#connections) session.tick();
  }

  /** Closes all sessions, and those that are still to open, with 1001. */
  drain(): void {
    this.#isDraining = true;
    for (const { session } of this.#connections) session.drain();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}

/** What the key of a handshake is hashed with (RFC 6455, section 1.3). */
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** 16 bytes in base64. */
const keyPattern = /^[+/0-9A-Za-z]{22}==$/;

/** The answer to a valid WebSocket handshake, with `fields` (header lines, each with its end) in it; else null. */
export function handshakeAnswer(headers: Pick<RequestHead, "get" | "minor">, fields: string): string | null {
  const key = headers.get("sec-websocket-key");
  if (headers.minor === 0 || key === null || !keyPattern.test(key)) return null;
  const accept = createHash("sha1").update(key).update(acceptSuffix).digest("base64");
  // A client that offers subprotocols expects one of them; no endpoint of the server differs by it.
  const protocol = headers.get("sec-websocket-protocol")?.split(",")[0]?.trim() ?? "";
  const chosen = protocol === "" ? "" : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${chosen}${fields}\r\n`;
}
