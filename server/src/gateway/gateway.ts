import type { HealthRecord } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { AddressSet, Clock } from "@sluice/lib";
import type { Access } from "../access/index.ts";
import {
  crawlerPage,
  docsRedirect,
  isRpcPath,
  isUpgrade,
  type ProbeSource,
  pathOf,
  preflightResponse,
  probeResponse,
} from "../http/index.ts";
import type { RequestFact } from "../ledger/index.ts";
import {
  type AppMount,
  type ConnectionLimit,
  closedAbnormally,
  type FrontedPeers,
  type Handled,
  type HeadFault,
  type HttpAnswer,
  type HttpRequest,
  HttpServer,
  type SocketMount,
  type SocketSession,
  WebSocketServer,
  webRequest,
} from "../net/index.ts";
import type { Tracing } from "../observe/index.ts";
import type { Rpc } from "../rpc/index.ts";
import { type Answer, AnswerHeaders } from "./answer.ts";
import { BodyReads } from "./body-reads.ts";
import type { GatewayEvents } from "./events.ts";
import { Overload, overloadDefaults } from "./overload.ts";
import { Pipeline } from "./pipeline.ts";
import { WebAnswers } from "./web-answers.ts";

export interface GatewayOptions {
  readonly hostname: string;
  readonly port: number;
  /** The port on which Solana clients look for PubSub; null opens none. */
  readonly pubsubPort: number | null;
  /** Whether both ports are shared with other processes of this host. */
  readonly sharesPorts?: boolean;
  readonly networkDefault: Network;
  /** False where the ports take WebSockets and probes alone; absent is true. */
  readonly answersCalls?: boolean;
  /** The address that clients know, without a trailing slash; null, or absent, where the operator names none. */
  readonly publicUrl?: string | null;
  readonly trustedProxies: AddressSet;
  readonly bodyTimeoutMs?: number;
  /** Requests beyond this many in flight are refused with OVERLOADED. */
  readonly inFlightMax?: number;
}

export interface GatewayDependencies {
  readonly clock: Clock;
  readonly access: Access;
  readonly rpc: Rpc;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  readonly events: GatewayEvents;
  /** What GET /health and GET /ready tell; the gateway itself changes it to `down` while it drains. */
  readonly probes: ProbeSource;
  /** Null, or absent, where no spans are kept. */
  readonly tracing?: Pick<Tracing, "span"> | null;
  readonly apps: readonly AppMount[];
  /** WebSocket endpoints of the gateway port, in order of asking; the first that serves a path has it. */
  readonly sockets: readonly SocketMount[];
  /** The endpoint of the PubSub port. */
  readonly pubsub: SocketMount;
  /** Bounds the connections of both ports together. */
  readonly connectionLimit?: ConnectionLimit;
  /** Of the TLS before both ports, if there is any. */
  readonly peers?: FrontedPeers;
}

/** The answer to a WebSocket handshake of another version than RFC 6455's (its section 4.4). */
const otherVersion: HttpAnswer = { status: 426, fields: "Sec-WebSocket-Version: 13\r\n", body: "" };

/** The gateway's ports: JSON-RPC, PubSub, health, and the applications that others mount. */
export class GatewayServer implements AsyncDisposable {
  readonly #dependencies: GatewayDependencies;
  readonly #apps: readonly AppMount[];
  readonly #bodies: BodyReads;
  readonly #overload: Overload;
  readonly #pipeline: Pipeline;
  readonly #web: WebAnswers;
  readonly #server: HttpServer;
  readonly #pubsubServer: HttpServer | null;
  readonly #webSockets: WebSocketServer;
  readonly #answersCalls: boolean;
  #draining = false;
  #tellsEnd = false;

  /** Listens at once; throws when a port cannot be had. */
  constructor(options: GatewayOptions, dependencies: GatewayDependencies) {
    this.#dependencies = dependencies;
    this.#answersCalls = options.answersCalls ?? true;
    this.#apps = [...dependencies.apps].sort((one, other) => other.prefix.length - one.prefix.length);
    this.#bodies = new BodyReads({ timeoutMs: options.bodyTimeoutMs ?? 10_000 }, dependencies);
    this.#overload = new Overload(
      { ...overloadDefaults, inFlightMax: options.inFlightMax ?? overloadDefaults.inFlightMax },
      { clock: dependencies.clock, inFlight: () => this.#server.pending },
    );
    this.#web = new WebAnswers({ docsBase: options.publicUrl ?? null }, dependencies);
    this.#pipeline = new Pipeline(options, {
      ...dependencies,
      bodies: this.#bodies,
      headers: new AnswerHeaders(),
      overload: this.#overload,
    });
    this.#webSockets = new WebSocketServer(dependencies);
    const listen = (port: number, answer: (request: HttpRequest) => Handled | Promise<Handled>): HttpServer => {
      const refusal = (failure: HeadFault | "fault"): HttpAnswer => this.#web.malformed(failure);
      const { hostname, sharesPorts: sharesPort = false } = options;
      return new HttpServer({ hostname, port, sharesPort }, { ...dependencies, answer, refusal });
    };
    this.#server = listen(options.port, (request) => this.#answer(request));
    try {
      const { pubsubPort } = options;
      this.#pubsubServer = pubsubPort === null ? null : listen(pubsubPort, (request) => this.#answerPubSub(request));
    } catch (error) {
      void this.#server.stop(0);
      throw error;
    }
  }

  get port(): number {
    return this.#server.port;
  }

  get pubsubPort(): number | null {
    return this.#pubsubServer?.port ?? null;
  }

  /** Connected WebSockets of both ports. */
  get sockets(): number {
    return this.#webSockets.size;
  }

  /** What happens to every socket each 30 seconds; tests do not wait for it. */
  tick(): void {
    this.#server.tick();
    this.#pubsubServer?.tick();
    this.#webSockets.tick();
  }

  #answer(request: HttpRequest): Handled | Promise<Handled> {
    const { method, headers } = request;
    const path = pathOf(request.target);
    if (method === "POST" && this.#answersCalls && isRpcPath(path)) return this.#serve(request);
    if (path === "*") return this.#web.ofServer();
    if (path === "/health" || path === "/ready") return this.#probe(request);
    if (method === "GET" && isUpgrade(headers)) {
      const mount = this.#dependencies.sockets.find((candidate) => candidate.serves(path));
      if (mount !== undefined) return this.#upgrade(request, mount);
      return this.#web.from((requestId) => this.#web.response("NOT_FOUND", { requestId }));
    }
    if (!this.#answersCalls) {
      const message = "This process serves WebSockets alone";
      return this.#web.from((requestId) => this.#web.response("NOT_FOUND", { requestId, message }));
    }
    if (method === "OPTIONS" && isRpcPath(path)) {
      const requested = headers.get("access-control-request-headers");
      return this.#web.from((requestId) => preflightResponse(requested, ["POST", "OPTIONS"], requestId));
    }
    const app = this.#appOf(path);
    // GET / is the console's; every other method on a JSON-RPC path is the pipeline's to refuse.
    if (isRpcPath(path) && !(path === "/" && app !== null && (method === "GET" || method === "HEAD"))) {
      return this.#pipeline.handle(request);
    }
    return this.#web.from((requestId) => {
      const page = crawlerPage(method, path);
      if (page !== null) return page;
      if (app === null) return this.#web.response("NOT_FOUND", { requestId });
      return app.fetch(webRequest(request), {
        requestId,
        socketAddress: request.socketAddress,
        docsBase: this.#web.docsBase,
      });
    });
  }

  /** A JSON-RPC request; in a span where spans are kept, with what was answered on it. */
  #serve(request: HttpRequest): Answer | Promise<Answer> {
    const { tracing } = this.#dependencies;
    if (tracing === null || tracing === undefined) return this.#pipeline.handle(request);
    return tracing.span("rpc request", { "http.request.method": "POST" }, async (span) => {
      const answer = await this.#pipeline.handle(request);
      span.note("http.response.status_code", answer.status);
      span.note("sluice.request_id", answer.requestId);
      span.note("sluice.cache", answer.cache);
      return answer;
    });
  }

  #probe(request: HttpRequest): Promise<HttpAnswer> {
    const { probes } = this.#dependencies;
    const ofDraining = <Record extends HealthRecord>(record: Record): Record =>
      this.#tellsEnd ? { ...record, status: "down" } : record;
    const source: ProbeSource = {
      roles: probes.roles,
      health: () => ofDraining(probes.health()),
      ready: (role) => ofDraining(probes.ready(role)),
    };
    return this.#web.from(
      (requestId) =>
        probeResponse(
          request,
          { source, role: this.#answersCalls ? "gateway" : "streams", docsBase: this.#web.docsBase },
          requestId,
        ) ?? this.#web.response("NOT_FOUND", { requestId }),
    );
  }

  #answerPubSub(request: HttpRequest): Handled | Promise<Handled> {
    const { method, headers } = request;
    if (method === "GET" && isUpgrade(headers)) return this.#upgrade(request, this.#dependencies.pubsub);
    if (request.target === "*") return this.#web.ofServer();
    const path = pathOf(request.target);
    if (path === "/health" || path === "/ready") return this.#probe(request);
    return this.#web.from(
      (requestId) =>
        docsRedirect(webRequest(request), { port: this.port, url: this.#web.docsBase }) ??
        this.#web.response("NOT_FOUND", { requestId, message: "This port speaks WebSocket only" }),
    );
  }

  #upgrade(request: HttpRequest, mount: SocketMount): Handled | Promise<Handled> {
    if (this.#draining) return this.#web.from((requestId) => this.#web.response("OVERLOADED", { requestId }));
    if (request.headers.get("sec-websocket-version") !== "13") return otherVersion;
    return this.#web.handle(() => {
      const session = mount.begin(webRequest(request), { requestIP: () => ({ address: request.socketAddress }) });
      return session instanceof Promise
        ? session.then((ready) => this.#switch(request, ready))
        : this.#switch(request, session);
    });
  }

  #switch(request: HttpRequest, session: SocketSession): Handled {
    const upgrade = this.#webSockets.upgrade(request, session);
    if (upgrade !== null) return upgrade;
    session.closed(closedAbnormally);
    return this.#web.problem("INVALID_REQUEST", { requestId: session.requestId });
  }

  #appOf(path: string): AppMount | null {
    return this.#apps.find(({ prefix }) => isBeneath(path, prefix)) ?? null;
  }

  /** Drains both ports: see HttpServer.stop. Balancers see /ready say 503 from now on, unless another serves here. */
  async stop(deadlineMs: number, isReplaced = false): Promise<void> {
    this.#draining = true;
    this.#tellsEnd = !isReplaced;
    this.#webSockets.drain();
    await Promise.all([this.#server.stop(deadlineMs), this.#pubsubServer?.stop(deadlineMs)]);
    this.#webSockets[Symbol.dispose]();
    this.#bodies[Symbol.dispose]();
    this.#overload[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }
}

/** True for the path itself and for those under it; "/" takes all. */
function isBeneath(path: string, prefix: string): boolean {
  if (prefix === "/") return true;
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}
