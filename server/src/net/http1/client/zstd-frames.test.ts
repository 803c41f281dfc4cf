import { expect, test } from "bun:test";
import { constants, zstdCompressSync } from "node:zlib";
import { ZstdFrames } from "./zstd-frames.ts";

const noise = Uint8Array.from({ length: 140_000 }, (_unused, at) => Math.imul(at * at + 7, 2_654_435_761) >>> 24);
const skippable = Uint8Array.of(0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3);
const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_contentSizeFlag]: 0 } };

const bodies: readonly (readonly [string, Uint8Array])[] = [
  ["a frame of one segment", zstdCompressSync("small")],
  ["a frame of one repeated byte with a checksum", zstdCompressSync(Buffer.alloc(1_000, "a"), checked)],
  ["a frame of several blocks", zstdCompressSync(noise)],
  ["a frame of several blocks with a window and a checksum", zstdCompressSync(noise, checked)],
  ["an empty frame", zstdCompressSync("")],
  ["a frame to skip", skippable],
];

/** Ends of the pieces up to which the body is whole. */
function wholeAt(bytes: Uint8Array, pieceBytes: number): readonly number[] {
  const frames = new ZstdFrames();
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    frames.feed(bytes.subarray(at, at + pieceBytes));
    if (frames.isWhole) found.push(Math.min(at + pieceBytes, bytes.length));
  }
  return found;
}

test.each(bodies)("%s is whole at its last byte and at none before", (_what, bytes) => {
  expect(wholeAt(bytes, 1)).toEqual([bytes.length]);
  expect(wholeAt(bytes, 7)).toEqual([bytes.length]);
  expect(wholeAt(bytes, bytes.length)).toEqual([bytes.length]);
});

test("frames may follow each other, and a body is whole after each", () => {
  const parts = bodies.map(([, bytes]) => bytes);
  let end = 0;
  const ends = parts.map(({ length }) => (end += length));
  expect(wholeAt(Buffer.concat(parts), 1)).toEqual(ends);
});
