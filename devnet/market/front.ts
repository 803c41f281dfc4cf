import type { Server, ServerWebSocket } from "bun";
import { ResettableListener } from "../listener.ts";
import type { Answer, Ask, Exchange } from "./exchanges/exchange.ts";
import { page } from "./exchanges/exchange.ts";
import type { Faults } from "./faults/faults.ts";
import { spoil } from "./faults/garbage.ts";
import { type Client, Hub } from "./hub.ts";
import { fraction, mix, seedOf } from "./model/hash.ts";
import type { Venue } from "./venue.ts";

/** Connections to one exchange's stream at once; Bun bounds what an HTTP client may hold open by its idle timeout. */
export const connectionsMax = 1_000;
/** Bytes that may wait for a slow client before its connection is closed. */
const backlogBytesMax = 4 * 1_024 * 1_024;
const bodyBytesMax = 16 * 1_024;
const targetCharactersMax = 8_192;
/** A request that a silent exchange never answers is given up after so long. */
const silenceMsMax = 60_000;

interface SocketData {
  readonly path: string;
  readonly query: URLSearchParams;
  client: Client | null;
}

const types = {
  json: "application/json; charset=utf-8",
  html: "text/html; charset=utf-8",
  text: "text/plain",
} as const;

/** One exchange's address: REST and stream on one port, with the faults of an endpoint. */
export class Front implements AsyncDisposable {
  readonly hub: Hub;
  readonly #listener: ResettableListener;
  readonly #hostname: string;
  readonly #exchange: Exchange;
  readonly #venue: Venue;
  readonly #faults: Faults;
  readonly #seed: number;
  readonly #isLimited: boolean;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #onConnection: () => void;
  #answered = 0;

  constructor(
    options: { readonly hostname: string; readonly port: number; readonly limits: boolean },
    dependencies: {
      readonly exchange: Exchange;
      readonly venue: Venue;
      readonly faults: Faults;
      readonly sleep: (ms: number) => Promise<void>;
      readonly onConnection: () => void;
    },
  ) {
    this.#hostname = options.hostname;
    this.#isLimited = options.limits;
    this.#exchange = dependencies.exchange;
    this.#venue = dependencies.venue;
    this.#faults = dependencies.faults;
    this.#sleep = dependencies.sleep;
    this.#onConnection = dependencies.onConnection;
    this.#seed = seedOf(`${dependencies.venue.seed}/gate/${dependencies.venue.id}`);
    this.hub = new Hub({ feed: dependencies.exchange.feed, venue: dependencies.venue, faults: dependencies.faults });
    this.#listener = new ResettableListener({ hostname: options.hostname, port: options.port }, (port) =>
      this.#serve(port),
    );
  }

  /** "127.0.0.1:4711" */
  get host(): string {
    const { hostname, port } = { hostname: this.#hostname, port: this.#listener.port };
    return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  }

  /** Resets connections or takes them again, as the faults say. */
  async follow(): Promise<void> {
    const refuses = this.#faults.ofExchange("refuse", this.#exchange.id) !== null;
    await (refuses ? this.#listener.refuse() : this.#listener.accept());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hub.closeAll("close");
    await this.#listener.stop();
  }

  #serve(port: number): Server<SocketData> {
    return Bun.serve<SocketData>({
      port,
      hostname: this.#hostname,
      idleTimeout: 120,
      maxRequestBodySize: bodyBytesMax,
      fetch: (request, server) => this.#fetch(request, server),
      error: () => respond(page(500, "Internal Server Error")),
      websocket: {
        maxPayloadLength: this.#exchange.feed.frameBytesMax,
        backpressureLimit: backlogBytesMax,
        closeOnBackpressureLimit: true,
        idleTimeout: 0,
        sendPings: false,
        open: (socket) => {
          socket.data.client = this.hub.open(socket.data.path, socket.data.query, wireOf(socket));
          this.#onConnection();
        },
        message: (socket, text) => {
          if (socket.data.client === null) return;
          if (typeof text === "string") this.hub.message(socket.data.client, text);
          else socket.data.client.close(1003, "text only");
        },
        pong: (socket) => {
          if (socket.data.client !== null) this.hub.pong(socket.data.client);
        },
        close: (socket) => {
          if (socket.data.client !== null) this.hub.closed(socket.data.client);
        },
      },
    });
  }

  async #fetch(request: Request, server: Server<SocketData>): Promise<Response | undefined> {
    if (request.url.length > targetCharactersMax) return respond(page(414, "URI Too Long"));
    const url = new URL(request.url);
    const ip = server.requestIP(request)?.address ?? "";
    const ask: Ask = {
      ...{ method: request.method, path: url.pathname, query: url.searchParams, headers: request.headers, ip },
      host: this.host,
    };
    const { id } = this.#exchange;
    if (this.#faults.ofExchange("silence", id) !== null) {
      await this.#sleep(silenceMsMax);
      return respond(page(504, "Gateway Time-out"));
    }
    const slow = this.#faults.ofExchange("slow", id);
    if (slow !== null) await this.#sleep(slow.ms);
    const instead = this.#refusal();
    if (instead !== null) return respond(instead);
    if (request.headers.get("upgrade")?.toLowerCase() === "websocket") return this.#upgrade(request, server, ask);
    return this.#answer(ask);
  }

  #refusal(): Answer | null {
    const { id } = this.#exchange;
    const now = this.#venue.now();
    const limited = this.#faults.ofExchange("limited", id);
    if (limited !== null) return this.#exchange.limited(limited.isBan, now);
    const outage = this.#faults.ofExchange("outage", id);
    if (outage === null) return null;
    return outage.form === "html" ? page(502, "Bad Gateway") : this.#exchange.busy(now);
  }

  #upgrade(request: Request, server: Server<SocketData>, ask: Ask): Response | undefined {
    const refused = this.#exchange.feed.refuses(ask.path, ask.query, this.#venue);
    if (refused !== null) return respond(refused);
    if (this.hub.size >= connectionsMax) return respond(page(503, "Service Temporarily Unavailable"));
    const data: SocketData = { path: ask.path, query: ask.query, client: null };
    return server.upgrade(request, { data }) ? undefined : respond(page(400, "Bad Request"));
  }

  #answer(ask: Ask): Response {
    const { id } = this.#exchange;
    const allowance = this.#isLimited ? this.#exchange.allow(ask, this.#venue.now()) : { refusal: null, headers: {} };
    const made = allowance.refusal ?? this.#exchange.rest(ask, this.#venue);
    this.#answered += 1;
    const draw = mix(this.#seed, this.#answered, 1);
    const garbage = this.#faults.ofExchange("garbage", id);
    const isSpoilt =
      garbage !== null && garbage.door !== "stream" && made.type === "json" && fraction(draw) < garbage.share;
    const isPage = isSpoilt && garbage.form === "html";
    const body = isSpoilt ? spoil(made.body, garbage.form, draw) : made.body;
    const headers = { ...allowance.headers, ...made.headers };
    const shown: Answer = { ...made, body, headers, type: isPage ? "html" : made.type };
    const cut = this.#faults.ofExchange("cut", id);
    return cut === null ? respond(shown) : respondInPart(shown);
  }
}

function respond({ status, body, type, headers }: Answer): Response {
  return new Response(body, { status, headers: { "content-type": types[type], ...headers } });
}

/** The first half of a body, and then the connection breaks. */
function respondInPart({ status, body, type, headers }: Answer): Response {
  const bytes = new TextEncoder().encode(body);
  const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(half);
      await Promise.resolve();
      // Without a reason: the runtime would print one as a defect of this program.
      controller.error();
    },
  });
  return new Response(stream, { status, headers: { "content-type": types[type], ...headers } });
}

function wireOf(socket: ServerWebSocket<SocketData>) {
  return {
    send: (text: string) => void socket.send(text),
    ping: (text: string) => void socket.ping(text),
    close: (code: number, reason: string) => socket.close(code, reason),
    terminate: () => socket.terminate(),
  };
}
