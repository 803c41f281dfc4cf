import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";

const decompress = promisify(zstdDecompress);

/** The body as it is stored: zstd, of which level 1 makes a fifth of a block's JSON. */
export async function pack(body: Uint8Array): Promise<Uint8Array> {
  return body.length === 0 ? new Uint8Array(0) : Bun.zstdCompress(body, { level: 1 });
}

/** Null for bytes that are not a body of `rawBytes`. */
export async function unpack(packed: Uint8Array, rawBytes: number): Promise<Uint8Array | null> {
  if (rawBytes === 0) return packed.length === 0 ? new Uint8Array(0) : null;
  try {
    const body = await decompress(packed, { maxOutputLength: rawBytes });
    return body.length === rawBytes ? body : null;
  } catch {
    return null;
  }
}
