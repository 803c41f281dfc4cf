import { isUtf8 } from "node:buffer";
import { limits } from "@sluice/contract/limits";
import type { Clock, Timer } from "@sluice/lib";
import type { ReadableBody } from "../net/index.ts";
import type { Failure } from "./request-context.ts";

interface PendingRead {
  readonly startedMs: number;
  readonly settle: (body: string | Failure) => void;
}

const tooLarge: Failure = { code: "BODY_TOO_LARGE" };
const broken: Failure = { code: "INVALID_REQUEST", message: "The request body did not arrive whole" };
const tooSlow: Failure = { code: "INVALID_REQUEST", message: "The request body did not arrive in time" };
const notUtf8: Failure = { code: "PARSE_ERROR", message: "The request body is not UTF-8" };

/**
 * Reads request bodies as text, each within a total time: a body that trickles resets the connection's idle time with
 * every byte. One sweep over the reads under way does that for all; most bodies have come with their head and need
 * none.
 */
export class BodyReads implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #pending = new Set<PendingRead>();
  readonly #timer: Timer;

  constructor(options: { timeoutMs: number }, dependencies: { clock: Clock }) {
    this.#clock = dependencies.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#timer = this.#clock.every(Math.min(1_000, options.timeoutMs), () => this.sweep());
  }

  /** The body's text, or why it cannot be read: too large, broken, no UTF-8 or too late. */
  read(body: ReadableBody, startedMs: number): string | Failure | Promise<string | Failure> {
    const here = body.takeBody();
    if (here !== null) return decoded(here);
    return new Promise((resolve) => {
      const read: PendingRead = {
        startedMs,
        settle: (outcome) => {
          // A sweep may have answered already; what comes afterwards is of no use.
          if (this.#pending.delete(read)) resolve(outcome);
        },
      };
      this.#pending.add(read);
      body.gatherBody(limits.rpcBodyBytes, (gathered) => {
        if (gathered === "too-large") read.settle(tooLarge);
        else read.settle(gathered === "broken" ? broken : decoded(gathered));
      });
    });
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
    this.#timer.cancel();
  }
}

const replacement = "\ufffd";
const byteOrderMark = 0xfeff;

function decoded(bytes: Uint8Array): string | Failure {
  if (bytes.length > limits.rpcBodyBytes) return tooLarge;
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8", 0, bytes.length);
  // Bytes that are no UTF-8 were replaced on reading; a replacement character itself was not.
  if (text.includes(replacement) && !isUtf8(bytes)) return notUtf8;
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
}
