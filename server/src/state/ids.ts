import type { Clock, Random } from "@sluice/lib";

const crockfordAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const randomBits = 80n;
const randomSpace = 1n << randomBits;

/** Makes ids such as `acct_01j9…`: a prefix, then 26 base-32 digits of 48 bits of time and 80 random ones. */
export type IdFactory = (prefix: string) => string;

/**
 * Ids sort by the time at which they were created, and within one process by their order even inside a millisecond: the
 * random part is then counted up instead of drawn again (the scheme of ULID's monotonic form). A clock that steps back
 * does not make ids step back.
 */
export function createIdFactory(dependencies: { clock: Clock; random: Random }): IdFactory {
  let lastMs = -1;
  let lastRandom = 0n;
  return (prefix) => {
    const nowMs = dependencies.clock.now();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      lastRandom = dependencies.random.bytes(10).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
    } else {
      lastRandom = (lastRandom + 1n) % randomSpace;
      if (lastRandom === 0n) lastMs += 1;
    }
    return `${prefix}_${base32((BigInt(lastMs) << randomBits) | lastRandom)}`;
  };
}

function base32(value: bigint): string {
  let text = "";
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += crockfordAlphabet.charAt(Number((value >> shift) & 31n));
  return text;
}
