import type { Network } from "@sluice/contract";
import { hasSingleHost, preflightResponse, problemResponse } from "../http/index.ts";
import type { AddressSet, Clock } from "../lib/index.ts";
import type { Rpc } from "../rpc/index.ts";
import { AnswerHeaders } from "./answer-headers.ts";
import { BodyReads } from "./body-reads.ts";
import type {
  DoorCredits,
  DoorEvents,
  DoorKeys,
  DoorLimits,
  DoorTracing,
  HealthSource,
  RequestFact,
} from "./interfaces.ts";
import { type DoorServer, Listener, runtimeBodyBytesMax } from "./listener.ts";
import { isRpcPath, pathOf } from "./network.ts";
import { Overload, overloadDefaults } from "./overload.ts";
import { Pipeline } from "./pipeline.ts";
import type { SocketMount } from "./socket.ts";

/** A REST application under some paths of the gateway. */
export interface AppMount {
  /** Paths equal to it or beneath it; "/" takes whatever nobody else does. The longest one that fits wins. */
  readonly prefix: string;
  /** As Hono's `fetch`: the second argument becomes the handlers' bindings. */
  readonly fetch: (request: Request, bindings: AppBindings) => Response | Promise<Response>;
}

export interface AppBindings {
  readonly requestId: string;
  /** The socket's address; what it says behind a trusted proxy is for http's clientAddress. */
  readonly socketAddress: string;
}

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
  readonly keys: DoorKeys;
  readonly limits: DoorLimits;
  readonly credits: DoorCredits;
  readonly rpc: Rpc;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  readonly events: DoorEvents;
  readonly health: HealthSource;
  /** Null, or absent, where no spans are kept. */
  readonly tracing?: DoorTracing | null;
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
  readonly #listener: Listener;
  readonly #pubsubListener: Listener | null;
  #draining = false;

  /** Listens at once; throws when a port cannot be had. */
  constructor(options: GatewayDoorOptions, dependencies: GatewayDoorDependencies) {
    this.#dependencies = dependencies;
    this.#apps = [...dependencies.apps].sort((one, other) => other.prefix.length - one.prefix.length);
    this.#bodies = new BodyReads({ timeoutMs: options.bodyTimeoutMs ?? 10_000 }, dependencies);
    this.#overload = new Overload(
      { ...overloadDefaults, inFlightMax: options.inFlightMax ?? overloadDefaults.inFlightMax },
      { clock: dependencies.clock, inFlight: () => this.#listener.pending },
    );
    this.#pipeline = new Pipeline(options, {
      ...dependencies,
      bodies: this.#bodies,
      headers: new AnswerHeaders(),
      overload: this.#overload,
    });
    const listen = (port: number, answer: (request: Request, server: DoorServer) => Answer): Listener =>
      new Listener(
        { hostname: options.hostname, port, bodyBytesMax: runtimeBodyBytesMax },
        { answer, events: dependencies.events },
      );
    this.#listener = listen(options.port, (request, server) => this.#answer(request, server));
    try {
      this.#pubsubListener =
        options.pubsubPort === null
          ? null
          : listen(options.pubsubPort, (request, server) => this.#answerPubSub(request, server));
    } catch (fault) {
      void this.#listener.stop(0);
      throw fault;
    }
  }

  get port(): number {
    return this.#listener.port;
  }

  get pubsubPort(): number | null {
    return this.#pubsubListener?.port ?? null;
  }

  /** Connected WebSockets of both ports. */
  get sockets(): number {
    return this.#listener.sockets + (this.#pubsubListener?.sockets ?? 0);
  }

  /** What happens to every socket each 30 seconds; tests do not wait for it. */
  tick(): void {
    this.#listener.tick();
    this.#pubsubListener?.tick();
  }

  #answer(request: Request, server: DoorServer): Answer {
    const path = pathOf(request.url);
    const { method } = request;
    if (method === "POST" && isRpcPath(path)) return this.#serve(request, server);
    if (!hasSingleHost(request.headers)) return this.#pipeline.handle(request, server);
    if (path === "/health") return this.#health(method);
    if (method === "GET" && isUpgrade(request)) return this.#upgrade(request, server, path);
    if (method === "OPTIONS" && isRpcPath(path)) return this.#preflight(request);
    const app = this.#appOf(path);
    // GET / is the console's; every other method on a JSON-RPC path is the pipeline's to refuse.
    if (isRpcPath(path) && !(path === "/" && app !== null && (method === "GET" || method === "HEAD"))) {
      return this.#pipeline.handle(request, server);
    }
    const requestId = this.#dependencies.requestId();
    if (app === null) return problemResponse("NOT_FOUND", { requestId });
    const answer = app.fetch(request, { requestId, socketAddress: server.requestIP(request)?.address ?? "" });
    return answer instanceof Promise
      ? answer.then((response) => identified(response, requestId))
      : identified(answer, requestId);
  }

  /** A JSON-RPC request; in a span where spans are kept, with what was answered on it. */
  #serve(request: Request, server: DoorServer): Answer {
    const { tracing } = this.#dependencies;
    if (tracing === null || tracing === undefined) return this.#pipeline.handle(request, server);
    return tracing.span("rpc request", { "http.request.method": "POST" }, async (span) => {
      const response = await this.#pipeline.handle(request, server);
      span.note("http.response.status_code", response.status);
      span.note("sluice.request_id", response.headers.get("x-request-id") ?? "");
      span.note("sluice.cache", response.headers.get("x-cache-status") ?? "");
      return response;
    });
  }

  #answerPubSub(request: Request, server: DoorServer): Answer {
    if (request.method === "GET" && isUpgrade(request) && hasSingleHost(request.headers)) {
      return this.#begin(request, server, this.#dependencies.pubsub);
    }
    const requestId = this.#dependencies.requestId();
    return problemResponse("NOT_FOUND", { requestId, message: "This port speaks WebSocket only" });
  }

  #upgrade(request: Request, server: DoorServer, path: string): Answer {
    const mount = this.#dependencies.sockets.find((candidate) => candidate.serves(path));
    if (mount !== undefined) return this.#begin(request, server, mount);
    return problemResponse("NOT_FOUND", { requestId: this.#dependencies.requestId() });
  }

  #begin(request: Request, server: DoorServer, mount: SocketMount): Answer {
    if (this.#draining) return problemResponse("OVERLOADED", { requestId: this.#dependencies.requestId() });
    const session = mount.begin(request, server);
    const upgrade = (ready: Awaited<typeof session>): Response | undefined => {
      const headers = { "X-Request-Id": ready.requestId };
      if (server.upgrade(request, { data: { session: ready }, headers })) return undefined;
      ready.closed(1006);
      return problemResponse("INVALID_REQUEST", { requestId: ready.requestId });
    };
    return session instanceof Promise ? session.then(upgrade) : upgrade(session);
  }

  #preflight(request: Request): Response {
    const requested = request.headers.get("access-control-request-headers");
    return preflightResponse(requested, ["POST", "OPTIONS"], this.#dependencies.requestId());
  }

  #health(method: string): Response {
    const requestId = this.#dependencies.requestId();
    if (method !== "GET" && method !== "HEAD") {
      return problemResponse("METHOD_NOT_ALLOWED", { requestId, details: { allow: ["GET", "HEAD"] } });
    }
    const record = this.#dependencies.health();
    const status = this.#draining ? "down" : record.status;
    const headers = { "X-Request-Id": requestId, "Cache-Control": "no-store" };
    return status === "down"
      ? Response.json({ ...record, status }, { status: 503, headers: { ...headers, "Retry-After": "1" } })
      : Response.json({ ...record, status }, { headers });
  }

  #appOf(path: string): AppMount | null {
    return this.#apps.find(({ prefix }) => isBeneath(path, prefix)) ?? null;
  }

  /** Drains both ports: see Listener.stop. Balancers see /health say 503 from now on. */
  async stop(deadlineMs: number): Promise<void> {
    this.#draining = true;
    await Promise.all([this.#listener.stop(deadlineMs), this.#pubsubListener?.stop(deadlineMs)]);
    this.#bodies[Symbol.dispose]();
    this.#overload[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }
}

type Answer = Response | undefined | Promise<Response | undefined>;

/** Pages and files know nothing of request ids; every answer carries one. */
function identified(response: Response, requestId: string): Response {
  if (!response.headers.has("x-request-id")) response.headers.set("X-Request-Id", requestId);
  return response;
}

function isUpgrade(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

function isBeneath(path: string, prefix: string): boolean {
  if (prefix === "/") return true;
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}
