import { randomBytes } from "node:crypto";

/** Randomness as a value handed in: the system's for secrets, a seeded one for simulations and jitter in tests. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
}

/** Cryptographically secure; the only source for keys, tokens and identifiers. */
export const systemRandom: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  bytes: (length) => new Uint8Array(randomBytes(length)),
};

/** Reproducible and not secure: a 32-bit mix (splitmix-style) stepped from the seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next32 = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  return {
    next: () => next32() / 2 ** 32,
    bytes: (length) => {
      const bytes = new Uint8Array(length);
      for (let index = 0; index < length; index++) bytes[index] = next32();
      return bytes;
    },
  };
}
