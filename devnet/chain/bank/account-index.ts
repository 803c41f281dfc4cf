import type { ChainAccount } from "../model.ts";
import { tokenKeys } from "./token-state.ts";

export interface IndexKey {
  readonly by: "program" | "mint" | "tokenOwner" | "delegate";
  readonly value: string;
}

function keysOf(account: ChainAccount): IndexKey[] {
  const keys: IndexKey[] = [{ by: "program", value: account.owner }];
  const token = tokenKeys(account);
  if (token !== null) {
    keys.push({ by: "mint", value: token.mint }, { by: "tokenOwner", value: token.owner });
    if (token.delegate !== null) keys.push({ by: "delegate", value: token.delegate });
  }
  return keys;
}

/** Addresses by what an account of theirs says in any version that is kept. A reader checks the version it wants. */
export class AccountIndex {
  readonly #sets: Record<IndexKey["by"], Map<string, Set<string>>> = {
    program: new Map(),
    mint: new Map(),
    tokenOwner: new Map(),
    delegate: new Map(),
  };

  static has(account: ChainAccount, key: IndexKey): boolean {
    return keysOf(account).some((other) => other.by === key.by && other.value === key.value);
  }

  add(address: string, account: ChainAccount): void {
    for (const { by, value } of keysOf(account)) {
      const sets = this.#sets[by];
      const set = sets.get(value);
      if (set === undefined) sets.set(value, new Set([address]));
      else set.add(address);
    }
  }

  /** Removes what `account` says, except where `stillHeld` finds the same in a version that is kept. */
  remove(address: string, account: ChainAccount, stillHeld: (key: IndexKey) => boolean): void {
    for (const key of keysOf(account)) {
      if (stillHeld(key)) continue;
      const sets = this.#sets[key.by];
      const set = sets.get(key.value);
      set?.delete(address);
      if (set?.size === 0) sets.delete(key.value);
    }
  }

  find(key: IndexKey): Iterable<string> {
    return this.#sets[key.by].get(key.value) ?? [];
  }
}
