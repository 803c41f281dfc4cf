import type { ByteSource } from "@sluice/lib";
import { BodyBuffer } from "../body-buffer.ts";
import { CutBody } from "./body-source.ts";
import type { PooledOutcome } from "./connection.ts";
import { unpacked } from "./content-coding.ts";

export interface LargeBodyOptions {
  /** Bytes from which on a body counts as large; at least as many have come then, unless it is whole. */
  readonly from: number;
  /** Whether a body that begins like this may be passed on while it comes. */
  readonly isPassedOn: (beginning: Uint8Array) => boolean;
  /** For a body that is not. */
  readonly gatheredBytesMax: number;
}

export type LargeBody =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | null;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "large"; readonly beginning: Uint8Array; readonly rest: ByteSource }
  | { readonly kind: "timeout" | "unreachable" | "too-large" | "malformed" };

type Streaming = Extract<PooledOutcome, { kind: "streaming" }>;

/**
 * Unpacks a large body as it comes, evaluates its beginning, and passes it on or gathers it whole within its bound. The
 * call's own deadline holds while it is gathered.
 */
export async function readLargeBody(streaming: Streaming, options: LargeBodyOptions): Promise<LargeBody> {
  const { status, retryAfter, coding, contentLength, source } = streaming;
  const bytes = coding === null ? source : unpacked(coding, source);
  if (bytes === null) {
    source.cancel();
    return { kind: "malformed" };
  }
  try {
    const body = new BodyBuffer();
    const isWhole = await gather(bytes, body, options.from);
    if (isWhole) return { kind: "answered", status, retryAfter, bytes: body.take() };
    const beginning = body.take();
    if (status === 200 && options.isPassedOn(beginning)) {
      source.passOn();
      return { kind: "large", beginning, rest: bytes };
    }
    body.part(beginning, 0, beginning.length);
    const isHopeless = coding === null && contentLength !== null && contentLength > options.gatheredBytesMax;
    if (!isHopeless && (await gather(bytes, body, options.gatheredBytesMax))) {
      return { kind: "answered", status, retryAfter, bytes: body.take() };
    }
    bytes.cancel();
    return { kind: "too-large" };
  } catch (error) {
    bytes.cancel();
    return { kind: error instanceof CutBody && error.kind !== "unread" ? error.kind : "malformed" };
  }
}

/** True when the source has ended, false once there is more than `bytesMax`. */
async function gather(source: ByteSource, body: BodyBuffer, bytesMax: number): Promise<boolean> {
  while (body.length <= bytesMax) {
    const piece = await source.next();
    if (piece === null) return true;
    body.addCopy(piece);
  }
  return false;
}
