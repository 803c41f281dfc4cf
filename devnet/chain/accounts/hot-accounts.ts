import type { ChainAccount } from "../model/index.ts";

/** Accounts of one generation; two are kept. */
const GENERATION_MAX = 8_192;

/** The newest version of an account, with the row that holds it. */
export interface HotAccount {
  readonly row: number;
  readonly ordinal: number;
  readonly account: ChainAccount | null;
}

/**
 * Accounts that were read or written lately, as objects: transactions touch the same few again and again, and reading a
 * row costs more than a look-up by text. Two generations; when the young one is full it becomes the old one.
 */
export class HotAccounts {
  #young = new Map<string, HotAccount>();
  #old = new Map<string, HotAccount>();

  get(address: string): HotAccount | undefined {
    const young = this.#young.get(address);
    if (young !== undefined) return young;
    const old = this.#old.get(address);
    if (old !== undefined) this.set(address, old);
    return old;
  }

  set(address: string, hot: HotAccount): void {
    if (this.#young.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(address, hot);
  }

  delete(address: string): void {
    this.#young.delete(address);
    this.#old.delete(address);
  }
}
