import type { ChainAccount } from "../model.ts";
import type { AccountWrite } from "../svm/svm.ts";
import { AccountIndex } from "./account-index.ts";

interface Version {
  readonly slot: bigint;
  readonly account: ChainAccount | null;
}

/**
 * Accounts as they were at every slot that is not yet rooted, and at the root. Each account keeps its versions newest
 * first; `root` drops those that no commitment can ask for any more, so memory is one version per account plus one for
 * each write of the unrooted slots. An index finds accounts by program, and token accounts by mint, owner and delegate.
 */
export class AccountStore {
  readonly #versions = new Map<string, Version[]>();
  readonly #written = new Map<bigint, Set<string>>();
  readonly #index = new AccountIndex();
  #lamports = 0n;

  /** Records an account as of `slot`, which must not be below the newest slot written. */
  write(slot: bigint, address: string, account: ChainAccount | null): void {
    const versions = this.#versions.get(address);
    const version = { slot, account };
    this.#lamports += (account?.lamports ?? 0n) - (versions?.[0]?.account?.lamports ?? 0n);
    if (versions === undefined) this.#versions.set(address, [version]);
    else if (versions[0]?.slot === slot) versions[0] = version;
    else versions.unshift(version);
    if (account !== null) this.#index.add(address, account);
    let written = this.#written.get(slot);
    if (written === undefined) {
      written = new Set();
      this.#written.set(slot, written);
    }
    written.add(address);
  }

  /** The account as of `slot`, or null. Slots below the root answer as the root does. */
  get(address: string, slot: bigint): ChainAccount | null {
    const versions = this.#versions.get(address);
    if (versions === undefined) return null;
    for (const version of versions) {
      if (version.slot <= slot) return version.account;
    }
    return null;
  }

  /** The account as it is now, in the open slot. */
  newest(address: string): ChainAccount | null {
    return this.#versions.get(address)?.[0]?.account ?? null;
  }

  /** Whether the account was written after `slot`. */
  changedAfter(address: string, slot: bigint): boolean {
    return (this.#versions.get(address)?.[0]?.slot ?? slot) > slot;
  }

  /** The addresses written in a slot that is not yet rooted. */
  written(slot: bigint): ReadonlySet<string> {
    return this.#written.get(slot) ?? new Set();
  }

  /** Forgets versions that lie below the newest one of `slot` or before, for accounts written up to `slot`. */
  root(slot: bigint): void {
    for (const [writtenSlot, addresses] of this.#written) {
      if (writtenSlot > slot) break;
      for (const address of addresses) this.#prune(address, slot);
      this.#written.delete(writtenSlot);
    }
  }

  #prune(address: string, root: bigint): void {
    const versions = this.#versions.get(address);
    if (versions === undefined) return;
    const newestRooted = versions.findIndex((version) => version.slot <= root);
    if (newestRooted < 0) return;
    const dropped = versions.splice(newestRooted + 1);
    if (versions.length === 1 && versions[0]?.account === null) {
      dropped.push(...versions.splice(0));
      this.#versions.delete(address);
    }
    this.#unindex(address, dropped, versions);
  }

  /**
   * Forgets everything that was written after `slot`, which must not lie below the root, and gives those accounts as
   * they were then.
   */
  rollback(slot: bigint): AccountWrite[] {
    const restored = new Map<string, ChainAccount | null>();
    for (const [writtenSlot, addresses] of [...this.#written]) {
      if (writtenSlot <= slot) continue;
      for (const address of addresses) {
        if (!restored.has(address)) restored.set(address, this.#restore(address, slot));
      }
      this.#written.delete(writtenSlot);
    }
    return [...restored].map(([address, account]) => ({ address, account }));
  }

  #restore(address: string, slot: bigint): ChainAccount | null {
    const versions = this.#versions.get(address) ?? [];
    const kept = versions.findIndex((version) => version.slot <= slot);
    const dropped = versions.splice(0, kept < 0 ? versions.length : kept);
    const account = versions[0]?.account ?? null;
    this.#lamports += (account?.lamports ?? 0n) - (dropped[0]?.account?.lamports ?? 0n);
    if (versions.length === 0) this.#versions.delete(address);
    this.#unindex(address, dropped, versions);
    return account;
  }

  #unindex(address: string, dropped: readonly Version[], versions: readonly Version[]): void {
    for (const { account } of dropped) {
      if (account === null) continue;
      this.#index.remove(address, account, (key) =>
        versions.some((kept) => kept.account !== null && AccountIndex.has(kept.account, key)),
      );
    }
  }

  /** Accounts of a program as of `slot`, in no order. */
  *ofProgram(program: string, slot: bigint): Generator<[string, ChainAccount]> {
    for (const address of this.#index.find({ by: "program", value: program })) {
      const account = this.get(address, slot);
      if (account !== null && account.owner === program) yield [address, account];
    }
  }

  /** Token accounts as of `slot` that may match; the caller checks, since the index also knows newer and older versions. */
  *tokenAccounts(
    by: "mint" | "tokenOwner" | "delegate",
    value: string,
    slot: bigint,
  ): Generator<[string, ChainAccount]> {
    for (const address of this.#index.find({ by, value })) {
      const account = this.get(address, slot);
      if (account !== null) yield [address, account];
    }
  }

  /** Every account as of `slot`. Linear: for supply and largest accounts. */
  *all(slot: bigint): Generator<[string, ChainAccount]> {
    for (const address of this.#versions.keys()) {
      const account = this.get(address, slot);
      if (account !== null) yield [address, account];
    }
  }

  /** Lamports in all accounts as they are now: the chain's capitalization. */
  get lamports(): bigint {
    return this.#lamports;
  }

  get size(): number {
    return this.#versions.size;
  }
}
