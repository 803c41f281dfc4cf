import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { StoredBody } from "../chain-index.ts";
import { newLogFileError } from "../errors.ts";
import { decodeChain, decodeHead, encodeChain, headLengthMax, type StoredHead } from "../head-codec.ts";
import { unpack } from "../packing.ts";
import type { ChainIdentity } from "../records.ts";
import { decodeFrame, frameBytesToSee, type RecordFrame } from "./frame.ts";

const form = "sluice log 1";

/** The first record of a file. */
export function encodeSegmentHead(chain: ChainIdentity): string {
  return JSON.stringify({ form, chain: encodeChain(chain) });
}

/** Whether a file's first record says that its blocks are of the chain, or of it before its first block was known. */
export function isSegmentOf(head: string, chain: ChainIdentity): boolean {
  return head === encodeSegmentHead(chain) || head === encodeSegmentHead({ ...chain, firstBlockhash: null });
}

/** The chain of a file's first record; null where there is no such record. @throws {Error} of the file system */
export function chainOfSegment(path: string): ChainIdentity | null {
  const file = openSync(path, "r");
  try {
    const seen = Buffer.allocUnsafe(frameBytesToSee);
    const head = decodeFrame(seen.subarray(0, readSync(file, seen, 0, seen.length, 0)))?.head;
    const text = head === undefined ? undefined : /^\{"form":"[^"]*","chain":"(?<chain>[^"]*)"\}$/.exec(head)?.[1];
    return text === undefined ? null : decodeChain(text);
  } finally {
    closeSync(file);
  }
}

/** A body in a file, read when it is asked for. */
export class SegmentBody implements StoredBody {
  readonly rawBytes: number;
  readonly #place: { readonly path: string; readonly at: number; readonly bytes: number; readonly sum: number };

  constructor(rawBytes: number, place: { path: string; at: number; bytes: number; sum: number }) {
    this.rawBytes = rawBytes;
    this.#place = place;
  }

  async read(): Promise<Uint8Array | null> {
    const { path, at, bytes, sum } = this.#place;
    const stored = Buffer.allocUnsafe(bytes);
    try {
      await using file = await open(path, "r");
      const { bytesRead } = await file.read(stored, 0, bytes, at);
      if (bytesRead !== bytes) return null;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw newLogFileError(`The chain's log cannot read ${path}`, error);
    }
    return crc32(stored) === sum ? await unpack(stored, this.rawBytes) : null;
  }
}

/** What a file holds, as far as its records are whole. */
export interface ScannedSegment {
  /** Null where not even the first record is whole. */
  readonly chainHead: string | null;
  /** Bytes up to the end of the last whole record, and of the file. */
  readonly wholeBytes: number;
  readonly fileBytes: number;
  readonly changedMs: number;
}

export interface ScanOptions {
  readonly path: string;
  readonly chain: ChainIdentity;
  /** Whether bodies are read to see that they are whole: those of the file that was written last. */
  readonly checksBodies: boolean;
}

/** Reads heads in order; bodies are neither decompressed nor, unless asked for, read. Ends at a record not whole. */
export function scanSegment(
  { path, chain, checksBodies }: ScanOptions,
  onRecord: (head: StoredHead, body: SegmentBody | null) => void,
): ScannedSegment {
  const file = openSync(path, "r");
  try {
    const { size: fileBytes, mtimeMs: changedMs } = fstatSync(file);
    const seen = Buffer.allocUnsafe(frameBytesToSee);
    let chainHead: string | null = null;
    let wholeBytes = 0;
    let at = 0;
    while (at < fileBytes) {
      const frame = decodeFrame(seen.subarray(0, readSync(file, seen, 0, seen.length, at)));
      if (frame === null || at + frame.bytes > fileBytes) break;
      const bodyAt = at + frame.bytes - frame.bodyBytes;
      if (checksBodies && !isBodyWhole(file, frame, bodyAt)) {
        // The torn end, or a damaged record when whole ones follow.
        at += frame.bytes;
        continue;
      }
      if (chainHead === null) {
        chainHead = frame.head;
        if (!isSegmentOf(chainHead, chain)) break;
      } else {
        const head = decodeHead(frame.head, chain);
        if (head === null) break;
        const place = { path, at: bodyAt, bytes: frame.bodyBytes, sum: frame.bodySum };
        onRecord(head, head.kind === "block" ? new SegmentBody(head.rawBytes, place) : null);
      }
      at += frame.bytes;
      wholeBytes = at;
    }
    return { chainHead, wholeBytes, fileBytes, changedMs };
  } finally {
    closeSync(file);
  }
}

const chunkBytes = 1024 * 1024;

function isBodyWhole(file: number, { bodyBytes, bodySum }: RecordFrame, from: number): boolean {
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(bodyBytes, headLengthMax)));
  let sum = 0;
  for (let done = 0; done < bodyBytes; ) {
    const read = readSync(file, chunk, 0, Math.min(chunk.length, bodyBytes - done), from + done);
    if (read === 0) return false;
    sum = crc32(chunk.subarray(0, read), sum);
    done += read;
  }
  return sum === bodySum;
}
