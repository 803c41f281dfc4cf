/** What RFC 6455 asks of a server that sends each message back, written without the code that it is to judge. */

export interface Answer {
  readonly opcode: number;
  readonly payload: Buffer;
}

export interface Expected {
  /** Messages that are sent back, and pongs, in their order. */
  readonly answers: readonly Answer[];
  /** The code of the closing frame behind them; null when the server has no reason to close. */
  readonly code: number | null;
  /** Whether the bytes end within a frame, so that none can follow. */
  readonly isCut: boolean;
}

const protocolError = 1002;
const notUtf8 = 1007;
const tooLarge = 1009;

interface Head {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly length: number;
  /** Of the head with the key of the mask. */
  readonly bytes: number;
}

/** The head of the frame at `at`; the code that it deserves, or null when more has to come (section 5.2). */
function headAt(bytes: Buffer, at: number): Head | number | null {
  if (bytes.length < at + 2) return null;
  const [first = 0, second = 0] = bytes.subarray(at, at + 2);
  const opcode = first % 16;
  const isFinal = first >= 128;
  const isControl = opcode >= 8;
  const short = second % 128;
  const isKnown = [0, 1, 2, 8, 9, 10].includes(opcode);
  // No extension is negotiated, a client masks each frame (5.1), and a control frame is short and whole (5.5).
  if (Math.floor(first / 16) % 8 !== 0 || second < 128 || !isKnown) return protocolError;
  if (isControl && (!isFinal || short > 125)) return protocolError;
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < at + 2 + extended) return null;
  let length = BigInt(short);
  if (extended > 0) {
    length = 0n;
    for (const byte of bytes.subarray(at + 2, at + 2 + extended)) length = length * 256n + BigInt(byte);
    if (length >= 2n ** 63n || length < (extended === 2 ? 126n : 65_536n)) return protocolError;
  }
  return { isFinal, opcode, length: Number(length), bytes: 2 + extended + 4 };
}

/** What the bytes of a client lead to, at a server that takes messages of up to `messageBytesMax`. */
export function expectedOf(bytes: Buffer, messageBytesMax: number): Expected {
  const answers: Answer[] = [];
  const closed = (code: number): Expected => ({ answers, code, isCut: false });
  let fragments: Buffer[] = [];
  let kind = 0;
  let at = 0;
  while (at < bytes.length) {
    const head = headAt(bytes, at);
    if (typeof head === "number") return closed(head);
    if (head === null) return { answers, code: null, isCut: true };
    const { opcode, length } = head;
    const isControl = opcode >= 8;
    if (!isControl) {
      if ((opcode === 0) !== (kind !== 0)) return closed(protocolError);
      if (fragments.reduce((sum, part) => sum + part.length, length) > messageBytesMax) return closed(tooLarge);
    }
    const from = at + head.bytes;
    at = from + length;
    if (bytes.length < at) return { answers, code: null, isCut: true };
    const key = bytes.subarray(from - 4, from);
    const payload = Buffer.from(bytes.subarray(from, at).map((byte, place) => byte ^ (key[place % 4] ?? 0)));
    if (opcode === 8) return closed(closeCodeOf(payload));
    if (opcode === 9) answers.push({ opcode: 10, payload });
    if (isControl) continue;
    if (kind === 0) kind = opcode;
    fragments.push(payload);
    if (!head.isFinal) continue;
    const message = Buffer.concat(fragments);
    if (kind === 1 && !isText(message)) return closed(notUtf8);
    answers.push({ opcode: kind, payload: message });
    fragments = [];
    kind = 0;
  }
  return { answers, code: null, isCut: false };
}

/** What a closing frame is answered with: its own code (5.5.1), 1000 where it names none, or what it breaks (7.4). */
function closeCodeOf(payload: Buffer): number {
  if (payload.length === 0) return 1000;
  if (payload.length === 1) return protocolError;
  const code = payload.readUInt16BE(0);
  // 1004 is reserved, 1005, 1006 and 1015 never stand in a frame, and the others below 3000 are not defined.
  const isDefined = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014].includes(code);
  if (!isDefined && (code < 3000 || code > 4999)) return protocolError;
  return isText(payload.subarray(2)) ? code : notUtf8;
}

/** Whether the bytes are UTF-8: the table of RFC 3629, section 4. */
export function isText(bytes: Uint8Array): boolean {
  let at = 0;
  while (at < bytes.length) {
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const isTail = (place: number): boolean => (bytes[at + place] ?? 0) >> 6 === 2;
    if (first <= 0x7f) at += 1;
    else if (first >= 0xc2 && first <= 0xdf && isTail(1)) at += 2;
    else if (first >= 0xe0 && first <= 0xef && isTail(1) && isTail(2)) {
      if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f)) return false;
      at += 3;
    } else if (first >= 0xf0 && first <= 0xf4 && isTail(1) && isTail(2) && isTail(3)) {
      if ((first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) return false;
      at += 4;
    } else return false;
  }
  return true;
}
