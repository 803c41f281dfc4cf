import { limits, SluiceError } from "@sluice/contract";
import { readBody } from "../http/index.ts";
import type { Clock } from "../lib/index.ts";
import type { Refusal } from "./refusal.ts";

interface PendingRead {
  readonly startedMs: number;
  readonly settle: (body: string | Refusal) => void;
}

const tooLarge: Refusal = { code: "BODY_TOO_LARGE" };
const broken: Refusal = { code: "PARSE_ERROR", message: "The request body did not arrive whole" };
const tooSlow: Refusal = { code: "INVALID_REQUEST", message: "The request body did not arrive in time" };
const notUtf8: Refusal = { code: "PARSE_ERROR", message: "The request body is not UTF-8" };

const replacement = "\ufffd";

/**
 * Reads request bodies as text, each within a total time: a body that trickles resets the connection's idle time with
 * every byte. One sweep over the reads under way does that for all; a timer and a race for each body cost 2 µs more.
 */
export class BodyReads implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #pending = new Set<PendingRead>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(options: { timeoutMs: number }, dependencies: { clock: Clock }) {
    this.#clock = dependencies.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#timer = setInterval(() => this.sweep(), Math.min(1_000, options.timeoutMs));
    this.#timer.unref();
  }

  /** Hands the body to `done` once, when it is whole, too large, broken or too late. */
  read(request: Request, startedMs: number, done: (body: string | Refusal) => void): void {
    const read: PendingRead = {
      startedMs,
      settle: (body) => {
        // A sweep may have answered already; what comes afterwards is of no use.
        if (this.#pending.delete(read)) done(body);
      },
    };
    this.#pending.add(read);
    if (request.headers.has("content-length")) {
      request.text().then(
        (text) => read.settle(checked(request, text)),
        () => read.settle(broken),
      );
    } else {
      void this.#readUndeclared(request).then((body) => read.settle(body));
    }
  }

  /** A body of undeclared length is counted as it comes: nothing beyond the bound is ever held. */
  async #readUndeclared(request: Request): Promise<string | Refusal> {
    try {
      const bytes = await readBody(request, { limitBytes: limits.rpcBodyBytes, timeoutMs: this.#timeoutMs });
      return decoded(bytes);
    } catch (fault) {
      return fault instanceof SluiceError && fault.code === "BODY_TOO_LARGE" ? tooLarge : broken;
    }
  }

  /** Ends the reads that have lasted too long. The set is in order of arrival, so the first young one ends the walk. */
  sweep(): void {
    const oldest = this.#clock.monotonic() - this.#timeoutMs;
    for (const read of this.#pending) {
      if (read.startedMs > oldest) break;
      read.settle(tooSlow);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function decoded(bytes: Uint8Array): string | Refusal {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return notUtf8;
  }
}

function checked(request: Request, text: string): string | Refusal {
  if (text.length * 3 > limits.rpcBodyBytes && Buffer.byteLength(text) > limits.rpcBodyBytes) return tooLarge;
  if (text.includes(replacement) && !wasUtf8(request, text)) return notUtf8;
  return text;
}

/** Bytes that are no UTF-8 were replaced on reading, which changes the length; a replacement character itself was not. */
function wasUtf8(request: Request, text: string): boolean {
  return Number(request.headers.get("content-length")) === Buffer.byteLength(text);
}
