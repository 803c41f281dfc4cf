import { Duplex } from "node:stream";
import { type handleBidiStreamingCall, Metadata, type ServerErrorResponse } from "@grpc/grpc-js";
import type { Clock, Timer } from "@sluice/lib";
import { type CallContext, contextOf, errorOf, type GrpcContext, statusErrorOf } from "../grpc.ts";
import { decoded } from "../service.ts";
import type { GrpcStatus, GrpcStatusError } from "../status.ts";
import { acceptedEncodings } from "./accepted-encodings.ts";
import type { PackedPiece } from "./packed-message.ts";

/** What goes out to one client. Nothing is kept here: who writes waits for `taken` before it writes much more. */
export interface PackedResponses {
  readonly isOpen: boolean;
  /** Whether the client takes messages that are compressed by gzip. */
  readonly takesGzip: boolean;
  /** `taken` is called when the client's connection has taken the piece; never, where the stream ends before. */
  write(piece: PackedPiece, taken: () => void): void;
  /** Ends the stream behind what was written, which is to end with a whole message; `leave` is part of it. */
  end(fault: GrpcStatusError): void;
  /**
   * What was written and the status have a bounded time from now on to reach the client. One that takes nothing could
   * never be told: its stream is reset then, which it sees as RESOURCE_EXHAUSTED, and which counts as this fault's.
   */
  leave(fault: GrpcStatusError): void;
  /** Calls back once, when the transport has given the stream up: sent to its end, or left by the client. */
  onClose(listener: () => void): void;
}

/** Takes the requests of one client, once it is admitted. That it will say nothing more ends nothing. */
export interface PackedSession<Q> {
  /** @throws {GrpcStatusError} to end the stream */
  take(message: Q): void;
}

export interface PackedOptions {
  readonly clock: Pick<Clock, "after">;
  /** How long a client has to take the end of its stream. */
  readonly endMsMax: number;
}

interface Call {
  readonly cancelled: boolean;
  sendMetadata(metadata: Metadata): void;
  readonly metadata: Metadata;
  write(piece: PackedPiece, taken: (error?: Error | null) => void): boolean;
  emit(event: "error", fault: ServerErrorResponse): boolean;
  on(event: "cancelled" | "close", listener: () => void): unknown;
}

/**
 * A method with streams both ways whose answers are packed by their owner; its definition serializes none. Nothing is
 * read before `open` has admitted the client.
 */
export function packedDuplex<Q>(
  host: GrpcContext,
  open: (context: CallContext, responses: PackedResponses) => PackedSession<Q> | Promise<PackedSession<Q>>,
  options: PackedOptions,
): handleBidiStreamingCall<Q, PackedPiece> {
  return async (call) => {
    const context = contextOf(host, call);
    const responses = new Responses(host, { call, context }, options);
    try {
      const session = await open(context, responses);
      responses.begin();
      call.on("data", (message: Q) => {
        if (!responses.isOpen) return;
        try {
          session.take(decoded(message));
        } catch (error) {
          responses.end(statusErrorOf(host, error, context));
        }
      });
    } catch (error) {
      responses.end(statusErrorOf(host, error, context));
      call.resume();
    }
  };
}

class Responses implements PackedResponses {
  readonly takesGzip: boolean;
  readonly #host: GrpcContext;
  readonly #call: Call;
  readonly #context: CallContext;
  readonly #closeListeners: (() => void)[] = [];
  #state: "open" | "ended" | "closed" = "open";
  #hasBegun = false;
  /** Unless it is ended here, it ends because the client left. */
  #status: GrpcStatus = "CANCELLED";
  readonly #options: PackedOptions;
  #leaving: Timer | null = null;

  constructor(
    host: GrpcContext,
    { call, context }: { readonly call: Call; readonly context: CallContext },
    options: PackedOptions,
  ) {
    this.#host = host;
    this.#options = options;
    this.#call = call;
    this.#context = context;
    const [accepted] = call.metadata.get(acceptedEncodings);
    this.takesGzip = /(^|[ ,])gzip($|[ ,])/.test(String(accepted ?? ""));
    host.events.streamOpened(context.method);
    call.on("cancelled", () => this.#closed());
    call.on("close", () => this.#closed());
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Says at once that the stream is open: clients of other runtimes wait for that before they go on. */
  begin(): void {
    if (this.#hasBegun || this.#call.cancelled) return;
    this.#hasBegun = true;
    const metadata = new Metadata();
    if (this.takesGzip) metadata.set("grpc-encoding", "gzip");
    this.#call.sendMetadata(metadata);
  }

  write(piece: PackedPiece, taken: () => void): void {
    if (this.#state !== "open") return;
    this.begin();
    this.#call.write(piece, (error) => {
      if (error === undefined || error === null) taken();
    });
  }

  end(fault: GrpcStatusError): void {
    if (this.#state !== "open") return;
    this.leave(fault);
    this.#state = "ended";
    this.#status = fault.code;
    // The transport's own way of ending a stream with a status: it writes out what it holds first.
    this.#call.emit("error", errorOf(fault, this.#context));
    this.#host.refused?.(this.#context, fault);
  }

  leave(fault: GrpcStatusError): void {
    if (this.#state === "closed") return;
    const { clock, endMsMax } = this.#options;
    this.#leaving ??= clock.after(endMsMax, () => {
      if (this.#state === "open") this.#host.refused?.(this.#context, fault);
      this.#status = fault.code;
      resetStream(this.#call);
      this.#closed();
    });
  }

  onClose(listener: () => void): void {
    if (this.#state === "closed") listener();
    else this.#closeListeners.push(listener);
  }

  #closed(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#leaving?.cancel();
    this.#host.events.streamClosed(this.#context.method);
    this.#host.events.callEnded(this.#context.method, this.#status);
    for (const listener of this.#closeListeners.splice(0)) listener();
  }
}

/** ENHANCE_YOUR_CALM, which gRPC takes for RESOURCE_EXHAUSTED. Source: gRPC over HTTP/2, Errors. */
const tooMuch = 0xb;

/**
 * Resets the stream of a call, with what waits in it. The stream is a private member of grpc-js, which has no call for
 * this: without it, as in another version, the call is destroyed, which frees what this side holds.
 */
function resetStream(call: object): void {
  const inner: unknown = Reflect.get(call, "call");
  const stream: unknown = typeof inner === "object" && inner !== null ? Reflect.get(inner, "stream") : null;
  if (stream instanceof Duplex && "close" in stream && typeof stream.close === "function") stream.close(tooMuch);
  if (call instanceof Duplex) call.destroy();
}
