import { crc32 } from "node:zlib";
import { headLengthMax } from "../head-codec.ts";
import { bodyBytesMax } from "../records.ts";

/**
 * A record in a file: mark, bytes of the head, bytes of the body, CRC-32 of the body, CRC-32 of these 16 bytes and the
 * head (each u32, little-endian), then the head (UTF-8) and the body (zstd; none has 0 bytes).
 */
export const prefixBytes = 20;
const mark = 0x314c_4353;
/** What is read at once to see a head. */
export const frameBytesToSee = prefixBytes + headLengthMax;
/** Zstandard adds at most this to what it cannot compress (RFC 8878: a header, and 3 bytes for each 128 KiB). */
const storedBytesMax = bodyBytesMax + 64 + 3 * (bodyBytesMax / 131_072);

export interface RecordFrame {
  readonly head: string;
  readonly bodyBytes: number;
  readonly bodySum: number;
  /** Of the prefix, the head and the body. */
  readonly bytes: number;
}

/** The beginning of a record; its body follows. */
export function encodeFrame(head: string, body: Uint8Array | null): Buffer {
  const text = Buffer.from(head, "utf8");
  const frame = Buffer.alloc(prefixBytes + text.length);
  frame.writeUInt32LE(mark, 0);
  frame.writeUInt32LE(text.length, 4);
  frame.writeUInt32LE(body?.length ?? 0, 8);
  frame.writeUInt32LE(body === null ? 0 : crc32(body), 12);
  text.copy(frame, prefixBytes);
  frame.writeUInt32LE(crc32(text, crc32(frame.subarray(0, 16))), 16);
  return frame;
}

/** Null unless the bytes begin with a whole prefix and head. */
export function decodeFrame(bytes: Buffer): RecordFrame | null {
  if (bytes.length < prefixBytes || bytes.readUInt32LE(0) !== mark) return null;
  const [headBytes, bodyBytes] = [bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
  if (headBytes > headLengthMax || bodyBytes > storedBytesMax || bytes.length < prefixBytes + headBytes) return null;
  const text = bytes.subarray(prefixBytes, prefixBytes + headBytes);
  if (bytes.readUInt32LE(16) !== crc32(text, crc32(bytes.subarray(0, 16)))) return null;
  const bodySum = bytes.readUInt32LE(12);
  return { head: text.toString("utf8"), bodyBytes, bodySum, bytes: prefixBytes + headBytes + bodyBytes };
}
