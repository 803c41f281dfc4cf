import {
  experimental,
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerErrorResponse,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { ServiceDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { SluiceError } from "@sluice/contract/errors";
import { type AddressSet, type Clock, type Timer, within } from "@sluice/lib";
import { HealthImplementation, service as healthService } from "grpc-health-check";
import { clientAddress, type HeaderReader } from "../../http/index.ts";
import type { CertificateSource, TlsCertificate } from "../certificate-source.ts";
import type { FrontedPeers } from "../fronted-peers.ts";
import { ListenError } from "../listener/listen-error.ts";
import { describedFiles } from "./file-descriptors.ts";
import { showAcceptedEncodings } from "./packed/accepted-encodings.ts";
import { ResponseStream } from "./response-stream.ts";
import { decoded } from "./service.ts";
import { StandardStreams } from "./standard-streams.ts";
import { encodeStatusDetails, type GrpcStatus, GrpcStatusError, grpcStatuses } from "./status.ts";

/** A service and what answers its methods. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Ends the service's open streams, so that a server that ends need not wait for them. */
  readonly drain?: () => void;
}

export interface GrpcServerOptions {
  /** Named in the ListenError when the port cannot be had. */
  readonly endpoint: string;
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Null serves without TLS. */
  readonly tls: CertificateSource | null;
  /** Bytes; a larger message is answered RESOURCE_EXHAUSTED. */
  readonly messageBytesMax?: number;
  /** Of one connection. */
  readonly concurrentStreamsMax?: number;
  /** A connection is asked for a sign of life after this long without one, and closed when it gives none. */
  readonly keepaliveMs?: number;
  readonly keepaliveTimeoutMs?: number;
  /** How often the health service asks `isServing`. */
  readonly healthIntervalMs?: number;
}

export interface GrpcServerDependencies {
  readonly clock: Pick<Clock, "after" | "every">;
  readonly services: readonly GrpcService[];
  /** False in maintenance: the health service then says NOT_SERVING. */
  readonly isServing: () => boolean;
}

const defaults = {
  messageBytesMax: 256 * 1024,
  concurrentStreamsMax: 256,
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 10_000,
  healthIntervalMs: 1_000,
} as const;

/** The health of a whole server has this name. */
const wholeServer = "";

/** A port of gRPC services, with the standard services of health and reflection, which need no key. */
export class GrpcServer implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #dependencies: GrpcServerDependencies;
  readonly #health: HealthImplementation;
  readonly #names: readonly string[];
  /** Of health and reflection. */
  readonly #streams: StandardStreams;
  readonly #timer: Timer;
  #wasServing = true;
  #isDraining = false;

  /** Listens. Throws a ListenError when it cannot. */
  static async open(options: GrpcServerOptions, dependencies: GrpcServerDependencies): Promise<GrpcServer> {
    const bounds = { ...defaults, ...options };
    const server = new Server({
      "grpc.max_receive_message_length": bounds.messageBytesMax,
      "grpc.max_concurrent_streams": bounds.concurrentStreamsMax,
      "grpc.keepalive_time_ms": bounds.keepaliveMs,
      "grpc.keepalive_timeout_ms": bounds.keepaliveTimeoutMs,
      "grpc.enable_channelz": 0,
    });
    const names = dependencies.services.map(({ definition }) => nameOf(definition));
    const health = new HealthImplementation();
    for (const { definition, implementation } of dependencies.services) server.addService(definition, implementation);
    const streams = new StandardStreams();
    const standard = streams.addingTo(server);
    health.addToServer(standard);
    const described = [...names, nameOf(healthService)];
    new ReflectionService(packageOf(dependencies.services), { services: described }).addToServer(standard);
    const port = await bound(server, options);
    return new GrpcServer(
      { server, port, health, names, streams, healthIntervalMs: bounds.healthIntervalMs },
      dependencies,
    );
  }

  private constructor(
    parts: {
      readonly server: Server;
      readonly port: number;
      readonly health: HealthImplementation;
      readonly names: readonly string[];
      readonly streams: StandardStreams;
      readonly healthIntervalMs: number;
    },
    dependencies: GrpcServerDependencies,
  ) {
    this.port = parts.port;
    this.#server = parts.server;
    this.#health = parts.health;
    this.#names = [wholeServer, ...parts.names];
    this.#streams = parts.streams;
    this.#dependencies = dependencies;
    this.#notify(dependencies.isServing());
    this.#timer = dependencies.clock.every(parts.healthIntervalMs, () => this.tick());
  }

  /** What happens at each interval of health; tests do not wait for it. */
  tick(): void {
    const isServing = this.#dependencies.isServing() && !this.#isDraining;
    if (isServing !== this.#wasServing) this.#notify(isServing);
  }

  /**
   * Says NOT_SERVING, takes no more connections, ends open streams and lets calls in flight finish. Those that are left
   * after `deadlineMs` are given up: the runtime leaves their sockets open until the process ends.
   */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.tick();
    this.#timer.cancel();
    this.#streams.end();
    for (const { drain } of this.#dependencies.services) drain?.();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#server.tryShutdown(() => resolve());
    const outcome = await within(this.#dependencies.clock, deadlineMs, ended);
    if (!outcome.ok) this.#server.forceShutdown();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(1_000);
  }

  #notify(isServing: boolean): void {
    this.#wasServing = isServing;
    for (const name of this.#names) this.#health.setStatus(name, isServing ? "SERVING" : "NOT_SERVING");
  }
}

function bound(server: Server, { endpoint, hostname, port, tls }: GrpcServerOptions): Promise<number> {
  const credentials = tls === null ? ServerCredentials.createInsecure() : replaceableCredentials(tls);
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentials, (error, taken) => {
      if (error !== null) {
        reject(new ListenError(endpoint, port, error));
        return;
      }
      showAcceptedEncodings(server);
      resolve(taken);
    });
  });
}

type CertificateProvider = Parameters<typeof experimental.createCertificateProviderServerCredentials>[0];
type IdentityListener = Parameters<CertificateProvider["addIdentityCertificateListener"]>[0];

/** Credentials whose certificate may be replaced: open connections stay, the next handshake uses the new one. */
function replaceableCredentials(source: CertificateSource): ServerCredentials {
  const listeners = new Set<IdentityListener>();
  const tell = (listener: IdentityListener, { certificateChain, privateKey }: TlsCertificate): void =>
    listener({ certificate: Buffer.from(certificateChain), privateKey: Buffer.from(privateKey) });
  source.onReplaced((replaced) => {
    for (const listener of listeners) tell(listener, replaced);
  });
  const provider: CertificateProvider = {
    addIdentityCertificateListener: (listener) => {
      listeners.add(listener);
      // The library listens to its own credentials only after this call.
      queueMicrotask(() => tell(listener, source.present));
    },
    removeIdentityCertificateListener: (listener) => void listeners.delete(listener),
    addCaCertificateListener: () => {},
    removeCaCertificateListener: () => {},
  };
  // The types of grpc-js 1.14.7 name the two providers in the other order than the code takes them.
  return experimental.createCertificateProviderServerCredentials(provider, null, false);
}

/** The name of a service stands in the path of each of its methods: `/package.Service/Method`. */
function nameOf(definition: Readonly<Record<string, { readonly path: string }>>): string {
  const [method] = Object.values(definition);
  if (method === undefined) throw new Error("a service without methods cannot be served");
  return method.path.split("/")[1] ?? "";
}

/** What reflection describes: the services, and health beside them, which generic clients find no other way. */
function packageOf(services: readonly GrpcService[]): ConstructorParameters<typeof ReflectionService>[0] {
  const fileDescriptorProtos = describedFiles([...services.map(({ definition }) => definition), healthService]);
  return { files: { format: "Protocol Buffer 3 DescriptorProto", type: {}, fileDescriptorProtos } };
}

/** What a handler knows of its call beside the message. */
export interface CallContext {
  readonly requestId: string;
  /** The path of the protocol, such as `/blockengine.v1.BlockEngine/SubmitBundle`. */
  readonly method: string;
  /** As IP restrictions and limits by address see it. */
  readonly clientAddress: string;
  /** The call's metadata; binary entries are not shown. */
  readonly headers: HeaderReader;
}

/** What services report about their calls. */
export interface GrpcEvents {
  /** `method` is the path of the protocol, such as `/blockengine.v1.BlockEngine/SubmitBundle`. */
  callEnded(method: string, status: GrpcStatus): void;
  streamOpened(method: string): void;
  streamClosed(method: string): void;
  /** An unexpected error of a handler. */
  internalError(where: string, error: unknown, fields: { readonly requestId?: string }): void;
}

/** What every service is served with. */
export interface GrpcContext {
  readonly requestId: () => string;
  readonly trustedProxies: AddressSet;
  readonly events: GrpcEvents;
  /** A call ended with a fault; must not throw. */
  readonly refused?: (context: CallContext, fault: GrpcStatusError) => void;
  /** Of the front that the server is behind, if it is. */
  readonly peers?: FrontedPeers | undefined;
}

/** How a stream's client is served: `waitingMax` messages may wait for a client that does not read. */
export interface StreamOptions {
  readonly waitingMax: number;
}

/** One client's stream of requests, once it is admitted. */
export interface DuplexSession<Q> {
  take(message: Q): void;
  /** The client has said all that it will say; what it receives goes on. */
  halfClosed(): void;
  /** A message cannot be read, and no other is taken: answers what was taken before, then ends with the fault. */
  broken(fault: GrpcStatusError): void;
}

/** Stops and resumes the reading of a client's requests; what it sends meanwhile stays with the client. */
export interface RequestStream {
  pause(): void;
  resume(): void;
}

/** A call as all kinds of handlers have it. */
interface ServerCall {
  readonly metadata: Metadata;
  getPeer(): string;
  getPath(): string;
}

/** What both kinds of streams have for what goes out. */
interface WritableCall<A> extends ServerCall {
  write(message: A): boolean;
  end(trailers: Metadata): unknown;
  emit(event: "error", fault: ServerErrorResponse): boolean;
  on(event: "drain" | "cancelled" | "close", listener: () => void): unknown;
}

/** A method with one request and one answer. What `work` throws becomes the call's status. */
export function unary<Q, A>(
  host: GrpcContext,
  work: (request: Q, context: CallContext) => A | Promise<A>,
): handleUnaryCall<Q, A> {
  return async (call, answer) => {
    const context = contextOf(host, call);
    try {
      const message = await work(decoded(call.request), context);
      answer(null, message, trailersOf(context));
      host.events.callEnded(context.method, "OK");
    } catch (error) {
      const fault = statusErrorOf(host, error, context);
      answer(errorOf(fault, context));
      host.events.callEnded(context.method, fault.code);
      host.refused?.(context, fault);
    }
  };
}

/** A method with one request and a stream of answers, which lasts until `open` or its owner ends the responses. */
export function serverStream<Q, A>(
  host: GrpcContext,
  options: StreamOptions,
  open: (request: Q, context: CallContext, responses: ResponseStream<A>) => void | Promise<void>,
): handleServerStreamingCall<Q, A> {
  return async (call) => {
    const context = contextOf(host, call);
    const responses = responsesOf<A>(host, call, { options, context });
    try {
      await open(decoded(call.request), context, responses);
      begin(call);
    } catch (error) {
      responses.end(statusErrorOf(host, error, context));
    }
  };
}

/** A method with streams both ways. Nothing is read before `open` has admitted the client. */
export function duplex<Q, A>(
  host: GrpcContext,
  options: StreamOptions,
  open: (
    context: CallContext,
    responses: ResponseStream<A>,
    requests: RequestStream,
  ) => DuplexSession<Q> | Promise<DuplexSession<Q>>,
): handleBidiStreamingCall<Q, A> {
  return async (call) => {
    const context = contextOf(host, call);
    const responses = responsesOf<A>(host, call, { options, context });
    const requests: RequestStream = { pause: () => void call.pause(), resume: () => void call.resume() };
    const faultOf = (error: unknown) => statusErrorOf(host, error, context);
    let isBroken = false;
    try {
      const session = await open(context, responses, requests);
      begin(call);
      call.on("data", (message: Q) => {
        if (isBroken || !responses.isOpen) return;
        try {
          session.take(decoded(message));
        } catch (error) {
          isBroken = true;
          session.broken(faultOf(error));
        }
      });
      call.on("end", () => {
        if (!isBroken && responses.isOpen) session.halfClosed();
      });
    } catch (error) {
      responses.end(faultOf(error));
      call.resume();
    }
  };
}

/** Says at once that a stream is open: clients of other runtimes wait for that before they go on. */
function begin(call: { sendMetadata(metadata: Metadata): void; readonly cancelled: boolean }): void {
  if (!call.cancelled) call.sendMetadata(new Metadata());
}

function responsesOf<A>(
  host: GrpcContext,
  call: WritableCall<A>,
  { options, context }: { readonly options: StreamOptions; readonly context: CallContext },
): ResponseStream<A> {
  const { method } = context;
  // Unless it is ended here, it ends because the client left.
  let status: GrpcStatus = "CANCELLED";
  const responses = new ResponseStream<A>(options, {
    write: (message) => call.write(message),
    end: (fault) => {
      status = fault?.code ?? "OK";
      // The transport's own way of ending a stream with a status: it writes out what it holds first.
      if (fault === null) call.end(trailersOf(context));
      else {
        call.emit("error", errorOf(fault, context));
        host.refused?.(context, fault);
      }
    },
  });
  host.events.streamOpened(method);
  responses.onClose(() => {
    host.events.streamClosed(method);
    host.events.callEnded(method, status);
  });
  call.on("drain", () => responses.drained());
  call.on("cancelled", () => responses.closed());
  call.on("close", () => responses.closed());
  return responses;
}

/** @internal */
export function contextOf(host: GrpcContext, call: ServerCall): CallContext {
  const headers = {
    get: (name: string): string | null => {
      const [value] = call.metadata.get(name);
      return typeof value === "string" ? value : null;
    },
  };
  return {
    requestId: host.requestId(),
    method: call.getPath(),
    clientAddress: clientAddress(
      addressOfPeer(call.getPeer(), host.peers),
      headers.get("x-forwarded-for"),
      host.trustedProxies,
    ),
    headers,
  };
}

/** The transport writes a peer as its address, a colon and its port. */
function addressOfPeer(peer: string, peers: FrontedPeers | undefined): string {
  const colon = peer.lastIndexOf(":");
  if (colon < 0) return peer;
  const address = peer.slice(0, colon);
  return peers?.addressOf(address, Number(peer.slice(colon + 1))) ?? address;
}

/** @internal */
export function statusErrorOf(
  host: GrpcContext,
  error: unknown,
  { method, requestId }: Pick<CallContext, "method" | "requestId">,
): GrpcStatusError {
  if (error instanceof GrpcStatusError) return error;
  // Expected and temporary: neither the call nor the server is wrong.
  if (error instanceof SluiceError && (error.code === "OVERLOADED" || error.code === "STORE_UNAVAILABLE")) {
    return new GrpcStatusError("UNAVAILABLE", error.message, { retryAfterSeconds: 1, publicCode: error.code });
  }
  host.events.internalError(method, error, { requestId });
  return new GrpcStatusError("INTERNAL", `Internal error, request ${requestId}`);
}

/** @internal */
export function errorOf(fault: GrpcStatusError, context: CallContext): ServerErrorResponse {
  const metadata = trailersOf(context);
  metadata.set("grpc-status-details-bin", Buffer.from(encodeStatusDetails(fault)));
  return {
    name: fault.name,
    message: fault.message,
    code: grpcStatuses[fault.code],
    // A status message is percent-encoded, which lone surrogates would break.
    details: fault.message.toWellFormed(),
    metadata,
  };
}

function trailersOf(context: CallContext): Metadata {
  const metadata = new Metadata();
  metadata.set("x-request-id", context.requestId);
  return metadata;
}
