import { encodeBase58 } from "./base58.ts";

const placeBits = 15;

/**
 * Base58 texts of addresses that were met lately: accounts of programs, pools and busy wallets return in every block.
 * Each address has one place, which the next address of that place takes; a look costs a fifth of encoding.
 */
export class AddressTexts {
  readonly #bytes = new Uint8Array(32 << placeBits);
  readonly #texts = new Array<string | undefined>(1 << placeBits);

  /** @param key - the 32 bytes of an address */
  of(key: Uint8Array): string {
    const place =
      ((key[0] ?? 0) | ((key[1] ?? 0) << 8) | ((key[30] ?? 0) << 16) | ((key[31] ?? 0) << 24)) & ((1 << placeBits) - 1);
    const start = place * 32;
    const held = this.#bytes;
    const known = this.#texts[place];
    if (known !== undefined) {
      let at = 0;
      while (at < 32 && held[start + at] === key[at]) at++;
      if (at === 32) return known;
    }
    const text = encodeBase58(key);
    held.set(key, start);
    this.#texts[place] = text;
    return text;
  }
}
