import { EventEmitter } from "node:events";
import { gunzipSync } from "node:zlib";
import { Metadata, status } from "@grpc/grpc-js";
import type { GrpcService } from "../../../net/index.ts";

/** The flag and the length before each message. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
const prefixBytes = 5;

/** What the server writes at once: parts of messages, one message or several. */
interface WrittenPiece {
  readonly byteLength: number;
  copy(target: Uint8Array): void;
}

interface HeldPiece {
  readonly bytes: Buffer;
  readonly taken: () => void;
}

/** How a stream ended: a name of a status of gRPC and its text. */
export interface CallEnd {
  readonly code: string;
  readonly text: string;
}

/** The server's side of a gRPC stream, whose bytes arrive when the world says so: those that have not go with a cut. */
export class PlayedCall extends EventEmitter {
  readonly metadata = new Metadata();
  readonly #definition: GrpcService["definition"][string] | undefined;
  readonly #requests: unknown[] = [];
  #held: HeldPiece[] = [];
  #arrived = Buffer.alloc(0);
  #end: CallEnd | null = null;
  #isClosed = false;
  cancelled = false;

  constructor(metadata: Readonly<Record<string, string>>, service: GrpcService) {
    super();
    for (const [name, value] of Object.entries(metadata)) this.metadata.set(name, value);
    this.#definition = service.definition["Subscribe"];
    this.on("error", ({ code, details }: { code: number; details: string }) => {
      this.#end ??= { code: status[code] ?? "", text: details };
    });
    service.implementation["Subscribe"]?.(this as never, undefined as never);
  }

  getPath(): string {
    return "/geyser.Geyser/Subscribe";
  }

  getPeer(): string {
    return "127.0.0.1:1";
  }

  sendMetadata(): void {}

  resume(): this {
    return this;
  }

  write(piece: WrittenPiece, taken: () => void): boolean {
    const bytes = Buffer.alloc(piece.byteLength + prefixBytes);
    piece.copy(bytes);
    if (!this.#isClosed) this.#held.push({ bytes, taken });
    return true;
  }

  /** How the server ended it, once all before has arrived; null while it goes on. */
  get end(): CallEnd | null {
    return this.#held.length === 0 ? this.#end : null;
  }

  /** Whether the server has admitted it and goes on with it, whatever has arrived of how it ends. */
  get isServed(): boolean {
    return !this.cancelled && this.#end === null && this.listenerCount("data") > 0;
  }

  get isOver(): boolean {
    return this.cancelled || this.end !== null;
  }

  /** Requests wait for a listener, as those of a stream that flows only then. */
  override on(event: string, listener: (...values: never[]) => void): this {
    super.on(event, listener as (...values: unknown[]) => void);
    if (event === "data") for (const request of this.#requests.splice(0)) this.emit(event, request);
    return this;
  }

  /** Sends the bytes of a request. */
  say(request: Uint8Array): void {
    if (this.#end !== null || this.cancelled) return;
    const message = this.#definition?.requestDeserialize(Buffer.from(request));
    if (this.listenerCount("data") > 0) this.emit("data", message);
    else this.#requests.push(message);
  }

  /** Lets pieces arrive, and gives the messages that are whole. */
  take(max: number): readonly Buffer[] {
    for (let taken = 0; taken < max; taken += 1) {
      const piece = this.#held.shift();
      if (piece === undefined) break;
      this.#arrived = Buffer.concat([this.#arrived, piece.bytes]);
      piece.taken();
    }
    if (this.end !== null) this.#close("close");
    return this.#messages();
  }

  /** The connection is lost with all that has not arrived. */
  cut(): void {
    if (this.#isClosed) return;
    this.cancelled = true;
    this.#held = [];
    this.#close("cancelled");
  }

  #close(how: "close" | "cancelled"): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.emit(how);
  }

  #messages(): Buffer[] {
    const messages: Buffer[] = [];
    for (;;) {
      if (this.#arrived.length < prefixBytes) return messages;
      const end = prefixBytes + this.#arrived.readUInt32BE(1);
      if (this.#arrived.length < end) return messages;
      const message = this.#arrived.subarray(prefixBytes, end);
      messages.push(this.#arrived[0] === 1 ? gunzipSync(message) : message);
      this.#arrived = this.#arrived.subarray(end);
    }
  }
}
