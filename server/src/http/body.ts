import { SluiceError } from "@sluice/contract/errors";
import { systemClock, type Timers, within } from "@sluice/lib";
import { mediaFault } from "./media-type.ts";

/** The bounds of a request body. */
export interface BodyLimits {
  readonly limitBytes: number;
  /** The whole body must arrive within this time, so that a trickling body does not hold resources for ever. */
  readonly timeoutMs: number;
}

/** @throws {SluiceError} UNSUPPORTED_MEDIA_TYPE unless the request declares a JSON body in UTF-8, without a coding. */
export function requireJson(headers: { get(name: string): string | null }): void {
  const fault = mediaFault(headers);
  if (fault === null) return;
  const { code, message, details } = fault;
  throw new SluiceError(code, {
    ...(message === undefined ? {} : { message }),
    ...(details === undefined ? {} : { details: { ...details } }),
  });
}

/**
 * Reads a request's body.
 *
 * @throws {SluiceError} BODY_TOO_LARGE as soon as the limit is known to be exceeded (by the declared length, or by
 * counting where none is declared), INVALID_REQUEST when the body does not arrive whole and in time.
 */
export async function readBody(
  request: Request,
  bounds: BodyLimits,
  timers: Pick<Timers, "after"> = systemClock,
): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  const declaredBytes = declared === null ? Number.NaN : Number(declared);
  if (declaredBytes > bounds.limitBytes) throw new SluiceError("BODY_TOO_LARGE");
  const reader = declaredBytes >= 0 ? null : (request.body?.getReader() ?? null);
  try {
    const whole = declaredBytes >= 0 ? request.bytes() : countedBody(reader, bounds.limitBytes);
    const timed = await within(timers, bounds.timeoutMs, whole);
    if (timed.ok) return timed.value;
    throw new SluiceError("INVALID_REQUEST", { message: "The request body did not arrive in time" });
  } catch (error) {
    // The rest of the body is not used; cancelling fails when the peer is gone, which changes nothing.
    reader?.cancel().catch(() => undefined);
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("INVALID_REQUEST", { message: "The request body did not arrive whole", cause: error });
  }
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** Collects a body of undeclared length and counts its bytes. */
async function countedBody(reader: BodyReader | null, limitBytes: number): Promise<Uint8Array> {
  if (reader === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > limitBytes) throw new SluiceError("BODY_TOO_LARGE");
    chunks.push(value);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length);
}
