import type { AccountWrite } from "@sluice/svm/bank";
import type { ChainAccount } from "../model/index.ts";

/** Accounts as several steps of the chain's own leave them, one after another, before any of it is written. */
export class AccountOverlay {
  readonly #below: (address: string) => ChainAccount | null;
  readonly #written = new Map<string, ChainAccount | null>();

  constructor(below: (address: string) => ChainAccount | null) {
    this.#below = below;
  }

  read(address: string): ChainAccount | null {
    const account = this.#written.get(address);
    return account === undefined ? this.#below(address) : account;
  }

  write(address: string, account: ChainAccount | null): void {
    this.#written.set(address, account);
  }

  /** Adds lamports to an account, which may be missing, or takes them; what is left of nothing is gone. */
  add(address: string, lamports: bigint, missing: ChainAccount): ChainAccount {
    const account = this.read(address) ?? { ...missing, lamports: 0n };
    const after = { ...account, lamports: account.lamports + lamports };
    if (after.lamports < 0n) throw new RangeError(`${address} holds ${account.lamports}, not ${-lamports}`);
    this.write(address, after.lamports === 0n ? null : after);
    return after;
  }

  /** The accounts that were written, each once, as they are now. */
  get writes(): AccountWrite[] {
    return [...this.#written].map(([address, account]) => ({ address, account }));
  }
}
