/**
 * SipHash-2-4 of short inputs, with the 64-bit words as pairs of 32-bit ones: as bigints it takes forty times as long.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF".
 */
export class SipHash {
  /** The upper and the lower half of what `hash` gave last. */
  high = 0;
  low = 0;
  readonly #key: readonly [k0Low: number, k0High: number, k1Low: number, k1High: number];
  /** v0 to v3, the lower half of each before its upper one. */
  readonly #v = new Int32Array(8);

  /** @param k0, k1 - unsigned 64-bit numbers */
  constructor(k0: bigint, k1: bigint) {
    const low = (value: bigint) => Number(BigInt.asIntN(32, value));
    this.#key = [low(k0), low(k0 >> 32n), low(k1), low(k1 >> 32n)];
  }

  hash(bytes: Uint8Array): void {
    const v = this.#v;
    const [k0Low, k0High, k1Low, k1High] = this.#key;
    v[0] = k0Low ^ 0x70736575;
    v[1] = k0High ^ 0x736f6d65;
    v[2] = k1Low ^ 0x6e646f6d;
    v[3] = k1High ^ 0x646f7261;
    v[4] = k0Low ^ 0x6e657261;
    v[5] = k0High ^ 0x6c796765;
    v[6] = k1Low ^ 0x79746573;
    v[7] = k1High ^ 0x74656462;
    const whole = bytes.length - (bytes.length % 8);
    for (let at = 0; at < whole; at += 8) this.#absorb(wordAt(bytes, at), wordAt(bytes, at + 4));
    this.#absorb(wordAt(bytes, whole), wordAt(bytes, whole + 4) | (bytes.length << 24));
    v[4] = at(v, 4) ^ 0xff;
    for (let round = 0; round < 4; round += 1) this.#round();
    this.low = (at(v, 0) ^ at(v, 2) ^ at(v, 4) ^ at(v, 6)) >>> 0;
    this.high = (at(v, 1) ^ at(v, 3) ^ at(v, 5) ^ at(v, 7)) >>> 0;
  }

  #absorb(low: number, high: number): void {
    const v = this.#v;
    v[6] = at(v, 6) ^ low;
    v[7] = at(v, 7) ^ high;
    this.#round();
    this.#round();
    v[0] = at(v, 0) ^ low;
    v[1] = at(v, 1) ^ high;
  }

  #round(): void {
    const v = this.#v;
    mix(v, [0, 2, 13]);
    turnByHalf(v, 0);
    mix(v, [4, 6, 16]);
    mix(v, [0, 6, 21]);
    mix(v, [4, 2, 17]);
    turnByHalf(v, 4);
  }
}

const at = (v: Int32Array, index: number): number => v[index] ?? 0;

/** Four bytes, the least significant first; those beyond the end are 0. */
function wordAt(bytes: Uint8Array, index: number): number {
  const byte = (offset: number): number => bytes[index + offset] ?? 0;
  return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
}

/** a += b; b is turned left by less than 32 bits, and XORed with a. */
function mix(v: Int32Array, [a, b, bits]: readonly [a: number, b: number, bits: number]): void {
  const [low, high] = [at(v, b), at(v, b + 1)];
  const sum = (at(v, a) >>> 0) + (low >>> 0);
  v[a] = sum;
  v[a + 1] = at(v, a + 1) + high + (sum > 0xffff_ffff ? 1 : 0);
  v[b] = ((low << bits) | (high >>> (32 - bits))) ^ at(v, a);
  v[b + 1] = ((high << bits) | (low >>> (32 - bits))) ^ at(v, a + 1);
}

function turnByHalf(v: Int32Array, a: number): void {
  const low = at(v, a);
  v[a] = at(v, a + 1);
  v[a + 1] = low;
}
