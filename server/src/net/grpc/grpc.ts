import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ServiceDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation, service as healthService } from "grpc-health-check";
import { ListenError } from "../listener/listen-error.ts";
import { describedFiles } from "./file-descriptors.ts";

/** A service and what answers its methods. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Ends the service's open streams, so that a server that ends need not wait for them. */
  readonly drain?: () => void;
}

/** PEM texts. */
export interface GrpcTls {
  readonly certificateChain: string;
  readonly privateKey: string;
}

export interface GrpcDoorOptions {
  /** Said in the fault when the port cannot be had. */
  readonly door: string;
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls: GrpcTls | null;
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

export interface GrpcDoorDependencies {
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
export class GrpcDoor implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #dependencies: GrpcDoorDependencies;
  readonly #health: HealthImplementation;
  readonly #names: readonly string[];
  readonly #timer: ReturnType<typeof setInterval>;
  #wasServing = true;
  #isDraining = false;

  /** Listens. Throws a ListenError when it cannot. */
  static async open(options: GrpcDoorOptions, dependencies: GrpcDoorDependencies): Promise<GrpcDoor> {
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
    health.addToServer(server);
    const described = [...names, nameOf(healthService)];
    new ReflectionService(packageOf(dependencies.services), { services: described }).addToServer(server);
    const port = await bound(server, options);
    return new GrpcDoor({ server, port, health, names, healthIntervalMs: bounds.healthIntervalMs }, dependencies);
  }

  private constructor(
    parts: {
      readonly server: Server;
      readonly port: number;
      readonly health: HealthImplementation;
      readonly names: readonly string[];
      readonly healthIntervalMs: number;
    },
    dependencies: GrpcDoorDependencies,
  ) {
    this.port = parts.port;
    this.#server = parts.server;
    this.#health = parts.health;
    this.#names = [wholeServer, ...parts.names];
    this.#dependencies = dependencies;
    this.#tell(dependencies.isServing());
    this.#timer = setInterval(() => this.tick(), parts.healthIntervalMs);
    this.#timer.unref();
  }

  /** What happens at each interval of health; tests do not wait for it. */
  tick(): void {
    const isServing = this.#dependencies.isServing() && !this.#isDraining;
    if (isServing !== this.#wasServing) this.#tell(isServing);
  }

  /**
   * Says NOT_SERVING, takes no more connections, ends open streams and lets calls in flight finish. Those that are left
   * after `deadlineMs` are given up: the runtime leaves their sockets open until the process ends.
   */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.tick();
    clearInterval(this.#timer);
    for (const { drain } of this.#dependencies.services) drain?.();
    await new Promise<void>((resolve) => {
      const force = (): void => {
        this.#server.forceShutdown();
        resolve();
      };
      const timer = setTimeout(force, deadlineMs);
      this.#server.tryShutdown(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(1_000);
  }

  #tell(isServing: boolean): void {
    this.#wasServing = isServing;
    for (const name of this.#names) this.#health.setStatus(name, isServing ? "SERVING" : "NOT_SERVING");
  }
}

function bound(server: Server, { door, hostname, port, tls }: GrpcDoorOptions): Promise<number> {
  const credentials =
    tls === null
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { cert_chain: Buffer.from(tls.certificateChain), private_key: Buffer.from(tls.privateKey) },
        ]);
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentials, (fault, taken) => {
      if (fault === null) resolve(taken);
      else reject(new ListenError(door, port, fault));
    });
  });
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
