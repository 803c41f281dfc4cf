import type { Address } from "@sluice/wire/identifiers";
import type { BundleLocks } from "./interfaces.ts";

export interface AccountIdsOptions {
  /** Accounts known at a time; further bundles are refused until others are released. */
  readonly accountsMax: number;
}

/**
 * Small numbers for the accounts that live bundles lock, so that a tick compares no addresses: 2,000 bundles of 10
 * locks would cost it a millisecond. A number is in use while a bundle that has it is held, and then goes to another
 * account, so that numbers stay dense.
 */
export class AccountIds {
  readonly #accountsMax: number;
  readonly #ids = new Map<Address, number>();
  readonly #addresses: (Address | undefined)[] = [];
  readonly #holders: number[] = [];
  readonly #free: number[] = [];

  constructor({ accountsMax }: AccountIdsOptions) {
    this.#accountsMax = accountsMax;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** The locks of a bundle, held until released, or null when there is no room for its accounts. */
  hold(writes: Iterable<Address>, reads: Iterable<Address>): BundleLocks | null {
    const written = new Set(writes);
    const read = new Set(reads).difference(written);
    let unknown = 0;
    for (const address of written) if (!this.#ids.has(address)) unknown++;
    for (const address of read) if (!this.#ids.has(address)) unknown++;
    if (this.#ids.size + unknown > this.#accountsMax) return null;
    return {
      writes: Array.from(written, (each) => this.#hold(each)),
      reads: Array.from(read, (each) => this.#hold(each)),
    };
  }

  /** Once for each `hold`. */
  release({ writes, reads }: BundleLocks): void {
    for (const id of writes) this.#release(id);
    for (const id of reads) this.#release(id);
  }

  /** Undefined for an account that nothing holds. */
  idOf(address: Address): number | undefined {
    return this.#ids.get(address);
  }

  addressOf(id: number): Address | undefined {
    return this.#addresses[id];
  }

  #hold(address: Address): number {
    const known = this.#ids.get(address);
    if (known !== undefined) {
      this.#holders[known] = (this.#holders[known] ?? 0) + 1;
      return known;
    }
    const id = this.#free.pop() ?? this.#addresses.length;
    this.#ids.set(address, id);
    this.#addresses[id] = address;
    this.#holders[id] = 1;
    return id;
  }

  #release(id: number): void {
    const address = this.#addresses[id];
    const holders = this.#holders[id] ?? 0;
    if (address === undefined || holders === 0) throw new RangeError(`account ${id} is not held`);
    this.#holders[id] = holders - 1;
    if (holders > 1) return;
    this.#ids.delete(address);
    this.#addresses[id] = undefined;
    this.#free.push(id);
  }
}
