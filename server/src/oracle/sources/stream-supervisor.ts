import { backoffDelayMs, type Clock, type Random } from "@sluice/lib";
import type { Market, SourceEndpoint, StreamMessage, StreamRules } from "./exchange.ts";
import { callExchange } from "./http-call.ts";
import type { DropReason } from "./row.ts";
import type { RequestEnd, StreamEnd } from "./source-record.ts";
import { StreamSession } from "./stream-session.ts";

export interface StreamSupervisorOptions {
  readonly rules: StreamRules;
  readonly endpoint: SourceEndpoint;
  readonly markets: readonly Market[];
  /** The messages by which a connection shows that it carries what it is there for. */
  readonly flow: "rows" | "candles";
}

export interface StreamSupervisorDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly onMessage: (message: StreamMessage) => void;
  readonly onDropped: (reason: DropReason) => void;
  /** A connection became the current one: its sequence numbers may start anywhere. */
  readonly onStarted: () => void;
  readonly onOpened: () => void;
  readonly onEnded: (reason: StreamEnd) => void;
  readonly onTicketAsked: (end: RequestEnd, durationMs: number) => void;
}

/** The first retry starts almost at once; later ones wait longer each time. */
const firstRetryMsMax = 500;
const backoff = { baseMs: 1_000, maxMs: 60_000 };
/** After a connection carried rows for this long, the next loss counts as the first. */
const healthyMs = 60_000;
/** How long before its end a connection is replaced, and over how long the replacements are spread. */
const overlapMs = 15 * 60_000;
const overlapSpreadMs = 5 * 60_000;
const ticketMsMax = 10_000;

/**
 * Keeps one connection of an exchange open. A lost one is opened again after a wait. One that the exchange will close
 * is replaced before: the next is opened beside it, and the old one closes when the first row arrived on the new one.
 */
export class StreamSupervisor implements AsyncDisposable {
  readonly #rules: StreamRules;
  readonly #flow: StreamSupervisorOptions["flow"];
  readonly #endpoint: SourceEndpoint;
  readonly #markets: readonly Market[];
  readonly #dependencies: StreamSupervisorDependencies;
  #current: StreamSession | null = null;
  #next: StreamSession | null = null;
  #ticket: { readonly abort: AbortController; readonly done: Promise<void> } | null = null;
  #ticketAtMs = 0;
  #attempts = 0;
  #attemptAtMs: number;
  #replaceAtMs = Number.POSITIVE_INFINITY;
  #flowingSinceMs: number | null = null;
  #subscribedAtMs: number | null = null;
  #isClosed = false;

  constructor(options: StreamSupervisorOptions, dependencies: StreamSupervisorDependencies) {
    this.#rules = options.rules;
    this.#flow = options.flow;
    this.#endpoint = options.endpoint;
    this.#markets = options.markets;
    this.#dependencies = dependencies;
    this.#attemptAtMs = dependencies.clock.monotonic();
  }

  get isSubscribed(): boolean {
    return this.#current?.isSubscribed ?? false;
  }

  /** Monotonic; null while there is no subscribed connection. */
  get subscribedAtMs(): number | null {
    return this.isSubscribed ? this.#subscribedAtMs : null;
  }

  step(): void {
    const now = this.#dependencies.clock.monotonic();
    this.#current?.step();
    this.#next?.step();
    if (this.#ticket !== null && now - this.#ticketAtMs > ticketMsMax) this.#ticket.abort.abort();
    if (this.#flowingSinceMs !== null && now - this.#flowingSinceMs > healthyMs) this.#attempts = 0;
    const isRequested = this.#current === null || now >= this.#replaceAtMs;
    if (isRequested && this.#next === null && this.#ticket === null && now >= this.#attemptAtMs) this.#open();
  }

  /** The exchange announced that it will close the connection. */
  replaceSoon(): void {
    this.#replaceAtMs = Math.min(this.#replaceAtMs, this.#dependencies.clock.monotonic());
  }

  /** Abandons the connection, because its data is unusable. */
  restart(reason: StreamEnd): void {
    this.#current?.end(reason);
  }

  #open(): void {
    const { clock, random } = this.#dependencies;
    // Every attempt is followed by a wait, so that no failure can make this a busy loop.
    const waitMs =
      this.#attempts === 0 ? firstRetryMsMax * random.next() : backoffDelayMs(this.#attempts - 1, backoff, random);
    this.#attemptAtMs = clock.monotonic() + waitMs;
    this.#attempts += 1;
    const { ticket, path, ping, silenceMs } = this.#rules;
    if (ticket !== undefined) {
      const abort = new AbortController();
      this.#ticketAtMs = clock.monotonic();
      this.#ticket = { abort, done: this.#openWithTicket(abort.signal) };
      return;
    }
    this.#connect({ url: this.#endpoint.ws + path, pingEveryMs: ping?.everyMs ?? null, silenceMs });
  }

  async #openWithTicket(signal: AbortSignal): Promise<void> {
    const { clock, random, onEnded, onTicketAsked } = this.#dependencies;
    const ticket = this.#rules.ticket;
    if (ticket === undefined) return;
    const url = this.#endpoint.rest + ticket.path;
    const outcome = await callExchange({ method: "POST", url, signal }, () => clock.now());
    this.#ticket = null;
    if (this.#isClosed) return;
    const durationMs = clock.monotonic() - this.#ticketAtMs;
    const connectionId = Buffer.from(random.bytes(8)).toString("hex");
    const read = outcome.kind === "answer" ? ticket.read(outcome.answer, this.#endpoint, connectionId) : null;
    if (read?.kind === "ticket") {
      onTicketAsked("rows", durationMs);
      this.#connect(read);
      return;
    }
    onTicketAsked(read?.kind ?? "unreachable", durationMs);
    // The wait that the exchange states overrides the backoff.
    if (read?.kind === "limited")
      this.#attemptAtMs = Math.max(this.#attemptAtMs, clock.monotonic() + (read.waitMs ?? 0));
    onEnded("no-ticket");
  }

  #connect(target: { url: string; pingEveryMs: number | null; silenceMs: number }): void {
    const { onDropped } = this.#dependencies;
    try {
      const session: StreamSession = new StreamSession(
        { ...target, rules: this.#rules, markets: this.#markets },
        {
          clock: this.#dependencies.clock,
          onMessage: (message) => this.#receive(session, message),
          onDropped,
          onSubscribed: () => this.#subscribed(session),
          onEnded: (reason) => this.#lost(session, reason),
        },
      );
      if (this.#current === null) this.#current = session;
      else this.#next = session;
    } catch {
      this.#dependencies.onEnded("connect-failed");
    }
  }

  #receive(session: StreamSession, message: StreamMessage): void {
    if (message.kind === this.#flow) this.#flowing(session);
    this.#dependencies.onMessage(message);
  }

  /** The first row by the next connection ends the old one. */
  #flowing(session: StreamSession): void {
    this.#flowingSinceMs ??= this.#dependencies.clock.monotonic();
    if (session !== this.#next) return;
    const old = this.#current;
    this.#next = null;
    this.#adopt(session);
    old?.end("replaced");
  }

  #subscribed(session: StreamSession): void {
    this.#dependencies.onOpened();
    if (this.#current === session) this.#adopt(session);
  }

  /** Makes this the current connection. */
  #adopt(session: StreamSession): void {
    const { clock, random, onStarted } = this.#dependencies;
    this.#current = session;
    this.#subscribedAtMs = clock.monotonic();
    const { sessionMs } = this.#rules;
    const leadMs = overlapMs + overlapSpreadMs * random.next();
    this.#replaceAtMs = sessionMs === null ? Number.POSITIVE_INFINITY : session.startedAtMs + sessionMs - leadMs;
    onStarted();
  }

  #lost(session: StreamSession, reason: StreamEnd): void {
    if (session === this.#next) this.#next = null;
    if (session === this.#current) {
      this.#flowingSinceMs = null;
      this.#subscribedAtMs = null;
      this.#replaceAtMs = Number.POSITIVE_INFINITY;
      // Sources that lost the same network do not reconnect in step.
      const soonMs = firstRetryMsMax * this.#dependencies.random.next();
      this.#attemptAtMs = Math.max(this.#attemptAtMs, this.#dependencies.clock.monotonic() + soonMs);
      this.#current = this.#next;
      this.#next = null;
      if (this.#current?.isSubscribed === true) this.#adopt(this.#current);
    }
    this.#dependencies.onEnded(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#ticket?.abort.abort();
    await this.#ticket?.done;
    this.#next?.end("stopped");
    this.#current?.end("stopped");
  }
}
