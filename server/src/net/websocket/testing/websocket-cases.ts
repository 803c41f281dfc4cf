import type { Random } from "@sluice/lib";
import { clientFrame, type Frame } from "./client-frames.ts";

/** One connection: what its client sends, in which pieces. */
export interface SocketCase {
  readonly bytes: Buffer;
  readonly pieces: readonly Buffer[];
  /** Whether the first piece is sent with the handshake, before it is answered. */
  readonly isEarly: boolean;
  /** Whether a client that the server has no reason to close ends its sending half without a closing frame. */
  readonly isSilent: boolean;
  /** What is wrong with it, for the summary. */
  readonly fault: string;
}

export const messageBytesMax = 256 * 1024;

const samples: readonly string[] = [
  "",
  "a",
  "Hello",
  "é",
  "€uro",
  "\u{1f600}",
  "\u0000",
  "\ufeffmark",
  "{}",
  "ﬀ\u{10ffff}",
];
/** Sequences that are no UTF-8: cut, too long, surrogates, beyond the last character, a tail alone. */
const broken: readonly (readonly number[])[] = [
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
  [0xc0, 0x80],
  [0xe0, 0x9f, 0xbf],
  [0xf0, 0x8f, 0xbf, 0xbf],
  [0xed, 0xa0, 0x80],
  [0xed, 0xbf, 0xbf],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0x80],
  [0xff],
  [0xfe],
];

/** Draws cases. */
export class CaseWriter {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): SocketCase {
    const [name, write] = this.#one(faults);
    const frames: Buffer[] = [];
    const valid = (): void => {
      for (let count = this.#below(4); count > 0; count -= 1) frames.push(...this.#message());
    };
    valid();
    frames.push(...write(this));
    // A server that went on behind the fault would be seen by its answers.
    valid();
    const all = Buffer.concat(frames);
    const bytes = this.#below(8) === 0 ? all.subarray(0, this.#below(all.length + 1)) : all;
    return {
      bytes,
      pieces: this.#pieces(bytes),
      isEarly: this.#below(8) === 0,
      isSilent: this.#below(4) === 0,
      fault: name,
    };
  }

  below(bound: number): number {
    return this.#below(bound);
  }

  one<T>(list: readonly T[]): T {
    return this.#one(list);
  }

  frame(frame: Frame): Buffer {
    return clientFrame({ mask: this.bytes(4), ...frame });
  }

  bytes(length: number): Buffer {
    return Buffer.from(this.#random.bytes(length));
  }

  text(): Buffer {
    let text = "";
    for (let count = this.#below(4); count >= 0; count -= 1) text += this.#one(samples);
    return Buffer.from(text);
  }

  /** A payload as frames, cut anywhere, with control frames between them. */
  fragments(opcode: number, payload: Buffer, count = 1 + this.#below(4)): Buffer[] {
    const places = Array.from({ length: count - 1 }, () => this.#below(payload.length + 1)).sort((a, b) => a - b);
    const ends = [...places, payload.length];
    const frames: Buffer[] = [];
    ends.forEach((end, index) => {
      const part = payload.subarray(ends[index - 1] ?? 0, end);
      const isFinal = index === ends.length - 1;
      frames.push(this.frame({ opcode: index === 0 ? opcode : 0, payload: part, isFinal }));
      if (!isFinal && this.#below(3) === 0) frames.push(this.control());
    });
    return frames;
  }

  control(): Buffer {
    return this.frame({ opcode: this.#one([9, 9, 10]), payload: this.bytes(this.#one([0, 1, 4, 125])) });
  }

  #message(): Buffer[] {
    const kind = this.#below(10);
    if (kind < 2) return [this.control()];
    if (kind < 6) return this.fragments(1, this.text());
    if (kind < 9) return this.fragments(2, this.bytes(this.#one([0, 1, 124, 125, 126, 127, 300])));
    const length = this.#below(20) === 0 ? this.#one([65_535, 65_536, 70_000]) : this.#one([126, 1_000, 4_096]);
    return this.fragments(2, Buffer.alloc(length, this.#below(256)));
  }

  /** Whole, cut anywhere, or byte by byte where that is not too long. */
  #pieces(bytes: Buffer): Buffer[] {
    const kind = this.#below(4);
    if (kind === 0) return [bytes];
    if (kind === 1 && bytes.length <= 120) return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    const places = Array.from({ length: 1 + this.#below(5) }, () => this.#below(bytes.length + 1)).sort(
      (a, b) => a - b,
    );
    return [0, ...places].map((place, index) => bytes.subarray(place, places[index] ?? bytes.length));
  }

  #below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }

  #one<T>(list: readonly T[]): T {
    const found = list[this.#below(list.length)];
    if (found === undefined) throw new Error("a list of nothing");
    return found;
  }
}

const closing = (code: number, reason: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.concat([Uint8Array.of(code >> 8, code & 0xff), reason]);

/** Text around bytes that are no UTF-8. */
const badText = (writer: CaseWriter): Buffer =>
  Buffer.concat([
    writer.text(),
    Uint8Array.from(writer.one(broken)),
    writer.below(2) === 0 ? writer.text() : Buffer.alloc(0),
  ]);

/** What may be wrong with a stream of frames, with what writes it; "nothing" three times, so that a share is valid. */
const faults: readonly (readonly [name: string, write: (writer: CaseWriter) => Buffer[]])[] = [
  ["nothing", () => []],
  ["nothing", (writer) => writer.fragments(1, writer.text(), 6)],
  ["nothing", (writer) => writer.fragments(2, writer.bytes(200), 6)],
  [
    "reserved bits",
    (writer) => [
      writer.frame({ opcode: writer.one([0, 1, 2, 8, 9, 10]), payload: writer.text(), reserved: 1 + writer.below(7) }),
    ],
  ],
  [
    "unknown kind",
    (writer) => [writer.frame({ opcode: writer.one([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), payload: writer.text() })],
  ],
  [
    "no mask",
    (writer) => [writer.frame({ opcode: writer.one([1, 2, 8, 9, 10]), payload: writer.bytes(2), mask: null })],
  ],
  [
    "another mask",
    (writer) => {
      const frame = writer.frame({ opcode: 1, payload: writer.text() });
      frame.set(writer.bytes(4), 2);
      return [frame];
    },
  ],
  ["bad text", (writer) => [writer.frame({ opcode: 1, payload: badText(writer) })]],
  ["bad text in fragments", (writer) => writer.fragments(1, badText(writer), 2 + writer.below(4))],
  [
    "bad text byte by byte",
    (writer) => {
      const bytes = badText(writer);
      return Array.from(bytes, (byte, at) =>
        writer.frame({ opcode: at === 0 ? 1 : 0, payload: Uint8Array.of(byte), isFinal: at === bytes.length - 1 }),
      );
    },
  ],
  [
    "length too long",
    (writer) => [
      writer.frame({ opcode: 2, payload: writer.bytes(writer.one([0, 5, 125])), lengthBytes: writer.one([2, 8]) }),
    ],
  ],
  ["length in eight bytes", (writer) => [writer.frame({ opcode: 2, payload: writer.bytes(300), lengthBytes: 8 })]],
  [
    "length without end",
    (writer) => [
      Buffer.concat([Uint8Array.of(0x82, 0xff, 0x80 | writer.below(128)), writer.bytes(7), writer.bytes(4)]),
    ],
  ],
  [
    "too large",
    (writer) => {
      const head = Buffer.alloc(14);
      head.set([0x82, 0xff], 0);
      head.writeBigUInt64BE(BigInt(messageBytesMax + 1 + writer.below(2 ** 31)), 2);
      return [head, writer.bytes(50)];
    },
  ],
  [
    "too large in fragments",
    (writer) => {
      // Rarely with all its bytes, up to the bound or one beyond it.
      if (writer.below(40) === 0) return writer.fragments(2, Buffer.alloc(messageBytesMax + writer.below(2), 0x61), 3);
      const head = Buffer.from([0x80, 0xff, 0, 0, 0, 0, 0, 0x04, 0, 0]);
      return [
        writer.frame({ opcode: 1, payload: Buffer.alloc(1 + writer.below(100), 0x61), isFinal: false }),
        Buffer.concat([head, writer.bytes(24)]),
      ];
    },
  ],
  [
    "continuation of nothing",
    (writer) => [writer.frame({ opcode: 0, payload: writer.text(), isFinal: writer.below(2) === 0 })],
  ],
  [
    "message within a message",
    (writer) => [
      writer.frame({ opcode: writer.one([1, 2]), payload: writer.text(), isFinal: false }),
      writer.frame({ opcode: writer.one([1, 2]), payload: writer.text(), isFinal: writer.below(2) === 0 }),
    ],
  ],
  [
    "control in fragments",
    (writer) => [writer.frame({ opcode: writer.one([8, 9, 10]), payload: writer.bytes(2), isFinal: false })],
  ],
  [
    "long control",
    (writer) => [writer.frame({ opcode: writer.one([8, 9, 10]), payload: writer.bytes(writer.one([126, 127, 300])) })],
  ],
  [
    "close",
    (writer) => [
      writer.frame({
        opcode: 8,
        payload: closing(writer.one([1000, 1001, 1003, 1011, 1014, 3000, 4000, 4999]), writer.text()),
      }),
    ],
  ],
  ["close without a code", (writer) => [writer.frame({ opcode: 8, payload: Buffer.alloc(0) })]],
  [
    "close with any code",
    (writer) => [writer.frame({ opcode: 8, payload: closing(writer.below(writer.one([1_020, 5_010, 65_536]))) })],
  ],
  ["close with half a code", (writer) => [writer.frame({ opcode: 8, payload: writer.bytes(1) })]],
  [
    "close with a bad reason",
    (writer) => [writer.frame({ opcode: 8, payload: closing(1000, Uint8Array.from(writer.one(broken))) })],
  ],
  [
    "close within a message",
    (writer) => [
      writer.frame({ opcode: 1, payload: writer.text(), isFinal: false }),
      writer.frame({ opcode: 8, payload: closing(4001) }),
    ],
  ],
  ["any bytes", (writer) => [writer.bytes(1 + writer.below(60))]],
  [
    "changed bytes",
    (writer) => {
      const frames = Buffer.concat([...writer.fragments(1, writer.text()), writer.control()]);
      for (let count = 1 + writer.below(3); count > 0; count -= 1)
        frames[writer.below(frames.length)] = writer.below(256);
      return [frames];
    },
  ],
];
