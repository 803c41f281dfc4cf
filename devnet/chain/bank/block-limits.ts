/** Cost units of one block, and in it of all that write one account. Source: SIMD-0256; an account has two fifths. */
const BLOCK_UNITS_MAX = 60_000_000;
const ACCOUNT_UNITS_MAX = 24_000_000;

interface Entry {
  readonly units: number;
  readonly writable: readonly string[];
}

/**
 * What a block still takes. A transaction is counted with what it asks for until it has run, then with what it used. No
 * account can be full while the whole block holds no more than one may, so that most blocks never count by account.
 */
export class BlockLimits {
  #units = 0;
  /** Everything that was counted, until accounts are. */
  #entries: Entry[] = [];
  #byAccount: Map<string, number> | null = null;

  /** Counts a transaction in, unless the block or an account that it writes has no room for it. */
  reserve(units: number, writable: readonly string[]): "reserved" | "block full" | "account full" {
    if (this.#units + units > BLOCK_UNITS_MAX) return "block full";
    if (this.#units + units > ACCOUNT_UNITS_MAX) {
      const byAccount = this.#accounts();
      if (writable.some((address) => (byAccount.get(address) ?? 0) + units > ACCOUNT_UNITS_MAX)) return "account full";
    }
    this.add(units, writable);
    return "reserved";
  }

  /** Corrects a count: what was used less what was reserved. */
  add(units: number, writable: readonly string[]): void {
    this.#units += units;
    if (this.#byAccount === null) this.#entries.push({ units, writable });
    else count(this.#byAccount, { units, writable });
  }

  #accounts(): Map<string, number> {
    if (this.#byAccount !== null) return this.#byAccount;
    const byAccount = new Map<string, number>();
    for (const entry of this.#entries) count(byAccount, entry);
    this.#entries = [];
    this.#byAccount = byAccount;
    return byAccount;
  }
}

function count(byAccount: Map<string, number>, { units, writable }: Entry): void {
  for (const address of writable) byAccount.set(address, (byAccount.get(address) ?? 0) + units);
}
