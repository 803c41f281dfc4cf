import type { HealthRecord } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { AddressSet, Clock } from "@sluice/lib";
import type { Access } from "../access/index.ts";
import {
  docsRedirect,
  hasSingleHost,
  isUpgrade,
  pathOf,
  preflightResponse,
  problemResponse,
  targetOf,
} from "../http/index.ts";
import type { RequestFact } from "../ledger/index.ts";
import {
  type AppMount,
  type DoorServer,
  type Handled,
  type HttpRequest,
  HttpServer,
  Listener,
  runtimeBodyBytesMax,
  type SocketMount,
  type SocketPeer,
  webRequest,
} from "../net/index.ts";
import type { Tracing } from "../observe/index.ts";
import type { Rpc } from "../rpc/index.ts";
import { type Answer, AnswerHeaders } from "./answer.ts";
import { BodyReads } from "./body-reads.ts";
import type { GatewayEvents } from "./events.ts";
import { Overload, overloadDefaults } from "./overload.ts";
import { Pipeline } from "./pipeline.ts";
import { isRpcPath } from "./request-context.ts";
import { healthResponse, WebAnswers } from "./web-answers.ts";

export interface GatewayDoorOptions {
  readonly hostname: string;
  readonly port: number;
  /** The port on which Solana clients look for PubSub; null opens none. */
  readonly pubsubPort: number | null;
  readonly networkDefault: Network;
  readonly trustedProxies: AddressSet;
  readonly bodyTimeoutMs?: number;
  /** Requests beyond this many in flight are refused with OVERLOADED. */
  readonly inFlightMax?: number;
}

export interface GatewayDoorDependencies {
  readonly clock: Clock;
  readonly access: Access;
  readonly rpc: Rpc;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  readonly events: GatewayEvents;
  /** The record of GET /health; the gateway itself changes it to `down` while it drains. */
  readonly health: () => HealthRecord;
  /** Null, or absent, where no spans are kept. */
  readonly tracing?: Pick<Tracing, "span"> | null;
  readonly apps: readonly AppMount[];
  /** WebSocket doors of the gateway port, in order of asking; the first that serves a path has it. */
  readonly sockets: readonly SocketMount[];
  /** The door of the PubSub port. */
  readonly pubsub: SocketMount;
}

/** The gateway's ports: JSON-RPC, PubSub, health, and the applications that others mount. */
export class GatewayDoor implements AsyncDisposable {
  readonly #dependencies: GatewayDoorDependencies;
  readonly #apps: readonly AppMount[];
  readonly #bodies: BodyReads;
  readonly #overload: Overload;
  readonly #pipeline: Pipeline;
  readonly #web: WebAnswers;
  readonly #server: HttpServer;
  /** Takes the WebSockets of the gateway's port, which come to it through tunnels; on this machine only. */
  readonly #socketListener: Listener;
  readonly #pubsubListener: Listener | null;
  #draining = false;

  /** Listens at once; throws when a port cannot be had. */
  constructor(options: GatewayDoorOptions, dependencies: GatewayDoorDependencies) {
    this.#dependencies = dependencies;
    this.#apps = [...dependencies.apps].sort((one, other) => other.prefix.length - one.prefix.length);
    this.#bodies = new BodyReads({ timeoutMs: options.bodyTimeoutMs ?? 10_000 }, dependencies);
    this.#overload = new Overload(
      { ...overloadDefaults, inFlightMax: options.inFlightMax ?? overloadDefaults.inFlightMax },
      { clock: dependencies.clock, inFlight: () => this.#server.pending },
    );
    this.#web = new WebAnswers(dependencies);
    this.#pipeline = new Pipeline(options, {
      ...dependencies,
      bodies: this.#bodies,
      headers: new AnswerHeaders(),
      overload: this.#overload,
    });
    const listen = (hostname: string, port: number, answer: RuntimeAnswer): Listener =>
      new Listener({ hostname, port, bodyBytesMax: runtimeBodyBytesMax }, { answer, events: dependencies.events });
    this.#server = new HttpServer(options, {
      ...dependencies,
      answer: (request) => this.#answer(request),
      refusal: (fault) => this.#web.malformed(fault),
    });
    const opened = [this.#server] as (HttpServer | Listener)[];
    try {
      this.#socketListener = listen("127.0.0.1", 0, (request, server) => this.#answerTunnel(request, server));
      opened.push(this.#socketListener);
      this.#pubsubListener =
        options.pubsubPort === null
          ? null
          : listen(options.hostname, options.pubsubPort, (request, server) => this.#answerPubSub(request, server));
    } catch (fault) {
      for (const each of opened) void each.stop(0);
      throw fault;
    }
  }

  get port(): number {
    return this.#server.port;
  }

  get pubsubPort(): number | null {
    return this.#pubsubListener?.port ?? null;
  }

  /** Connected WebSockets of both ports. */
  get sockets(): number {
    return this.#socketListener.sockets + (this.#pubsubListener?.sockets ?? 0);
  }

  /** What happens to every socket each 30 seconds; tests do not wait for it. */
  tick(): void {
    this.#server.tick();
    this.#socketListener.tick();
    this.#pubsubListener?.tick();
  }

  #answer(request: HttpRequest): Handled | Promise<Handled> {
    const { method, headers } = request;
    const path = pathOf(request.target);
    if (method === "POST" && isRpcPath(path)) return this.#serve(request);
    if (!hasSingleHost(headers)) return this.#pipeline.handle(request);
    if (path === "/health")
      return this.#web.from((requestId) => {
        const record = this.#dependencies.health();
        return healthResponse(method, requestId, { record, isDraining: this.#draining });
      });
    if (method === "GET" && isUpgrade(headers)) return this.#upgrade(path);
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
      if (app === null) return problemResponse("NOT_FOUND", { requestId });
      return app.fetch(webRequest(request), { requestId, socketAddress: request.socketAddress });
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

  /** WebSockets are the runtime's to speak: the connection goes on to a listener that nobody else is answered by. */
  #upgrade(path: string): Handled | Promise<Handled> {
    if (this.#dependencies.sockets.some((mount) => mount.serves(path))) {
      if (!this.#draining) return { tunnelTo: this.#socketListener.port };
      return this.#web.from((requestId) => problemResponse("OVERLOADED", { requestId }));
    }
    return this.#web.from((requestId) => problemResponse("NOT_FOUND", { requestId }));
  }

  #answerTunnel(request: Request, server: DoorServer): RuntimeAnswered {
    const from = server.requestIP(request);
    const address = from === null ? null : this.#server.clientAt(from.port);
    const mount = this.#dependencies.sockets.find((candidate) => candidate.serves(pathOf(targetOf(request.url))));
    // Whoever comes by another way than a tunnel has nothing to look for here.
    if (address === null || mount === undefined || !isUpgrade(request.headers)) {
      return problemResponse("NOT_FOUND", {
        requestId: this.#dependencies.requestId(),
        headers: { Connection: "close" },
      });
    }
    return this.#begin(request, server, mount, { requestIP: () => ({ address }) });
  }

  #answerPubSub(request: Request, server: DoorServer): RuntimeAnswered {
    if (request.method === "GET" && isUpgrade(request.headers) && hasSingleHost(request.headers)) {
      return this.#begin(request, server, this.#dependencies.pubsub, server);
    }
    const page = docsRedirect(request, this.port);
    if (page !== null) return page;
    const requestId = this.#dependencies.requestId();
    return problemResponse("NOT_FOUND", { requestId, message: "This port speaks WebSocket only" });
  }

  #begin(request: Request, server: DoorServer, mount: SocketMount, peer: SocketPeer): RuntimeAnswered {
    if (this.#draining) return problemResponse("OVERLOADED", { requestId: this.#dependencies.requestId() });
    const session = mount.begin(request, peer);
    const upgrade = (ready: Awaited<typeof session>): Response | undefined => {
      const headers = { "X-Request-Id": ready.requestId };
      if (server.upgrade(request, { data: { session: ready }, headers })) return undefined;
      ready.closed(1006);
      return problemResponse("INVALID_REQUEST", { requestId: ready.requestId });
    };
    return session instanceof Promise ? session.then(upgrade) : upgrade(session);
  }

  #appOf(path: string): AppMount | null {
    return this.#apps.find(({ prefix }) => isBeneath(path, prefix)) ?? null;
  }

  /** Drains both ports: see Listener.stop. Balancers see /health say 503 from now on. */
  async stop(deadlineMs: number): Promise<void> {
    this.#draining = true;
    await Promise.all([
      this.#server.stop(deadlineMs),
      this.#socketListener.stop(deadlineMs),
      this.#pubsubListener?.stop(deadlineMs),
    ]);
    this.#bodies[Symbol.dispose]();
    this.#overload[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }
}

type RuntimeAnswered = Response | undefined | Promise<Response | undefined>;
type RuntimeAnswer = (request: Request, server: DoorServer) => RuntimeAnswered;

/** True for the path itself and for those under it; "/" takes all. */
function isBeneath(path: string, prefix: string): boolean {
  if (prefix === "/") return true;
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}
