import type { Transform } from "node:stream";
import { promisify } from "node:util";
import {
  brotliDecompress,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createZstdDecompress,
  gunzip,
  gunzipSync,
  zstdDecompress,
  zstdDecompressSync,
} from "node:zlib";
import { type ByteSource, through } from "@sluice/lib";
import { ZstdFrames } from "./zstd-frames.ts";

type Bound = { readonly maxOutputLength: number };
interface Decoder {
  readonly now: (bytes: Uint8Array, bound: Bound) => Uint8Array;
  readonly aside: (bytes: Uint8Array, bound: Bound) => Promise<Uint8Array>;
  readonly onTheWay: () => Transform;
  /** The source, with a check that it is not cut, where the transform has none. */
  readonly checked?: (source: ByteSource) => ByteSource;
}

/** What a decoder on the way gives out at a time. */
const pieceBytes = 64 * 1024;
const pieces = { chunkSize: pieceBytes };

const gzip: Decoder = {
  now: gunzipSync,
  aside: promisify<Uint8Array, Bound, Buffer>(gunzip),
  onTheWay: () => createGunzip(pieces),
};
const zstdAside = promisify<Uint8Array, Bound, Buffer>(zstdDecompress);

/** @throws {Error} for a body that does not end with a frame, which the runtime's decoder takes as it is. */
function wholeZstd(bytes: Uint8Array): Uint8Array {
  const frames = new ZstdFrames();
  frames.feed(bytes);
  if (!frames.isWhole) throw new Error("the zstd body is cut");
  return bytes;
}

function wholeZstdSource(source: ByteSource): ByteSource {
  const frames = new ZstdFrames();
  return {
    next: async () => {
      const piece = await source.next();
      if (piece === null && !frames.isWhole) throw new Error("the zstd body is cut");
      if (piece !== null) frames.feed(piece);
      return piece;
    },
    cancel: () => source.cancel(),
  };
}

const decoders: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", gzip],
  ["x-gzip", gzip],
  [
    "br",
    {
      now: brotliDecompressSync,
      aside: promisify<Uint8Array, Bound, Buffer>(brotliDecompress),
      onTheWay: () => createBrotliDecompress(pieces),
    },
  ],
  [
    "zstd",
    {
      now: (bytes, bound) => zstdDecompressSync(wholeZstd(bytes), bound),
      aside: async (bytes, bound) => await zstdAside(wholeZstd(bytes), bound),
      onTheWay: () => createZstdDecompress(pieces),
      checked: wholeZstdSource,
    },
  ],
]);

/** Packed bytes from which on unpacking is left to another thread: 200 KB of gzip take 2 ms, 64 KB well under one. */
const asideBytesMin = 64 * 1024;

export type Decoded =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "malformed" | "too-large" };

/**
 * Unpacks a body to at most `bytesMax` bytes; a promise where it takes long. node:zlib is used since it bounds what it
 * gives out, which Bun.gunzipSync does not (it is the faster one: 3 µs for 500 bytes beside 15).
 */
export function decodeBody(coding: string, bytes: Uint8Array, bytesMax: number): Decoded | Promise<Decoded> {
  const decoder = decoders.get(coding);
  if (decoder === undefined) return { kind: "malformed" };
  const bound = { maxOutputLength: Math.max(1, bytesMax) };
  if (bytes.length >= asideBytesMin) return decoder.aside(bytes, bound).then(decoded, refused);
  try {
    return decoded(decoder.now(bytes, bound));
  } catch (error) {
    return refused(error);
  }
}

/** What a body unpacks to, handed on while it comes; null for an unknown coding. */
export function unpacked(coding: string, source: ByteSource): ByteSource | null {
  const decoder = decoders.get(coding);
  if (decoder === undefined) return null;
  return through(decoder.checked?.(source) ?? source, decoder.onTheWay());
}

const decoded = (bytes: Uint8Array): Decoded => ({ kind: "bytes", bytes });

function refused(error: unknown): Decoded {
  const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
  return { kind: isTooLarge ? "too-large" : "malformed" };
}
