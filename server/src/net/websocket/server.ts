import type { Clock } from "@sluice/lib";
import type { NetEvents } from "../events.ts";
import type { Upgrade } from "../http1/server/connection.ts";
import type { HttpRequest } from "../http1/server/request.ts";
import { WebSocketConnection } from "./connection.ts";
import { handshakeAnswer } from "./handshake.ts";
import { closedAbnormally, type SocketSession } from "./session.ts";

/** How often sessions are pinged and checked. */
export const tickMs = 30_000;
/** The longest message of a client; each session has a bound of its own below it. */
export const messageBytesMax = 256 * 1024;
/** What may wait for a client that does not read before its connection is ended; sessions have bounds below it. */
export const unsentBytesMax = 64 * 1024 * 1024;

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
            ended: () => {
              this.#connections.delete(connection);
              ended();
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
