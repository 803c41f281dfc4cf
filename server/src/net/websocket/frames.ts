import { isUtf8 } from "node:buffer";
import { BodyBuffer } from "../http1/body-buffer.ts";

/** Kinds of frames (RFC 6455, section 5.2). */
export const opcodes = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;
export type Opcode = (typeof opcodes)[keyof typeof opcodes];

/** Close codes of the protocol itself, for what a peer must not send (RFC 6455, section 7.4.1). */
export const protocolCodes = { protocolError: 1002, notUtf8: 1007, messageTooLarge: 1009 } as const;
export type ProtocolCode = (typeof protocolCodes)[keyof typeof protocolCodes];

/** What a reader hands out, in the order of the frames. Bytes are the connection's memory, and gone after the call. */
export interface FrameHandlers {
  message(data: string | Buffer): void;
  ping(payload: Buffer): void;
  pong(): void;
  /** The peer closes; `code` is 1005 when it names none. Nothing is read after it. */
  close(code: number): void;
  /** What came is no valid frame. Nothing is read after it. */
  broken(code: ProtocolCode): void;
}

const controlBytesMax = 125;
/** The reason of a close, in UTF-8. */
export const reasonBytesMax = controlBytesMax - 2;
const noCode = 1005;

/**
 * Reads a client's frames from bytes that arrive in any pieces and puts fragments together, strictly: every frame is
 * masked, lengths take as few bytes as they need, text is UTF-8, and no message is longer than the bound. No extension
 * is negotiated, so no reserved bit is set.
 */
export class FrameReader {
  readonly #messageBytesMax: number;
  readonly #handlers: FrameHandlers;
  /** Bytes of a frame that has not come whole. */
  #held: Buffer | null = null;
  /** The bytes at which the held frame is whole, or its head may be read; saves joining what is too little. */
  #needed = 0;
  #pieces: Buffer[] = [];
  #piecesBytes = 0;
  /** The kind of a message whose last fragment has not come; 0 between messages. */
  #fragmented = 0;
  readonly #fragments = new BodyBuffer({ growthBytes: 4 * 1024 });
  #isOver = false;

  constructor(options: { readonly messageBytesMax: number }, handlers: FrameHandlers) {
    this.#messageBytesMax = options.messageBytesMax;
    this.#handlers = handlers;
  }

  /** Nothing is read any more. */
  stop(): void {
    this.#isOver = true;
    this.#held = null;
    this.#pieces = [];
    this.#fragments.begin(null);
  }

  feed(received: Buffer): void {
    if (this.#isOver) return;
    let bytes = received;
    if (this.#held !== null) {
      this.#pieces.push(received);
      this.#piecesBytes += received.length;
      if (this.#piecesBytes < this.#needed) {
        this.#keep(received);
        return;
      }
      bytes = Buffer.concat(this.#pieces, this.#piecesBytes);
    }
    this.#held = null;
    this.#pieces = [];
    this.#piecesBytes = 0;
    let at = 0;
    while (!this.#isOver && at < bytes.length) {
      const next = this.#frame(bytes, at);
      if (next < 0) break;
      at = next;
    }
    if (this.#isOver || at === bytes.length) return;
    const rest = Buffer.from(bytes.subarray(at));
    this.#held = rest;
    this.#pieces = [rest];
    this.#piecesBytes = rest.length;
  }

  /** The memory of a read is reused by the runtime: what waits for more is copied. */
  #keep(received: Buffer): void {
    this.#pieces[this.#pieces.length - 1] = Buffer.from(received);
  }

  /** Reads the frame at `at`; the place after it, or -1 when more has to come or the reader has stopped. */
  #frame(bytes: Buffer, at: number): number {
    const available = bytes.length - at;
    if (available < 2) return this.#wait(2);
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const opcode = first & 0x0f;
    const isFinal = first >= 0x80;
    // A reserved bit, or no mask.
    if ((first & 0x70) !== 0 || second < 0x80) return this.#break(protocolCodes.protocolError);
    const isControl = opcode >= 8;
    if (opcode > 0xa || (opcode > 2 && !isControl)) return this.#break(protocolCodes.protocolError);
    let length = second & 0x7f;
    if (isControl && (!isFinal || length > controlBytesMax)) return this.#break(protocolCodes.protocolError);
    let head = 6;
    if (length === 126) {
      head = 8;
      if (available < 4) return this.#wait(4);
      length = bytes.readUInt16BE(at + 2);
      if (length < 126) return this.#break(protocolCodes.protocolError);
    } else if (length === 127) {
      head = 14;
      if (available < 10) return this.#wait(10);
      const high = bytes.readUInt32BE(at + 2);
      length = high * 2 ** 32 + bytes.readUInt32BE(at + 6);
      if (high >= 2 ** 31 || length < 65_536) return this.#break(protocolCodes.protocolError);
    }
    if (!isControl) {
      if ((opcode === opcodes.continuation) !== (this.#fragmented !== 0))
        return this.#break(protocolCodes.protocolError);
      if (length + this.#fragments.length > this.#messageBytesMax) return this.#break(protocolCodes.messageTooLarge);
    }
    const end = at + head + length;
    if (bytes.length < end) return this.#wait(head + length);
    unmask(bytes, at + head - 4, end);
    const payload = bytes.subarray(at + head, end);
    if (isControl) this.#control(opcode, payload);
    else this.#data(opcode, payload, isFinal);
    return end;
  }

  #wait(bytes: number): -1 {
    this.#needed = bytes;
    return -1;
  }

  #break(code: ProtocolCode): -1 {
    this.stop();
    this.#handlers.broken(code);
    return -1;
  }

  #data(opcode: number, payload: Buffer, isFinal: boolean): void {
    if (isFinal && this.#fragmented === 0) {
      this.#message(opcode, payload);
      return;
    }
    if (this.#fragmented === 0) this.#fragmented = opcode;
    this.#fragments.addCopy(payload);
    if (!isFinal) return;
    const kind = this.#fragmented;
    this.#fragmented = 0;
    const whole = this.#fragments.take();
    this.#message(kind, Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength));
  }

  #message(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.binary) this.#handlers.message(payload);
    else if (isUtf8(payload)) this.#handlers.message(payload.toString("utf8"));
    else this.#break(protocolCodes.notUtf8);
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.ping) this.#handlers.ping(payload);
    else if (opcode === opcodes.pong) this.#handlers.pong();
    else this.#close(payload);
  }

  #close(payload: Buffer): void {
    const code = payload.length < 2 ? noCode : payload.readUInt16BE(0);
    const isValid = payload.length === 0 || (payload.length > 1 && isSendable(code));
    if (!isValid) this.#break(protocolCodes.protocolError);
    else if (!isUtf8(payload.subarray(2))) this.#break(protocolCodes.notUtf8);
    else {
      this.stop();
      this.#handlers.close(code);
    }
  }
}

/** Codes that a peer may send: those of the protocol but the reserved ones, and those of libraries and applications. */
const isSendable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999);

/** Removes the mask of the payload that follows the four bytes of the key at `keyAt`. */
function unmask(bytes: Buffer, keyAt: number, end: number): void {
  const start = keyAt + 4;
  const k0 = bytes[keyAt] ?? 0;
  const k1 = bytes[keyAt + 1] ?? 0;
  const k2 = bytes[keyAt + 2] ?? 0;
  const k3 = bytes[keyAt + 3] ?? 0;
  for (let at = start; at < end; at += 4) {
    bytes[at] = (bytes[at] ?? 0) ^ k0;
    if (at + 1 < end) bytes[at + 1] = (bytes[at + 1] ?? 0) ^ k1;
    if (at + 2 < end) bytes[at + 2] = (bytes[at + 2] ?? 0) ^ k2;
    if (at + 3 < end) bytes[at + 3] = (bytes[at + 3] ?? 0) ^ k3;
  }
}

/** A whole message as one frame of the server, which is not masked. */
export function encodeFrame(opcode: Opcode, data: string | Uint8Array): Buffer {
  const length = typeof data === "string" ? Buffer.byteLength(data) : data.length;
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = 0x80 | opcode;
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt32BE(Math.floor(length / 2 ** 32), 2);
    frame.writeUInt32BE(length % 2 ** 32, 6);
  }
  if (typeof data === "string") frame.write(data, head, "utf8");
  else frame.set(data, head);
  return frame;
}
