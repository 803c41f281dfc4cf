import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";

export interface GeyserOptions {
  /** http or https with a host and a port alone. */
  readonly url: string;
  /** Sent as `x-token`; null sends none. */
  readonly token: string | null;
  /** Bytes of one update; a larger one ends the stream with RESOURCE_EXHAUSTED. */
  readonly updateBytesMax: number;
}

export interface GeyserHandlers {
  /** An update as it came; called for one after another. */
  update(bytes: Uint8Array): void;
  /** The stream is over; called once. */
  ended(end: GeyserEnd): void;
}

export interface GeyserEnd {
  /** The name of a gRPC status. */
  readonly status: string;
  /** Whether the server does not repeat what was asked for, or has sent what is too large to read. */
  readonly cannotRepeat: boolean;
}

export interface GeyserStream {
  /** Sends a packed SubscribeRequest. */
  request(bytes: Uint8Array): void;
  /** Ends it; no handler is called any more. */
  close(): void;
}

const path = "/geyser.Geyser/Subscribe";
/** A connection without a sign of life for so long is asked for one, and given up when none comes. */
const keepalive = { timeMs: 10_000, timeoutMs: 5_000 } as const;
const repeatUnsupported = "from_slot is not supported";

function targetOf(url: string): { readonly target: string; readonly secured: ChannelCredentials } {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "https:") return { target: `${hostname}:${port || "443"}`, secured: credentials.createSsl() };
  return { target: `${hostname}:${port || "80"}`, secured: credentials.createInsecure() };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function endOf(error: ServiceError | null): GeyserEnd {
  if (error === null) return { status: status[status.OK], cannotRepeat: false };
  const { code, details } = error;
  const isTooFar = code === status.OUT_OF_RANGE || code === status.RESOURCE_EXHAUSTED;
  return { status: status[code] ?? "UNKNOWN", cannotRepeat: isTooFar || details === repeatUnsupported };
}

/**
 * Opens one stream on a connection of its own, which ends with it: what a connection has come to is not met again.
 * Compressed updates (gzip) are taken where the server sends them.
 */
export function openGeyserStream(options: GeyserOptions, handlers: GeyserHandlers): GeyserStream {
  const { target, secured } = targetOf(options.url);
  const client = new Client(target, secured, {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": options.updateBytesMax,
    "grpc.keepalive_time_ms": keepalive.timeMs,
    "grpc.keepalive_timeout_ms": keepalive.timeoutMs,
    "grpc.enable_retries": 0,
  });
  const metadata = new Metadata();
  if (options.token !== null) metadata.set("x-token", options.token);
  const call = client.makeBidiStreamRequest<Uint8Array, Uint8Array>(path, asBuffer, (bytes) => bytes, metadata);
  let isOver = false;
  const over = (error: ServiceError | null): void => {
    if (isOver) return;
    isOver = true;
    client.close();
    handlers.ended(endOf(error));
  };
  call.on("data", (bytes: Uint8Array) => {
    if (!isOver) handlers.update(bytes);
  });
  call.on("error", (error: ServiceError) => over(error));
  call.on("end", () => over(null));
  return {
    request: (bytes) => void call.write(bytes),
    close() {
      isOver = true;
      call.cancel();
      client.close();
    },
  };
}
