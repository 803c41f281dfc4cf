import { expect, test } from "bun:test";
import { getShortU16Codec } from "@solana/kit";
import { writeShortVec } from "./encode.ts";
import { readShortVecPacked, shortVecNonCanonical, shortVecTruncated } from "./parse.ts";

const kit = getShortU16Codec();

function readShortVec(bytes: Uint8Array, offset: number, end: number = bytes.length) {
  const packed = readShortVecPacked(bytes, offset, end);
  if (packed === shortVecTruncated) return { ok: false, fault: "TRUNCATED" } as const;
  if (packed === shortVecNonCanonical) return { ok: false, fault: "NON_CANONICAL_LENGTH" } as const;
  return { ok: true, value: packed >> 2, next: offset + (packed & 3) } as const;
}

test("every u16 is written as kit writes it and read back", () => {
  const bytes = new Uint8Array(3);
  for (let value = 0; value <= 0xffff; value++) {
    const next = writeShortVec(bytes, 0, value);
    const read = readShortVec(bytes, 0, next);
    if (!read.ok || read.value !== value || read.next !== next) throw new Error(`value of ${value}`);
    if (value % 97 === 0) expect(new Uint8Array(kit.encode(value))).toEqual(bytes.slice(0, next));
  }
});

test("of all texts of three bytes, exactly the canonical ones are read", () => {
  const bytes = new Uint8Array(3);
  const again = new Uint8Array(3);
  // The low six bits of the first two bytes do not matter to the form, so they are sampled.
  for (let text = 0; text < 2 ** 24; text += text % 64 === 0 ? 1 : 63) {
    bytes[0] = text & 0xff;
    bytes[1] = text >> 8;
    bytes[2] = text >> 16;
    const read = readShortVec(bytes, 0);
    if (!read.ok) continue;
    const next = writeShortVec(again, 0, read.value);
    if (next !== read.next || again[0] !== bytes[0]) throw new Error(`${text.toString(16)} has two forms`);
    if (next > 1 && again[1] !== bytes[1]) throw new Error(`${text.toString(16)} has two forms`);
  }
});

test("padded and too large lengths are non-canonical, short ones truncated", () => {
  const fault = (...bytes: number[]): string => {
    const read = readShortVec(Uint8Array.from(bytes), 0);
    return read.ok ? String(read.value) : read.fault;
  };
  expect(fault(0x80, 0x00)).toBe("NON_CANONICAL_LENGTH");
  expect(fault(0x80, 0x80, 0x00)).toBe("NON_CANONICAL_LENGTH");
  expect(fault(0xff, 0xff, 0x04)).toBe("NON_CANONICAL_LENGTH");
  expect(fault(0x80, 0x80, 0x80, 0x01)).toBe("NON_CANONICAL_LENGTH");
  expect(fault(0xff, 0xff, 0x03)).toBe("65535");
  expect(fault()).toBe("TRUNCATED");
  expect(fault(0x80)).toBe("TRUNCATED");
  expect(fault(0x80, 0x80)).toBe("TRUNCATED");
  expect(() => writeShortVec(new Uint8Array(3), 0, 65536)).toThrow(RangeError);
  expect(() => writeShortVec(new Uint8Array(3), 0, -1)).toThrow(RangeError);
});
