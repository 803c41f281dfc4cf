import type { Clock, Timer } from "@sluice/lib";
import type { ReadState } from "../framing.ts";
import {
  answerIn,
  type ClientConnectionOwner,
  Connection,
  type ConnectionPoolOptions,
  type PooledCall,
  plainHandlers,
  tlsHandlers,
  type UnderWay,
} from "./connection.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** Resolution of all deadlines. One timer looks at all calls: a timer a call costs more than the call's parsing. */
const sweepMs = 50;
/** How long an address is tried while there are others; the last one has the rest of the time. */
const addressMsMax = 1_500;

/**
 * The connections to one node: one call at a time on each, kept for the next. The one used last is taken first, so that
 * what a low load does not need is closed. Calls beyond the bound wait their turn, within their deadline.
 */
export class ConnectionPool implements ClientConnectionOwner, Disposable {
  readonly #options: ConnectionPoolOptions;
  readonly #clock: Clock;
  readonly #idleMsMax: number;
  readonly #connectMsMax: number;
  readonly #address: { readonly hostname: string; readonly port: number };
  readonly #tls: Bun.TLSOptions | null;
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting = new WaitingCalls();
  /** Attempts to connect that are not over, also of connections that no call waits for any more. */
  #attempts = 0;
  #timer: Timer | null = null;
  /** Monotonic time of the last sweep; exact enough for what is counted in seconds. */
  #sweptAt = 0;
  #isOver = false;

  constructor(options: ConnectionPoolOptions, dependencies: { clock: Clock }) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#idleMsMax = options.idleMsMax ?? 4_000;
    this.#connectMsMax = options.connectMsMax ?? 5_000;
    const { hostname, port, isTls } = options.target;
    this.#address = { hostname, port };
    const authorities = options.authorities === undefined ? {} : { ca: [...options.authorities] };
    this.#tls = isTls ? { serverName: hostname, rejectUnauthorized: true, ...authorities } : null;
  }

  /** Connections, idle ones included. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Calls on the wire and calls that wait. */
  get inFlight(): number {
    return this.connections - this.#idle.length + this.#waiting.size;
  }

  /** Puts a call on a connection, in the queue, or settles it at once. */
  begin(call: PooledCall): void {
    if (!this.#isOver && this.#waiting.size === 0 && this.#place(call)) return;
    if (this.#isOver) call.settle({ kind: "unreachable" });
    else if (this.#waiting.size >= this.#options.waitingMax) call.settle({ kind: "overloaded" });
    else this.#waiting.add(call);
  }

  /** False when every connection is busy. */
  #place(call: PooledCall): boolean {
    if (!call.ownConnection && !call.isRepeated) {
      const kept = this.#idle.pop();
      if (kept !== undefined) {
        kept.isReused = true;
        kept.send(call, call.head ?? this.#options.target.head);
        return true;
      }
    }
    if (this.#connections.size >= this.#options.connectionsMax) {
      const oldest = this.#idle.shift();
      if (oldest === undefined) return false;
      this.#close(oldest, "politely");
    }
    this.#open(call);
    return true;
  }

  #open(call: PooledCall): void {
    // Attempts that were given up last until the system gives them up too, minutes later; they are bounded as well.
    if (this.#attempts >= 2 * this.#options.connectionsMax) {
      call.settle({ kind: "unreachable" });
      return;
    }
    const nowMs = this.#clock.monotonic();
    this.#watch(nowMs);
    const connection = this.#begin(call, nowMs);
    if (this.#options.locate === undefined) this.#connect(connection, this.#address.hostname);
    else void this.#locate(connection, this.#options.locate);
  }

  #begin(call: PooledCall, nowMs: number): Connection {
    const connection = new Connection({ sinceMs: nowMs }, this);
    connection.call = call;
    this.#connections.add(connection);
    this.#attempts += 1;
    return connection;
  }

  /** Nothing of the call has been sent: it goes to the next of the addresses. */
  #openNext(call: PooledCall, [address = "", ...others]: readonly string[]): void {
    if (this.#attempts >= 2 * this.#options.connectionsMax) {
      call.settle({ kind: "unreachable" });
      return;
    }
    this.#connectTo(this.#begin(call, this.#clock.monotonic()), address, others);
  }

  #connectTo(connection: Connection, address: string, others: readonly string[]): void {
    connection.address = address;
    connection.others = others;
    if (others.length > 0) connection.connectBy = this.#clock.monotonic() + addressMsMax;
    this.#connect(connection, address);
  }

  async #locate(connection: Connection, locate: NonNullable<ConnectionPoolOptions["locate"]>): Promise<void> {
    const located = await locate();
    if (located.ok && !connection.isOver) {
      const [address, ...others] = located.addresses;
      this.#connectTo(connection, address, others);
      return;
    }
    connection.refusal = located.ok ? null : located.refusal;
    connection.wasClosed();
  }

  #connect(connection: Connection, hostname: string): void {
    const place = { hostname, port: this.#address.port, data: connection };
    try {
      const opening =
        this.#tls === null
          ? Bun.connect<Connection>({ ...place, socket: plainHandlers })
          : Bun.connect<Connection>({ ...place, socket: tlsHandlers, tls: this.#tls });
      // The handlers were called already; the promise reports it a second time.
      opening.catch(() => connection.wasClosed());
    } catch {
      // Not at once: the next waiting call would be tried from within this one, and after it the next.
      queueMicrotask(() => connection.wasClosed());
    }
  }

  attempted(): void {
    this.#attempts -= 1;
  }

  opened(connection: Connection): void {
    const { call } = connection;
    if (call !== null) connection.send(call, call.head ?? this.#options.target.head);
  }

  ended(connection: Connection, state: Exclude<ReadState, "more">): void {
    const { reader } = connection;
    const underWay = connection.release();
    // Bytes on an idle connection answer nothing that was asked.
    if (underWay === null) {
      this.#forget(connection, "now");
      return;
    }
    const outcome = state === "done" ? answerIn(reader) : ({ kind: state } as const);
    const seconds = reader.head.keepAliveSeconds;
    if (connection.isReusable && seconds !== 0) {
      connection.sinceMs = this.#sweptAt;
      this.#idle.push(connection);
    } else this.#close(connection, state === "done" ? "politely" : "now");
    this.#admit();
    underWay.settle(outcome);
  }

  /** Slow readers may hold half of the connections; the other half stays for calls that end by themselves. */
  grown(connection: Connection): void {
    const { call, reader } = connection;
    if (call === null) return;
    let streams = 0;
    for (const { source } of this.#connections) if (source !== null) streams += 1;
    if (streams < Math.max(1, this.#options.connectionsMax / 2)) {
      const { status, retryAfter, location, contentEncoding: coding, contentLength } = reader.head;
      call.settle({
        kind: "streaming",
        status,
        retryAfter,
        location,
        coding,
        contentLength,
        source: connection.stream(),
      });
      return;
    }
    this.abandoned(connection);
    call.settle({ kind: "overloaded" });
  }

  /** Its place goes to who waits. */
  abandoned(connection: Connection): void {
    connection.release();
    this.#close(connection, "now");
    this.#admit();
  }

  lost(connection: Connection): void {
    this.#connections.delete(connection);
    const { reader } = connection;
    const underWay = connection.release();
    this.#tellUnreached(connection);
    if (underWay === null) this.#forget(connection, "now");
    else if (connection.isOpening && connection.others.length > 0) this.#openNext(underWay.call, connection.others);
    else if (!connection.isOpening && reader.isStarted) {
      underWay.settle(reader.end() === "done" ? answerIn(reader) : { kind: "malformed" });
    } else if (connection.isReused && underWay.isRepeatable) {
      // The node closed the kept connection as the call was written. Nothing came back, so a read is asked afresh.
      underWay.call.isRepeated = true;
      this.#open(underWay.call);
    } else if (connection.refusal !== null) underWay.settle({ kind: "refused", reason: connection.refusal });
    else underWay.settle({ kind: connection.isOpening ? "unreachable" : "closed" });
    this.#admit();
  }

  #tellUnreached({ isOpening, address }: Connection): void {
    if (isOpening && address !== null) this.#options.unreached?.(address);
  }

  #forget(idle: Connection, how: "now" | "politely"): void {
    const at = this.#idle.indexOf(idle);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#close(idle, how);
  }

  /** Gives what is free to those who wait longest. */
  #admit(): void {
    while (this.#waiting.size > 0) {
      if (this.#idle.length === 0 && this.#connections.size >= this.#options.connectionsMax) return;
      const call = this.#waiting.take();
      if (call !== null) this.#place(call);
    }
  }

  #close(connection: Connection, how: "now" | "politely"): void {
    this.#connections.delete(connection);
    connection.close(how);
  }

  #watch(nowMs: number): void {
    if (this.#timer !== null) return;
    this.#sweptAt = nowMs;
    this.#timer = this.#clock.every(sweepMs, () => this.sweep(), { keepsAlive: true });
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Ends what is past its time; runs by itself while there is a connection. */
  sweep(): void {
    const nowMs = this.#clock.monotonic();
    this.#sweptAt = nowMs;
    for (const call of this.#waiting.takeOverdue(nowMs)) call.settle({ kind: "timeout" });
    for (const connection of this.#connections) this.#check(connection, nowMs);
    this.#admit();
    if (this.#connections.size === 0 && this.#waiting.size === 0) this.#rest();
  }

  #check(connection: Connection, nowMs: number): void {
    const { call } = connection;
    if (call === null) {
      const seconds = connection.reader.head.keepAliveSeconds;
      // A second before the node's own time, so that the two do not cross on the wire.
      const idleMsMax = Math.min(
        this.#idleMsMax,
        seconds === null ? Number.POSITIVE_INFINITY : seconds * 1_000 - 1_000,
      );
      if (nowMs - connection.sinceMs < idleMsMax) return;
      this.#forget(connection, "politely");
      return;
    }
    const kind = connection.overdue(nowMs, this.#connectMsMax);
    if (kind === null) return;
    const underWay = connection.release();
    this.#tellUnreached(connection);
    this.#close(connection, "now");
    if (underWay === null) return;
    if (kind === "unreachable" && connection.others.length > 0) this.#openNext(underWay.call, connection.others);
    else underWay.settle({ kind });
  }

  /** Closes every connection; calls under way are over as unreachable. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#rest();
    const waiting = this.#waiting.takeAll();
    const left: UnderWay[] = [];
    this.#idle.length = 0;
    for (const connection of this.#connections) {
      const underWay = connection.release();
      if (underWay !== null) left.push(underWay);
      this.#close(connection, "now");
    }
    for (const call of waiting) call.settle({ kind: "unreachable" });
    for (const underWay of left) underWay.settle({ kind: "unreachable" });
  }
}
