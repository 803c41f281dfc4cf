/** Cost units of one block, and of all that writes one account in it. Source: SIMD-0256; an account has two fifths of a block. */
const BLOCK_UNITS_MAX = 60_000_000;
const ACCOUNT_UNITS_MAX = 24_000_000;

/** What a block still takes. A transaction is counted with what it asks for until it has run, then with what it used. */
export class BlockLimits {
  #units = 0;
  readonly #byAccount = new Map<string, number>();

  /** Counts a transaction in, unless the block or an account that it writes has no room for it. */
  reserve(units: number, writable: readonly string[]): "reserved" | "block full" | "account full" {
    if (this.#units + units > BLOCK_UNITS_MAX) return "block full";
    for (const address of writable) {
      if ((this.#byAccount.get(address) ?? 0) + units > ACCOUNT_UNITS_MAX) return "account full";
    }
    this.add(units, writable);
    return "reserved";
  }

  /** Corrects a count: what was used less what was reserved. */
  add(units: number, writable: readonly string[]): void {
    this.#units += units;
    for (const address of writable) this.#byAccount.set(address, (this.#byAccount.get(address) ?? 0) + units);
  }
}
