import { encodeFrame, opcodes } from "./frames.ts";

/** A message as it is sent to any number of clients: encoded once. */
export interface SharedFrame {
  /** The name of the group that it was published to; null for what was sent to one client alone. */
  readonly group: string | null;
  /** Where it stands among all that was published in its turn of the event loop. */
  readonly order: number;
  readonly data: string | Uint8Array;
  /** The frame; never changed. */
  readonly bytes: Buffer;
}

export function sharedFrame(group: string | null, order: number, data: string | Uint8Array): SharedFrame {
  const bytes = encodeFrame(typeof data === "string" ? opcodes.text : opcodes.binary, data);
  return { group, order, data, bytes };
}

/**
 * Frames are joined to pieces of this size at most; a longer frame stays by itself. What a slow client has not taken is
 * a part of a piece, so that a piece is also the most that it keeps in memory beside what it still has to get.
 */
const pieceBytesMax = 256 * 1024;

/** The frames that some clients get in one turn of the event loop, in their order. */
export class FrameBatch {
  readonly frames: readonly SharedFrame[];
  #pieces: readonly Buffer[] | null = null;

  constructor(frames: readonly SharedFrame[]) {
    this.frames = frames;
  }

  /** Of the frames as they are sent. */
  get byteLength(): number {
    let bytes = 0;
    for (const frame of this.frames) bytes += frame.bytes.length;
    return bytes;
  }

  /** The frames joined for writing, once for all clients that get them. */
  get pieces(): readonly Buffer[] {
    this.#pieces ??= joined(this.frames.map(({ bytes }) => bytes));
    return this.#pieces;
  }

  /** All who get it have it: what was joined for them is not held any longer. */
  forget(): void {
    this.#pieces = null;
  }
}

function joined(frames: readonly Buffer[]): readonly Buffer[] {
  if (frames.length === 1) return frames;
  const pieces: Buffer[] = [];
  let next: Buffer[] = [];
  let nextBytes = 0;
  const add = (): void => {
    const [only] = next;
    if (only !== undefined) pieces.push(next.length === 1 ? only : Buffer.concat(next, nextBytes));
    next = [];
    nextBytes = 0;
  };
  for (const frame of frames) {
    if (nextBytes + frame.length > pieceBytesMax) add();
    next.push(frame);
    nextBytes += frame.length;
  }
  add();
  return pieces;
}
