import { type Clock, type Timer, within } from "@sluice/lib";
import type { NetEvents } from "../../events.ts";
import type { FrontedPeers } from "../../fronted-peers.ts";
import { Connection, type ConnectionOwner, type ConnectionTimes, type Handled } from "./connection.ts";
import type { ConnectionLimit } from "./connection-limit.ts";
import type { HeadFault, HttpRequest } from "./request.ts";
import { type ClientSocket, type HttpAnswer, ResponseWriter } from "./response-writer.ts";

export interface HttpServerOptions {
  readonly hostname: string;
  /** 0 takes any free port. */
  readonly port: number;
  /**
   * Whether other processes of this user may listen on the port as well; the system spreads connections over them.
   * Otherwise the port is this server's alone, since two servers on one port would split the calls.
   */
  readonly sharesPort?: boolean;
  readonly times?: Partial<ConnectionTimes>;
}

export interface HttpServerDependencies {
  readonly clock: Clock;
  readonly events: NetEvents;
  /** Answers a request; an error that it throws is reported and answered by `refusal`. */
  readonly answer: (request: HttpRequest) => Handled | Promise<Handled>;
  /** The answer to bytes that are no request, and to a request whose handler failed. */
  readonly refusal: (fault: HeadFault | "fault") => HttpAnswer;
  /** Without one, connections are bounded by the process's descriptors alone. */
  readonly connectionLimit?: ConnectionLimit;
  /** Of the front that this server is behind, if it is. */
  readonly peers?: FrontedPeers;
}

/** web3.js keeps its sockets for 19 s and expects them to live. */
const timesDefault: ConnectionTimes = { idleMs: 60_000, headMs: 10_000, lingerMs: 2_000, partingMs: 500 };

const noPlace: HeadFault = { status: 503, message: "The server has no place for another connection now" };
/** Connections that are examined to find an idle one in favour of a new one. */
const examinedMax = 64;

/** An HTTP/1.1 server on one port. Listens at once; throws when the port cannot be had. */
export class HttpServer implements ConnectionOwner, AsyncDisposable {
  readonly #dependencies: HttpServerDependencies;
  readonly #times: ConnectionTimes;
  readonly #listener: Bun.TCPSocketListener<Connection | undefined>;
  readonly #connections = new Set<Connection>();
  readonly #timer: Timer;
  #pending = 0;
  #emptied: (() => void) | null = null;
  isDraining = false;
  nowMs: number;
  date = "";

  constructor(options: HttpServerOptions, dependencies: HttpServerDependencies) {
    this.#dependencies = dependencies;
    this.#times = { ...timesDefault, ...options.times };
    this.nowMs = dependencies.clock.monotonic();
    this.#listener = Bun.listen<Connection | undefined>({
      hostname: options.hostname,
      port: options.port,
      ...(options.sharesPort === true ? { reusePort: true } : { exclusive: true }),
      // A client that has sent its requests may say that these were all.
      allowHalfOpen: true,
      data: undefined,
      socket: {
        open: (socket) => this.#opened(socket),
        data: (socket, bytes) => socket.data?.received(bytes),
        end: (socket) => socket.data?.halfClosed(),
        drain: (socket) => socket.data?.drained(),
        close: (socket) => socket.data?.closed(),
        error: (socket, error) => {
          // An error with a code is the network's; any other is of a handler, and ends this connection alone.
          if (!("code" in error)) dependencies.events.internalError("listener", error, {});
          socket.data?.terminate();
        },
      },
    });
    this.tick();
    const { idleMs, headMs, lingerMs } = this.#times;
    this.#timer = dependencies.clock.every(Math.min(1_000, idleMs / 2, headMs / 2, lingerMs / 2), () => this.tick());
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Requests that have not been answered yet. */
  get pending(): number {
    return this.#pending;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Reads the clock and ends what is past its time; runs by itself. */
  tick(): void {
    this.nowMs = this.#dependencies.clock.monotonic();
    this.date = `Date: ${new Date(this.#dependencies.clock.now()).toUTCString()}\r\n`;
    for (const connection of this.#connections) connection.check(this.nowMs, this.#times);
  }

  #opened(socket: Bun.Socket<Connection | undefined>): void {
    const { connectionLimit } = this.#dependencies;
    if (connectionLimit?.isFull === true && !this.#endIdle()) {
      connectionLimit.refused();
      this.#refuse(socket);
      return;
    }
    connectionLimit?.opened();
    const connection = new Connection(socket, this);
    socket.data = connection;
    this.#connections.add(connection);
    if (this.isDraining) connection.drain();
  }

  /** Ends a connection that waits for a request, if one is found soon; those that are at work are looked at last. */
  #endIdle(): boolean {
    let examined = 0;
    for (const connection of this.#connections) {
      if (connection.endIfIdle()) return true;
      examined += 1;
      if (examined >= examinedMax || examined >= this.#connections.size) return false;
      this.#connections.delete(connection);
      this.#connections.add(connection);
    }
    return false;
  }

  #refuse(socket: Bun.Socket<Connection | undefined>): void {
    const framing = { date: this.date, isLast: true, request: null };
    void new ResponseWriter(socket).send(this.#dependencies.refusal(noPlace), framing);
    socket.end();
  }

  /** The client's address, also behind a front. */
  addressOf({ remoteAddress, remotePort }: ClientSocket): string {
    return this.#dependencies.peers?.addressOf(remoteAddress, remotePort) ?? remoteAddress;
  }

  handle(request: HttpRequest): Handled | Promise<Handled> {
    try {
      const handled = this.#dependencies.answer(request);
      return handled instanceof Promise ? handled.catch((error: unknown) => this.#failed(error)) : handled;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(error: unknown): HttpAnswer {
    this.#dependencies.events.internalError("listener", error, {});
    return this.#dependencies.refusal("fault");
  }

  refusal(fault: HeadFault): HttpAnswer {
    return this.#dependencies.refusal(fault);
  }

  begun(): void {
    this.#pending += 1;
  }

  finished(): void {
    this.#pending -= 1;
  }

  ended(connection: Connection): void {
    this.#connections.delete(connection);
    this.#dependencies.connectionLimit?.closed();
    if (this.#connections.size === 0) this.#emptied?.();
  }

  /**
   * Takes no more connections, closes those that have waited for a request for long, lets the others finish their
   * answer or bring one more request, and after `deadlineMs` ends what is left.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.isDraining = true;
    this.#listener.stop(false);
    this.nowMs = this.#dependencies.clock.monotonic();
    for (const connection of this.#connections) connection.drain();
    if (this.#connections.size > 0 && deadlineMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#emptied = resolve;
      const ticks = this.#dependencies.clock.every(this.#times.partingMs / 4, () => this.tick());
      await within(this.#dependencies.clock, deadlineMs, promise);
      ticks.cancel();
    }
    for (const connection of this.#connections) connection.terminate();
    this.#timer.cancel();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }
}
