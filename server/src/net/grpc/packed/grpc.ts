import { type handleBidiStreamingCall, Metadata, type ServerErrorResponse } from "@grpc/grpc-js";
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
  /** Ends the stream behind what was written, which is to end with a whole message. */
  end(fault: GrpcStatusError): void;
  /** Calls back once, when the transport has given the stream up: sent to its end, or left by the client. */
  onClose(listener: () => void): void;
}

/** Takes the requests of one client, once it is admitted. That it will say nothing more ends nothing. */
export interface PackedSession<Q> {
  /** @throws {GrpcStatusError} to end the stream */
  take(message: Q): void;
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
): handleBidiStreamingCall<Q, PackedPiece> {
  return async (call) => {
    const context = contextOf(host, call);
    const responses = new Responses(host, call, context);
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

  constructor(host: GrpcContext, call: Call, context: CallContext) {
    this.#host = host;
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
    this.#state = "ended";
    this.#status = fault.code;
    // The transport's own way of ending a stream with a status: it writes out what it holds first.
    this.#call.emit("error", errorOf(fault, this.#context));
    this.#host.refused?.(this.#context, fault);
  }

  onClose(listener: () => void): void {
    if (this.#state === "closed") listener();
    else this.#closeListeners.push(listener);
  }

  #closed(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#host.events.streamClosed(this.#context.method);
    this.#host.events.callEnded(this.#context.method, this.#status);
    for (const listener of this.#closeListeners.splice(0)) listener();
  }
}
