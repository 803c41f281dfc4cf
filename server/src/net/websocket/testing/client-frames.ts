import fc from "fast-check";
import { FrameReader } from "../frames.ts";

export const messageBytesMax = 70_000;

export interface Frame {
  readonly opcode: number;
  readonly payload: Uint8Array;
  readonly isFinal?: boolean;
  /** Four bytes; null leaves the frame unmasked. */
  readonly mask?: Uint8Array | null;
  readonly reserved?: number;
  /** Bytes of the extended length: 0, 2 or 8; by default as few as the length needs. */
  readonly lengthBytes?: 0 | 2 | 8;
}

/** A frame as a client writes it, valid or not. */
export function clientFrame({ opcode, payload, isFinal = true, reserved = 0, ...rest }: Frame): Buffer {
  const { length } = payload;
  const mask = rest.mask === undefined ? Uint8Array.of(0x37, 0xfa, 0x21, 0x3d) : rest.mask;
  const lengthBytes = rest.lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8);
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (mask === null ? 0 : 0x80) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  const body = mask === null ? payload : payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([head, mask ?? new Uint8Array(), body]);
}

/** What a reader hands out of bytes that arrive in the given pieces: one line for each event. */
export function eventsOf(pieces: readonly Uint8Array[], bytesMax = messageBytesMax): string[] {
  const events: string[] = [];
  const reader = new FrameReader(
    { messageBytesMax: bytesMax },
    {
      message: (data) =>
        events.push(typeof data === "string" ? `text ${data}` : `binary ${Buffer.from(data).toString("hex")}`),
      ping: (payload) => events.push(`ping ${payload.toString("hex")}`),
      pong: () => events.push("pong"),
      close: (code) => events.push(`close ${code}`),
      broken: (code) => events.push(`broken ${code}`),
    },
  );
  // A memory of its own for each read, which is wiped after it: the runtime reuses its buffers.
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    reader.feed(bytes);
    bytes.fill(0xee);
  }
  return events;
}

const mask = fc.uint8Array({ minLength: 4, maxLength: 4 });
const control = fc.record({ opcode: fc.constantFrom(0x9, 0xa), payload: fc.uint8Array({ maxLength: 125 }), mask });
const content = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }).map((text) => ({ opcode: 0x1, bytes: Buffer.from(text) })),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ opcode: 0x2, bytes: Buffer.from(bytes) })),
  fc.constantFrom(125, 126, 127, 65_535, 65_536).map((length) => ({ opcode: 0x2, bytes: Buffer.alloc(length, 7) })),
);

/** A message in one frame or several, with control frames between them, and what is to come of it. */
const message = fc
  .record({
    content,
    cuts: fc.array(fc.nat(), { maxLength: 4 }),
    mask,
    between: fc.array(control, { maxLength: 3 }),
  })
  .map(({ content: { opcode, bytes }, cuts, mask: key, between }) => {
    const parts = cutAt(bytes, cuts, { isWhole: true });
    const frames: Buffer[] = [];
    const events: string[] = [];
    parts.forEach((payload, index) => {
      const isFinal = index === parts.length - 1;
      frames.push(clientFrame({ opcode: index === 0 ? opcode : 0, payload, isFinal, mask: key }));
      const inserted = isFinal ? undefined : between[index];
      if (inserted === undefined) return;
      frames.push(clientFrame(inserted));
      events.push(inserted.opcode === 0x9 ? `ping ${Buffer.from(inserted.payload).toString("hex")}` : "pong");
    });
    events.push(opcode === 0x1 ? `text ${bytes.toString()}` : `binary ${bytes.toString("hex")}`);
    return { bytes: Buffer.concat(frames), events };
  });

/** A valid stream of frames, and the events that are to come of it. */
export const stream = fc.array(message, { minLength: 1, maxLength: 5 }).map((messages) => ({
  bytes: Buffer.concat(messages.map(({ bytes }) => bytes)),
  events: messages.flatMap(({ events }) => events),
}));

const change = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.constantFrom("set", "drop", "insert", "cut") });

/** The bytes of a stream with a few changes, most of them near the beginning; valid by chance only. */
export const changedStream = fc
  .tuple(stream, fc.array(change, { minLength: 1, maxLength: 4 }))
  .map(([valid, changes]) => {
    let bytes = [...valid.bytes.subarray(0, 2_000)];
    for (const { at, byte, kind } of changes) {
      const place = at % (bytes.length + 1);
      if (kind === "cut") bytes = bytes.slice(0, place);
      else bytes.splice(place, kind === "insert" ? 0 : 1, ...(kind === "drop" ? [] : [byte]));
    }
    return Buffer.from(bytes);
  });

/** Cuts at the given places; `isWhole` keeps empty pieces, as fragments may be. */
export function cutAt(bytes: Uint8Array, cuts: readonly number[], { isWhole = false } = {}): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
  return isWhole ? pieces : pieces.filter((piece) => piece.length > 0);
}
