import { expect, test } from "bun:test";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { ByteSource } from "@sluice/lib";
import { decodeBody, unpacked } from "./content-coding.ts";

const packers = [
  ["gzip", gzipSync],
  ["x-gzip", gzipSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
] as const;
const noise = Uint8Array.from({ length: 100_000 }, (_unused, at) => Math.imul(at * at + 7, 2_654_435_761) >>> 24);

function sourceOf(bytes: Uint8Array): ByteSource {
  let at = 0;
  return {
    next: async () => {
      const piece = bytes.subarray(at, at + 10_000);
      at += piece.length;
      return piece.length === 0 ? null : piece;
    },
    cancel: () => undefined,
  };
}

async function piecesOf(source: ByteSource | null): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (let piece = await source?.next(); piece instanceof Uint8Array; piece = await source?.next()) {
    pieces.push(Uint8Array.from(piece));
  }
  return pieces;
}

test.each(packers)(
  "a body in %s that is unpacked on the way comes out whole, in pieces of 64 KiB",
  async (coding, pack) => {
    const text = Buffer.alloc(300_000, "abcdefg");
    const pieces = await piecesOf(unpacked(coding, sourceOf(pack(text))));
    expect(Buffer.concat(pieces).equals(text)).toBe(true);
    expect(Math.max(...pieces.map(({ length }) => length))).toBe(64 * 1024);
  },
);

test.each(packers)(
  "a cut body in %s that is unpacked on the way ends with an error, not as if it were whole",
  async (coding, pack) => {
    const bytes = pack(noise);
    for (const cut of [bytes.length >> 1, bytes.length - 1]) {
      expect(await piecesOf(unpacked(coding, sourceOf(bytes.subarray(0, cut)))).catch(() => "cut")).toBe("cut");
    }
  },
);

test.each(packers)(
  "a body in %s is unpacked whole up to its bound, small or large when packed",
  async (coding, pack) => {
    for (const body of [Buffer.from("small"), noise]) {
      const bytes = pack(body);
      const { length } = body;
      const whole = await decodeBody(coding, bytes, length);
      expect(whole.kind === "bytes" && Buffer.compare(whole.bytes, body)).toBe(0);
      expect(await decodeBody(coding, bytes, length - 1)).toEqual({ kind: "too-large" });
      for (const cut of [bytes.length >> 1, bytes.length - 1]) {
        expect(await decodeBody(coding, bytes.subarray(0, cut), length)).toEqual({ kind: "malformed" });
      }
    }
  },
);

test("an unknown coding is malformed, and nothing unpacks it on the way", () => {
  expect(decodeBody("deflate", new Uint8Array(), 10)).toEqual({ kind: "malformed" });
  expect(unpacked("deflate", sourceOf(noise))).toBeNull();
});
