import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { apiKeyHint, formatApiKey, keyEnvironments, parseApiKey } from "./api-key.ts";

/** Deterministic bytes that look random: SHA-256 in counter mode. */
function seededBytes(seed: number): (length: number) => Uint8Array {
  let counter = 0;
  return (length) => {
    const hash = createHash("sha256").update(`${seed}:${counter++}`).digest();
    return new Uint8Array(hash).slice(0, length);
  };
}

describe("API keys", () => {
  test("a new key has the documented form and is read back with its environment", () => {
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(...keyEnvironments), (seed, environment) => {
        const key = formatApiKey(environment, seededBytes(seed));
        expect(key).toMatch(new RegExp(`^sk_${environment}_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$`));
        expect(parseApiKey(key)).toEqual({ environment });
      }),
    );
  });

  test("a key with one character changed is refused", () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(), fc.constantFrom(..."0aZ_b9X"), (seed, place, replacement) => {
        const key = formatApiKey("live", seededBytes(seed));
        const index = place % key.length;
        fc.pre(key[index] !== replacement);
        expect(parseApiKey(key.slice(0, index) + replacement + key.slice(index + 1))).toBeNull();
      }),
    );
  });

  test("arbitrary text is refused and never throws", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => parseApiKey(text) === null));
    for (const text of ["", "sk_", "sk_live_", " sk_live_0000000000000000000000_000000", "SK_LIVE_x"]) {
      expect(parseApiKey(text)).toBeNull();
    }
  });

  test("a key followed by a line break is refused", () => {
    expect(parseApiKey(`${formatApiKey("dev", seededBytes(1))}\n`)).toBeNull();
  });

  test("the checksum is CRC-32 in base62, so that other programs can compute it", () => {
    const key = formatApiKey("dev", seededBytes(7));
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let value = 0;
    for (const character of key.slice(-6)) value = value * 62 + alphabet.indexOf(character);
    expect(value).toBe(Bun.hash.crc32(key.slice(0, -7)));
  });

  test("bytes that would favour some characters are drawn again", () => {
    const draws = [new Uint8Array(32).fill(0xff), new Uint8Array(32).fill(248), new Uint8Array(32).fill(61)];
    let used = 0;
    const key = formatApiKey("dev", () => draws[used++] ?? new Uint8Array(32));
    expect(used).toBe(3);
    expect(key).toStartWith("sk_dev_zzzzzzzzzzzzzzzzzzzzzz_");
  });

  test("every character is equally likely to within 4 standard deviations", () => {
    const counts = new Map<string, number>();
    const keys = 4_000;
    const randomBytes = seededBytes(42);
    for (let index = 0; index < keys; index++) {
      for (const character of formatApiKey("live", randomBytes).slice(8, 30)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (keys * 22) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(4 * Math.sqrt(expected));
  });

  test("a broken source of randomness is an error, not an endless loop", () => {
    expect(() => formatApiKey("live", () => new Uint8Array(32).fill(0xff))).toThrow();
    expect(() => formatApiKey("live", () => new Uint8Array(0))).toThrow();
  });

  test("a hint shows the environment and six characters of the key", () => {
    const key = formatApiKey("live", seededBytes(3));
    expect(apiKeyHint(key)).toBe(`sk_live_${key.slice(8, 11)}…${key.slice(-3)}`);
    expect(apiKeyHint("not a key")).toBe("…");
  });
});
