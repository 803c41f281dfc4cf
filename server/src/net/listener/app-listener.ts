import { closeCodes } from "@sluice/contract/close-codes";
import { type Clock, type Timer, within } from "@sluice/lib";
import type { Server, ServerWebSocket } from "bun";
import { type FrontPage, frontPage, isUpgrade, pathOf, problemResponse, targetOf } from "../../http/index.ts";
import type { NetEvents } from "../events.ts";
import type { FrontedPeers } from "../fronted-peers.ts";
import type { AppMount } from "../http1/server/web.ts";
import type { SocketMount, SocketSession } from "../websocket/session.ts";
import { withHost } from "./with-host.ts";

type SocketData = { readonly session: SocketSession };
export type RuntimeServer = Server<SocketData>;

/**
 * More than any client sends, so that a client sees the application's refusal: the runtime's has neither a body nor a
 * request id. Memory is bounded by the applications, which read no body without a bound; the runtime drops unread
 * bodies.
 */
export const runtimeBodyBytesMax = 64 * 1024 ** 3;

export interface ListenerOptions {
  readonly hostname: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Bodies beyond this are cut off by the runtime; applications refuse sooner, with an answer. */
  readonly bodyBytesMax: number;
}

/**
 * Seconds without a byte before a connection is closed. web3.js keeps its sockets for 19 s and expects them to live.
 */
const idleSeconds = 60;
/** The longest message of a client; the bound of each session is below it. */
const socketMessageBytesMax = 256 * 1024;
const socketBufferBytesMax = 64 * 1024 * 1024;
const tickMs = 30_000;

/** One listening port. Everything that listens in this process listens through here. */
export class Listener implements AsyncDisposable {
  readonly #server: RuntimeServer;
  readonly #sessions = new Set<SocketSession>();
  readonly #clock: Pick<Clock, "after">;
  readonly #timer: Timer;
  #draining = false;

  /** Throws when the port cannot be had. */
  constructor(
    options: ListenerOptions,
    dependencies: {
      readonly clock: Pick<Clock, "after" | "every">;
      readonly answer: (
        request: Request,
        server: RuntimeServer,
      ) => Response | undefined | Promise<Response | undefined>;
      readonly requestId: () => string;
      readonly events: NetEvents;
    },
  ) {
    this.#server = Bun.serve<SocketData>({
      hostname: options.hostname,
      port: options.port,
      idleTimeout: idleSeconds,
      maxRequestBodySize: options.bodyBytesMax,
      development: false,
      // With `development: false` Bun shares the port with a second server that asks for it, and both would split the
      // calls.
      reusePort: false,
      fetch: dependencies.answer,
      // The runtime would answer an error with a page of its own, which shows internals.
      error: (error) => {
        const requestId = dependencies.requestId();
        dependencies.events.internalError("listener", error, { requestId });
        return problemResponse("INTERNAL_ERROR", { requestId });
      },
      websocket: {
        maxPayloadLength: socketMessageBytesMax,
        backpressureLimit: socketBufferBytesMax,
        closeOnBackpressureLimit: true,
        idleTimeout: 120,
        sendPings: false,
        perMessageDeflate: false,
        open: (socket) => this.#opened(socket),
        message: (socket, data) => this.#received(socket, data, dependencies.events),
        pong: (socket) => socket.data.session.ponged(),
        drain: (socket) => socket.data.session.writable?.(),
        close: (socket, code) => {
          this.#sessions.delete(socket.data.session);
          socket.data.session.closed(code);
        },
      },
    });
    this.#clock = dependencies.clock;
    this.#timer = dependencies.clock.every(tickMs, () => this.tick());
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  /** Requests that have not been answered yet. */
  get pending(): number {
    return this.#server.pendingRequests;
  }

  get sockets(): number {
    return this.#sessions.size;
  }

  /** What happens to every socket each 30 seconds. */
  tick(): void {
    for (const session of this.#sessions) session.tick();
  }

  /** An error of a session is reported and ends it alone: the runtime would only write it to the error stream. */
  #received(socket: ServerWebSocket<SocketData>, data: string | Buffer, events: NetEvents): void {
    try {
      socket.data.session.received(data);
    } catch (error) {
      events.internalError("listener", error, {});
      socket.close(closeCodes.internalError);
    }
  }

  #opened(socket: ServerWebSocket<SocketData>): void {
    const { session } = socket.data;
    this.#sessions.add(session);
    session.opened(socket);
    if (this.#draining) session.drain();
  }

  /**
   * Takes no more connections, closes sockets with 1001, lets requests in flight finish, and after `deadlineMs` ends
   * what is left.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.#draining = true;
    this.#timer.cancel();
    for (const session of this.#sessions) session.drain();
    const drained = await within(this.#clock, deadlineMs, this.#server.stop(false));
    if (!drained.ok) await this.#server.stop(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }
}

export interface AppListenerDependencies {
  readonly clock: Pick<Clock, "after" | "every">;
  readonly fetch: AppMount["fetch"];
  /** WebSocket endpoints of the port; the application answers an upgrade of any other path. */
  readonly sockets: readonly SocketMount[];
  readonly requestId: () => string;
  readonly events: NetEvents;
  /** Of the front that this listener is behind, if it is. */
  readonly peers?: FrontedPeers;
}

export interface AppListenerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Absent where the application answers all paths itself. */
  readonly page?: FrontPage;
}

const notOneHost = "The request must carry exactly one Host header, with a host and an optional port";

/** A port of one application that also takes WebSockets. Listens at once; throws when it cannot. */
export class AppListener implements AsyncDisposable {
  readonly #dependencies: AppListenerDependencies;
  readonly #page: FrontPage | null;
  readonly #listener: Listener;
  #draining = false;

  constructor({ hostname, port, page }: AppListenerOptions, dependencies: AppListenerDependencies) {
    this.#dependencies = dependencies;
    this.#page = page ?? null;
    this.#listener = new Listener(
      { hostname, port, bodyBytesMax: runtimeBodyBytesMax },
      { ...dependencies, answer: (request, server) => this.#answer(request, server) },
    );
  }

  get port(): number {
    return this.#listener.port;
  }

  get #docsBase(): string | null {
    return this.#page?.gateway.url ?? null;
  }

  /** What happens to every socket each 30 seconds; tests do not wait for it. */
  tick(): void {
    this.#listener.tick();
  }

  #answer(
    received: Request,
    server: RuntimeServer,
  ): ReturnType<AppMount["fetch"]> | undefined | Promise<Response | undefined> {
    const requestId = this.#dependencies.requestId();
    const request = withHost(received);
    if (request === null)
      return problemResponse("INVALID_REQUEST", { requestId, docsBase: this.#docsBase, message: notOneHost });
    if (request.method === "GET" && isUpgrade(request.headers)) {
      const path = pathOf(targetOf(request.url));
      const mount = this.#dependencies.sockets.find((candidate) => candidate.serves(path));
      if (mount !== undefined) return this.#begin(received, server, { mount, requestId });
    }
    const page = this.#page === null ? null : frontPage(request, this.#page, requestId);
    if (page !== null) return page;
    return this.#dependencies.fetch(request, {
      requestId,
      socketAddress: this.#addressOf(received, server),
      docsBase: this.#docsBase,
    });
  }

  /** The client's address, also behind a front. */
  #addressOf(request: Request, server: RuntimeServer): string {
    const peer = server.requestIP(request);
    if (peer === null) return "";
    return this.#dependencies.peers?.addressOf(peer.address, peer.port) ?? peer.address;
  }

  #begin(
    request: Request,
    server: RuntimeServer,
    { mount, requestId }: { readonly mount: SocketMount; readonly requestId: string },
  ): Response | undefined | Promise<Response | undefined> {
    if (this.#draining) return problemResponse("OVERLOADED", { requestId, docsBase: this.#docsBase });
    const session = mount.begin(request, { requestIP: () => ({ address: this.#addressOf(request, server) }) });
    const upgrade = (ready: SocketSession): Response | undefined => {
      const headers = { "X-Request-Id": ready.requestId };
      if (server.upgrade(request, { data: { session: ready }, headers })) return undefined;
      ready.closed(1006);
      return problemResponse("INVALID_REQUEST", { requestId: ready.requestId, docsBase: this.#docsBase });
    };
    return session instanceof Promise ? session.then(upgrade) : upgrade(session);
  }

  /** Takes no more connections, closes sockets with 1001, and ends what is left after `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    this.#draining = true;
    await this.#listener.stop(deadlineMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(1_000);
  }
}
