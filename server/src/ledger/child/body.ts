import { open } from "node:fs/promises";
import { join } from "node:path";
import { raise } from "./exceptions.ts";
import { childLimits } from "./limits.ts";

/** The body of a request after its Content-Encoding. Throws EngineException for an encoding that is not known. */
export function decodedBody(request: Request): ReadableStream<Uint8Array> | null {
  const body = request.body;
  if (body === null) return null;
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return body;
  if (encoding !== "gzip" && encoding !== "deflate") {
    throw raise("UNKNOWN_COMPRESSION_METHOD", `Unknown Content-Encoding '${encoding.slice(0, 40)}'`);
  }
  return body.pipeThrough(new DecompressionStream(encoding));
}

async function* pieces(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (stream === null) return;
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unreadable";
    throw raise("CANNOT_DECOMPRESS", `Cannot read the request body: ${reason}`);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Reads a whole body of at most `bytesMax` bytes; more is QUERY_IS_TOO_LARGE. */
export async function readText(stream: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces(stream)) {
    length += piece.byteLength;
    if (length > bytesMax) throw raise("QUERY_IS_TOO_LARGE", `The statement is longer than ${bytesMax} bytes`);
    parts.push(piece);
  }
  return Buffer.concat(parts).toString("utf8");
}

/**
 * Takes INSERT data into a file, with bounded memory. `path` names a file that does not exist yet; the caller removes
 * it, also when this throws. Short data is written at once: it never leaves the page cache before it is read.
 */
export async function spoolInsertData(
  head: string,
  stream: ReadableStream<Uint8Array> | null,
  path: string,
): Promise<{ readonly length: number }> {
  let held: Uint8Array[] = head === "" ? [] : [Buffer.from(head)];
  let heldBytes = Buffer.byteLength(head);
  let length = heldBytes;
  const file = await open(path, "wx", 0o600);
  try {
    for await (const piece of pieces(stream)) {
      length += piece.byteLength;
      heldBytes += piece.byteLength;
      if (length > childLimits.insertBytesMax) {
        throw raise("TOO_MANY_BYTES", `The data of one INSERT exceeds ${childLimits.insertBytesMax} bytes`);
      }
      held.push(piece);
      if (heldBytes < childLimits.spoolWriteBytes) continue;
      await file.writeFile(Buffer.concat(held));
      held = [];
      heldBytes = 0;
    }
    if (heldBytes > 0) await file.writeFile(Buffer.concat(held));
  } finally {
    await file.close();
  }
  return { length };
}

export function spoolPath(directory: string, id: number): string {
  return join(directory, `insert-${process.pid}-${id}.data`);
}
