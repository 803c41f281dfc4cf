import { SluiceError } from "@sluice/contract/errors";

export interface BodyLimits {
  readonly limitBytes: number;
  /** The whole body must have arrived after this long, so that a body that trickles holds nothing for ever. */
  readonly timeoutMs: number;
}

/** True for application/json and its +json kin, whatever their parameters. */
export function isJsonContentType(contentType: string | null): boolean {
  if (contentType === null) return false;
  if (contentType === "application/json") return true;
  const essence = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return essence === "application/json" || /^application\/[\w.-]+\+json$/.test(essence);
}

/** Throws UNSUPPORTED_MEDIA_TYPE unless the request says that its body is JSON. */
export function requireJson(headers: { get(name: string): string | null }): void {
  if (!isJsonContentType(headers.get("content-type"))) throw new SluiceError("UNSUPPORTED_MEDIA_TYPE");
}

/**
 * Reads a request's body. Throws BODY_TOO_LARGE as soon as the limit is known to be passed (by the declared length, or
 * by counting where none is declared) and INVALID_REQUEST when the body does not arrive whole and in time.
 */
export async function readBody(request: Request, bounds: BodyLimits): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  const declaredBytes = declared === null ? Number.NaN : Number(declared);
  if (declaredBytes > bounds.limitBytes) throw new SluiceError("BODY_TOO_LARGE");
  const stopped = Promise.withResolvers<never>();
  const reader = declaredBytes >= 0 ? null : (request.body?.getReader() ?? null);
  const timer = setTimeout(() => {
    stopped.reject(new SluiceError("INVALID_REQUEST", { message: "The request body did not arrive in time" }));
  }, bounds.timeoutMs);
  try {
    const whole = declaredBytes >= 0 ? request.bytes() : countedBody(reader, bounds.limitBytes);
    return await Promise.race([whole, stopped.promise]);
  } catch (caught) {
    // The rest of the body is of no use to anybody, and a peer that is gone makes this fail, which changes nothing.
    reader?.cancel().catch(() => undefined);
    if (caught instanceof SluiceError) throw caught;
    throw new SluiceError("INVALID_REQUEST", { message: "The request body did not arrive whole", cause: caught });
  } finally {
    clearTimeout(timer);
  }
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** Collects a body of undeclared length, counting as it comes. */
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
