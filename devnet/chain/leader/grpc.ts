import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { loadSync, type MethodDefinition, type PackageDefinition } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";
import type { Clock } from "@sluice/lib";

/** How long one call may take, and how long a stream may take to begin. Source: jito-solana, CONNECTION_TIMEOUT. */
const callTimeoutMs = 10_000;

/** Calls of the block engine that a validator makes. */
export const calls = {
  challenge: ["auth.AuthService", "GenerateAuthChallenge"],
  tokens: ["auth.AuthService", "GenerateAuthTokens"],
  refresh: ["auth.AuthService", "RefreshAccessToken"],
  endpoints: ["block_engine.BlockEngineValidator", "GetBlockEngineEndpoints"],
  packets: ["block_engine.BlockEngineValidator", "SubscribePackets"],
  bundles: ["block_engine.BlockEngineValidator", "SubscribeBundles"],
  feeInfo: ["block_engine.BlockEngineValidator", "GetBlockBuilderFeeInfo"],
} as const;

type EngineCall = keyof typeof calls;

/** The services as their files describe them; read once for all channels. */
export function loadServices(): PackageDefinition {
  return loadSync([protoFiles.auth, protoFiles.validator], protoLoading);
}

function methodOf(services: PackageDefinition, call: EngineCall): MethodDefinition<object, object> {
  const [service, name] = calls[call];
  const definition = services[service];
  const method = definition === undefined || "format" in definition ? undefined : definition[name];
  if (method === undefined || typeof method === "function") throw new Error(`${service} has no ${name}`);
  return method;
}

/** Where a URL's engine listens, and whether behind TLS. Throws TypeError when it is no http or https URL. */
function targetOf(url: string): { readonly target: string; readonly secured: ChannelCredentials } {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "https:") return { target: `${hostname}:${port || "443"}`, secured: credentials.createSsl() };
  if (protocol === "http:") return { target: `${hostname}:${port || "80"}`, secured: credentials.createInsecure() };
  throw new TypeError(`${url} is no http or https URL`);
}

/** Whether a failure says that this identity has nothing to do here. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === status.PERMISSION_DENIED;
}

/** The messages of a stream until it ends. */
interface StreamHandlers<Answer> {
  readonly message: (answer: Answer) => void;
  /** It ended, with or without a fault; called once. */
  readonly over: (fault: Error | null) => void;
}

interface ChannelDependencies {
  readonly services: PackageDefinition;
  readonly clock: Pick<Clock, "now" | "after">;
}

/** A channel to one block engine. Answers have the shapes that contract/proto gives for what the files describe. */
export class EngineChannel implements Disposable {
  readonly #client: Client;
  readonly #services: PackageDefinition;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #signal: AbortSignal;
  /** Calls that have not ended; as many as its owner makes. */
  readonly #open = new Set<{ cancel(): void }>();
  readonly #cancel = () => {
    for (const call of this.#open) call.cancel();
  };

  /** When `signal` aborts all its calls fail at once. */
  constructor(url: string, dependencies: ChannelDependencies, signal: AbortSignal) {
    const { target, secured } = targetOf(url);
    // A separate channel, so that nothing of an earlier connection's state is met again.
    this.#client = new Client(target, secured, { "grpc.use_local_subchannel_pool": 1 });
    this.#services = dependencies.services;
    this.#clock = dependencies.clock;
    this.#signal = signal;
    signal.addEventListener("abort", this.#cancel);
  }

  #metadata(token: string | null): Metadata {
    const metadata = new Metadata();
    if (token !== null) metadata.set("authorization", `Bearer ${token}`);
    return metadata;
  }

  /** One answer to one request. Rejects with the call's status, and after ten seconds. */
  async ask<Answer>(call: EngineCall, request: object, token: string | null): Promise<Answer> {
    const { path, requestSerialize, responseDeserialize } = methodOf(this.#services, call);
    this.#signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const deadline = this.#clock.now() + callTimeoutMs;
    const asked = this.#client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      this.#metadata(token),
      { deadline },
      (error: ServiceError | null, answer?: object) => {
        if (error !== null || answer === undefined) reject(error ?? new Error(`${path} has no answer`));
        else resolve(answer as Answer);
      },
    );
    this.#open.add(asked);
    return promise.finally(() => this.#open.delete(asked));
  }

  /** Reads a stream; resolves when the other side has begun it. */
  async subscribe<Answer>(call: EngineCall, token: string, handlers: StreamHandlers<Answer>): Promise<void> {
    const { path, requestSerialize, responseDeserialize } = methodOf(this.#services, call);
    this.#signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stream = this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      {},
      this.#metadata(token),
    );
    this.#open.add(stream);
    let isOver = false;
    const over = (fault: Error | null) => {
      timer.cancel();
      reject(fault ?? new Error("stream disconnected"));
      if (isOver) return;
      isOver = true;
      this.#open.delete(stream);
      handlers.over(fault);
    };
    const late = () => {
      over(new Error(`${path} did not begin in ${callTimeoutMs} ms`));
      stream.cancel();
    };
    const timer = this.#clock.after(callTimeoutMs, late, { keepsAlive: true });
    stream.on("metadata", () => {
      timer.cancel();
      resolve();
    });
    stream.on("data", (answer: object) => handlers.message(answer as Answer));
    stream.on("error", (error: Error) => over(error));
    stream.on("end", () => over(null));
    return promise;
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#cancel);
    this.#cancel();
    this.#client.close();
  }
}
