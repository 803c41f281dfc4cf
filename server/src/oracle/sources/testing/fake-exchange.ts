import { ManualClock, seededRandom } from "@sluice/lib";
import type { Server, ServerWebSocket } from "bun";
import type { SourceEvents } from "../../model/events.ts";
import type { Tick } from "../../model/tick.ts";
import type { TradedMinute } from "../../model/traded-minute.ts";
import type { Exchange, SourceEndpoint } from "../exchange.ts";
import { Source } from "../source.ts";

type Socket = ServerWebSocket<{ readonly url: URL }>;

const candlePath = /kline|candle|ohlc/i;

/** A request for this is no request of a source: it passes the time that sockets on this machine need. */
const turnPath = "/turn";

/** A server on a port of its own that speaks as a test instructs it to. */
export class FakeExchange implements AsyncDisposable {
  readonly sockets: Socket[] = [];
  readonly opened: URL[] = [];
  readonly received: string[] = [];
  readonly requests: string[] = [];
  /** What a request gets; 503 unless a test says otherwise. */
  answer: (path: string) => Response | Promise<Response> = () => new Response("", { status: 503 });
  /** Requests for candles, and what they get: nothing, unless a test says otherwise. */
  readonly candleRequests: string[] = [];
  answerCandles: (path: string) => Response | Promise<Response> = () => Response.json([]);
  /** Whether a connection is taken; a refused one is answered 401. */
  accepts: (url: URL) => boolean = () => true;
  onFrame: (socket: Socket, frame: string) => void = () => {};
  onOpen: (socket: Socket) => void = () => {};
  readonly #server: Server<{ readonly url: URL }>;

  constructor() {
    this.#server = Bun.serve<{ readonly url: URL }>({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) => this.#fetch(request, server),
      websocket: {
        open: (socket) => {
          this.sockets.push(socket);
          this.opened.push(socket.data.url);
          this.onOpen(socket);
        },
        message: (socket, data) => {
          this.received.push(String(data));
          this.onFrame(socket, String(data));
        },
        close: (socket) => {
          this.sockets.splice(this.sockets.indexOf(socket), 1);
        },
      },
    });
  }

  get endpoint(): SourceEndpoint {
    return { rest: `http://127.0.0.1:${this.#server.port}`, ws: `ws://127.0.0.1:${this.#server.port}` };
  }

  /** Sends one frame to every open connection. */
  push(frame: object | string): void {
    for (const socket of this.sockets) socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  cutAll(): void {
    for (const socket of [...this.sockets]) socket.terminate();
  }

  async #fetch(request: Request, server: Server<{ readonly url: URL }>): Promise<Response | undefined> {
    const url = new URL(request.url);
    if (request.headers.get("upgrade") === "websocket") {
      if (!this.accepts(url)) return new Response("", { status: 401 });
      return server.upgrade(request, { data: { url } }) ? undefined : new Response("", { status: 400 });
    }
    if (url.pathname === turnPath) return new Response("");
    if (candlePath.test(url.pathname)) {
      this.candleRequests.push(url.pathname + url.search);
      return this.answerCandles(url.pathname + url.search);
    }
    this.requests.push(`${request.method} ${url.pathname}${url.search}`);
    return this.answer(url.pathname + url.search);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

export interface ReportedEvent {
  readonly event: keyof SourceEvents;
  readonly detail: string;
}

/** A source against a fake exchange, with a clock that only the test moves. */
export class Bench implements AsyncDisposable {
  readonly fake = new FakeExchange();
  readonly clock: ManualClock;
  readonly ticks: Tick[] = [];
  readonly traded: TradedMinute[] = [];
  readonly reported: ReportedEvent[] = [];
  readonly source: Source;

  constructor(exchange: Exchange, options: { readonly bases: readonly string[]; readonly startMs: number }) {
    this.clock = new ManualClock(options.startMs);
    const record = (event: keyof SourceEvents, ...detail: readonly unknown[]): void => {
      this.reported.push({ event, detail: detail.slice(1).join(" ") });
    };
    const events: SourceEvents = {
      sourceStatusChanged: (...detail) => record("sourceStatusChanged", ...detail),
      sourceTicked: () => {},
      sourceDropped: (...detail) => record("sourceDropped", ...detail),
      sourceTraded: () => {},
      sourceStreamOpened: (...detail) => record("sourceStreamOpened", ...detail),
      sourceStreamEnded: (...detail) => record("sourceStreamEnded", ...detail),
      sourceRequestEnded: (source, end) => record("sourceRequestEnded", source, end),
      sourceFault: (...detail) => record("sourceFault", ...detail),
    };
    this.source = new Source(
      {
        exchange,
        endpoint: this.fake.endpoint,
        markets: exchange.markets.filter(({ base }) => options.bases.includes(base)),
      },
      {
        clock: this.clock,
        random: seededRandom(1),
        events,
        onTick: (tick) => {
          this.ticks.push(tick);
        },
        onTraded: (minute) => {
          this.traded.push(minute);
        },
      },
    );
  }

  /** How often this was reported. */
  count(event: keyof SourceEvents, detail?: string): number {
    return this.reported.filter((each) => each.event === event && (detail === undefined || each.detail === detail))
      .length;
  }

  /** Waits, with the clock standing, until something holds that is under way on a socket. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#turn();
  }

  /** Moves the clock by steps of a quarter of a second, as the owner of a source would. */
  advance(durationMs: number): void {
    for (let left = durationMs; left > 0; left -= 250) {
      this.clock.advance(Math.min(250, left));
      this.source.step();
    }
  }

  /** Moves the clock until something holds; between two steps sockets have the time of a request and its answer. */
  async reach(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await this.#turn();
      this.advance(250);
    }
  }

  /** Sends a frame on every connection and waits until the source has received it. */
  async push(frame: object | string): Promise<void> {
    const received = this.source.health().messages24h;
    this.fake.push(frame);
    await this.until(() => this.source.health().messages24h > received);
  }

  async #turn(): Promise<void> {
    await (await fetch(this.fake.endpoint.rest + turnPath)).text();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.source[Symbol.asyncDispose]();
    await this.fake[Symbol.asyncDispose]();
  }
}
