import type { NodeAnswer } from "./answer.ts";

const form = 1;
const headerMax = 1_024;
const newline = 0x0a;

/**
 * An answer as bytes for another process: a line of JSON with the place of the id, and the answer without its id, byte
 * for byte. Null for an error, a null result, and an answer that is still arriving.
 */
export function packAnswer(answer: NodeAnswer): Uint8Array | null {
  const { body, label, sizeBytes, contextSlot } = answer;
  if (answer.errorCode !== null || answer.isNull || body.kind === "large") return null;
  const [head, tail] =
    body.kind === "text"
      ? [Buffer.from(body.head, "latin1"), Buffer.from(body.tail, "latin1")]
      : [body.head, body.tail];
  const bytes = Buffer.concat([head, tail]);
  const slot = contextSlot === null ? null : contextSlot.toString();
  const header = { form, label, kind: body.kind, idAt: head.byteLength, sizeBytes, slot, sum: Bun.hash.crc32(bytes) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), bytes]);
}

/** The answer that was packed; null for any other bytes. */
export function unpackAnswer(packed: Uint8Array): NodeAnswer | null {
  const end = packed.subarray(0, headerMax).indexOf(newline);
  if (end < 0) return null;
  const header = readHeader(Buffer.from(packed.subarray(0, end)).toString());
  if (header === null) return null;
  const bytes = packed.subarray(end + 1);
  const { label, kind, idAt, sizeBytes, slot, sum } = header;
  if (idAt > bytes.byteLength || sizeBytes < bytes.byteLength || Bun.hash.crc32(bytes) !== sum) return null;
  const [head, tail] = [bytes.subarray(0, idAt), bytes.subarray(idAt)];
  const latin1 = (part: Uint8Array): string => Buffer.from(part).toString("latin1");
  return {
    label,
    body: kind === "text" ? { kind, head: latin1(head), tail: latin1(tail) } : { kind, head, tail },
    sizeBytes,
    errorCode: null,
    isNull: false,
    contextSlot: slot === null ? null : BigInt(slot),
    // History states no height and no counter.
    number: null,
  };
}

interface Header {
  readonly label: string;
  readonly kind: "text" | "bytes";
  readonly idAt: number;
  readonly sizeBytes: number;
  readonly slot: string | null;
  readonly sum: number;
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function readHeader(text: string): Header | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { form: written, label, kind, idAt, sizeBytes, slot, sum }: Record<string, unknown> = { ...value };
  if (written !== form || typeof label !== "string" || (kind !== "text" && kind !== "bytes")) return null;
  if (!isCount(idAt) || !isCount(sizeBytes) || !isCount(sum)) return null;
  if (slot !== null && (typeof slot !== "string" || !/^[0-9]{1,20}$/.test(slot))) return null;
  return { label, kind, idAt, sizeBytes, slot, sum };
}
