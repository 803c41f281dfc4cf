import { createHash } from "node:crypto";

/** A 32-bit seed that follows from a text. */
export function seedOf(text: string): number {
  return createHash("sha256").update(`sluice devnet market/${text}`).digest().readUInt32LE(0);
}

/** 32 bits that look random and follow from a seed and two whole numbers; the finaliser is MurmurHash3's. */
export function mix(seed: number, a: number, b: number): number {
  let h = seed ^ Math.imul(a | 0, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  h ^= Math.imul(b | 0, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}

/** From 0, inclusive, to 1, exclusive. */
export const fraction = (hash: number): number => hash / 0x1_0000_0000;

/**
 * A draw with mean 0 and deviation 1 whose shape is nearly the normal one: the sum of four bytes. It never exceeds
 * 3.46, and takes no logarithm, so that it is the same on every machine.
 */
export function normal(hash: number): number {
  const sum = (hash & 0xff) + ((hash >>> 8) & 0xff) + ((hash >>> 16) & 0xff) + (hash >>> 24);
  return (sum - 510) / 147.801;
}

/** e^x by nothing but additions and multiplications, which IEEE 754 fixes to the last bit; for |x| below 40. */
export function exponential(x: number): number {
  const power = Math.round(x / Math.LN2);
  const rest = x - power * Math.LN2;
  let sum = 1;
  for (let term = 14; term >= 1; term -= 1) sum = 1 + (sum * rest) / term;
  let scale = 1;
  for (let count = Math.abs(power); count > 0; count -= 1) scale *= 2;
  return power < 0 ? sum / scale : sum * scale;
}
