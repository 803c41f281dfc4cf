import type { LiteSvm } from "litesvm/dist/internal.js";
import { sameKey } from "./native-machine.ts";

/** What tip accounts hold, in lamports; a mask has a bit for each account that counts. */
export class TipAccounts {
  readonly #keys: readonly Uint8Array[];
  /** In the newest state, so that a bundle that runs on it need not ask what they held before. */
  readonly #newest: bigint[];

  constructor(keys: readonly Uint8Array[], native: LiteSvm) {
    this.#keys = keys;
    this.#newest = keys.map((key) => native.getBalance(key) ?? 0n);
  }

  /** Called when an account of the newest state was written, which may be one of these. */
  written(key: Uint8Array, native: LiteSvm): void {
    const index = this.#keys.findIndex((tip) => sameKey(tip, key));
    if (index >= 0) this.#newest[index] = native.getBalance(key) ?? 0n;
  }

  inNewest(mask: number): bigint {
    let lamports = 0n;
    for (let index = 0, rest = mask; rest > 0; index += 1, rest >>= 1) {
      if ((rest & 1) === 1) lamports += this.#newest[index] ?? 0n;
    }
    return lamports;
  }

  now(mask: number, native: LiteSvm): bigint {
    let lamports = 0n;
    for (let index = 0, rest = mask; rest > 0; index += 1, rest >>= 1) {
      const key = this.#keys[index];
      if ((rest & 1) === 1 && key !== undefined) lamports += native.getBalance(key) ?? 0n;
    }
    return lamports;
  }
}
