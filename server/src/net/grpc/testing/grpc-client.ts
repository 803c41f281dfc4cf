import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { loadSync, type MethodDefinition } from "@grpc/proto-loader";
import { protoLoading } from "@sluice/contract/proto";

/** How a call ended: its answer, or its status by name with the text and the trailers. */
export type Ended =
  | { readonly status: "OK"; readonly message: Record<string, unknown> }
  | { readonly status: string; readonly details: string; readonly metadata: Metadata };

export type Headers = Readonly<Record<string, string>>;

/** A plain client of one service, made of its .proto file alone. */
export class PlainClient implements Disposable {
  readonly #client: Client;
  readonly #methods: Readonly<Record<string, MethodDefinition<object, object>>>;

  /** With TLS the server is called by its name, since an address cannot be asked for. */
  constructor(
    port: number,
    { file, service, tls = null }: { file: string; service: string; tls?: ChannelCredentials | null },
  ) {
    const found = loadSync(file, protoLoading)[service];
    if (found === undefined || "format" in found) throw new Error(`${file} has no service ${service}`);
    this.#methods = found;
    this.#client = new Client(
      `${tls === null ? "127.0.0.1" : "localhost"}:${port}`,
      tls ?? credentials.createInsecure(),
      {
        "grpc.enable_retries": 0,
        "grpc.use_local_subchannel_pool": 1,
      },
    );
  }

  call(method: string, message: object = {}, headers: Headers = {}): Promise<Ended> {
    const { path, requestSerialize, responseDeserialize } = this.#method(method);
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        message,
        metadataOf(headers),
        (error, answer) => {
          resolve(error === null ? { status: "OK", message: { ...answer } } : endedBy(error));
        },
      );
    });
  }

  /** A request of the method, serialized. */
  encoded(method: string, message: object): Uint8Array {
    return new Uint8Array(this.#method(method).requestSerialize(message));
  }

  /** Sends bytes that need be no message. */
  callRaw(method: string, bytes: Buffer, headers: Headers = {}): Promise<Ended> {
    const { path, responseDeserialize } = this.#method(method);
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(path, asItIs, responseDeserialize, bytes, metadataOf(headers), (error, answer) => {
        resolve(error === null ? { status: "OK", message: { ...answer } } : endedBy(error));
      });
    });
  }

  subscribe(method: string, message: object = {}, headers: Headers = {}): Listening {
    const { path, requestSerialize, responseDeserialize } = this.#method(method);
    return new Listening(
      this.#client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, message, metadataOf(headers)),
    );
  }

  duplex(method: string, headers: Headers = {}): Talking<object> {
    const { path, requestSerialize, responseDeserialize } = this.#method(method);
    return new Talking(
      this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadataOf(headers)),
    );
  }

  duplexRaw(method: string, headers: Headers = {}): Talking<Buffer> {
    const { path, responseDeserialize } = this.#method(method);
    return new Talking(this.#client.makeBidiStreamRequest(path, asItIs, responseDeserialize, metadataOf(headers)));
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #method(name: string): MethodDefinition<object, object> {
    const method = this.#methods[name];
    if (method === undefined) throw new Error(`there is no method ${name}`);
    return method;
  }
}

/** A stream's messages as they come, and how it ended. */
export class Listening {
  /** Called with each message, where it is set. */
  received: ((message: Record<string, unknown>) => void) | null = null;
  readonly messages: Record<string, unknown>[] = [];
  readonly ended: Promise<Ended>;
  readonly #stream: ClientReadableStream<object>;
  readonly #arrivals = new Set<() => void>();

  constructor(stream: ClientReadableStream<object>) {
    this.#stream = stream;
    stream.on("data", (message: object) => {
      this.messages.push({ ...message });
      for (const arrived of this.#arrivals) arrived();
      this.received?.({ ...message });
    });
    this.ended = new Promise((resolve) => {
      stream.on("error", (error: ServiceError) => resolve(endedBy(error)));
      stream.on("end", () => resolve({ status: "OK", message: {} }));
    });
  }

  /** The messages once there are so many; rejects when the stream ends before. */
  async first(count: number): Promise<readonly Record<string, unknown>[]> {
    if (this.messages.length < count) {
      const arrived = new Promise<void>((resolve) => {
        const check = (): void => {
          if (this.messages.length < count) return;
          this.#arrivals.delete(check);
          resolve();
        };
        this.#arrivals.add(check);
      });
      const early = this.ended.then((end) => {
        if (this.messages.length >= count) return;
        throw new Error(`ended ${JSON.stringify(end)} after ${this.messages.length} of ${count} messages`);
      });
      await Promise.race([arrived, early]);
    }
    return this.messages.slice(0, count);
  }

  /** Reads no more until `resume`, so that the server has to hold what it sends. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    this.#stream.cancel();
  }
}

export class Talking<Q = object> extends Listening {
  readonly #duplex: ClientDuplexStream<Q, object>;

  constructor(stream: ClientDuplexStream<Q, object>) {
    super(stream);
    this.#duplex = stream;
  }

  say(message: Q): boolean {
    return this.#duplex.write(message);
  }

  halfClose(): void {
    this.#duplex.end();
  }
}

const asItIs = (bytes: Buffer): Buffer => bytes;

export function metadataOf(headers: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

export function endedBy(error: ServiceError): Ended {
  return { status: status[error.code] ?? String(error.code), details: error.details, metadata: error.metadata };
}
