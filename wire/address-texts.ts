import { encodeBase58 } from "./base58.ts";

const placeBits = 15;

/**
 * Base58 texts of addresses that were met lately: accounts of programs, pools and busy wallets return in every block.
 * Each address has one place, which the next address of that place takes; a look costs a fifth of encoding.
 */
export class AddressTexts {
  readonly #bytes = new Uint8Array(32 << placeBits);
  readonly #texts = new Array<string | undefined>(1 << placeBits);

  /**
   * The text of the 32 bytes from `from` on. Whoever has many keys in one array gives the offsets: to make a view of
   * each costs as much as the look itself.
   */
  of(bytes: Uint8Array, from = 0): string {
    const low = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8);
    const high = ((bytes[from + 30] ?? 0) << 16) | ((bytes[from + 31] ?? 0) << 24);
    const place = (low | high) & ((1 << placeBits) - 1);
    const start = place * 32;
    const held = this.#bytes;
    const known = this.#texts[place];
    if (known !== undefined) {
      let at = 0;
      while (at < 32 && held[start + at] === bytes[from + at]) at++;
      if (at === 32) return known;
    }
    const key = bytes.subarray(from, from + 32);
    const text = encodeBase58(key);
    held.set(key, start);
    this.#texts[place] = text;
    return text;
  }
}
