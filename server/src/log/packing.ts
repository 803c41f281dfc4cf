import { promisify } from "node:util";
import { zstdDecompress, zstdDecompressSync } from "node:zlib";

const decompress = promisify(zstdDecompress);

/** Bodies of so many bytes are packed and unpacked at once: handing them to a thread takes longer than the work. */
const smallBytesMax = 4_096;

/** The body as it is stored: zstd, of which level 1 makes a fifth of a block's JSON. */
export async function pack(body: Uint8Array): Promise<Uint8Array> {
  if (body.length === 0) return new Uint8Array(0);
  return body.length <= smallBytesMax ? Bun.zstdCompressSync(body, { level: 1 }) : Bun.zstdCompress(body, { level: 1 });
}

/** Null for bytes that are not a body of `rawBytes`. */
export async function unpack(packed: Uint8Array, rawBytes: number): Promise<Uint8Array | null> {
  if (rawBytes === 0) return packed.length === 0 ? new Uint8Array(0) : null;
  const options = { maxOutputLength: rawBytes };
  try {
    const body = rawBytes <= smallBytesMax ? zstdDecompressSync(packed, options) : await decompress(packed, options);
    return body.length === rawBytes ? body : null;
  } catch {
    return null;
  }
}
