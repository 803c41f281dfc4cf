import { decodeAddress } from "@sluice/wire/base58";
import { type AccountFilter, passesFilters } from "../../devnet/chain/accounts/account-store.ts";
import type { AddressEntry, AddressRange } from "../../devnet/chain/history/history.ts";
import type { ChainAccount } from "../../devnet/chain/model/records.ts";
import { isTokenAccount, tokenAmount } from "../../devnet/chain/model/token-state.ts";
import type { ChainView } from "../../devnet/chain/rpc/method.ts";
import { accounts, blocks } from "./world.ts";

type Listed = [string, ChainAccount];

const bytesOf = (address: string): Uint8Array => decodeAddress(address) ?? new Uint8Array(32);

function byAddress([left]: Listed, [right]: Listed): number {
  return Buffer.compare(bytesOf(left), bytesOf(right));
}

function largest(found: Iterable<Listed>, count: number, amount: (account: ChainAccount) => bigint): Listed[] {
  const kept: { listed: Listed; held: bigint }[] = [];
  for (const listed of found) {
    const held = amount(listed[1]);
    const last = kept[count - 1];
    if (last !== undefined && (last.held > held || (last.held === held && byAddress(last.listed, listed) > 0)))
      continue;
    kept.push({ listed, held });
    kept.sort(
      (left, right) =>
        Number(right.held > left.held) - Number(right.held < left.held) || byAddress(right.listed, left.listed),
    );
    kept.length = Math.min(kept.length, count);
  }
  return kept.map(({ listed }) => listed);
}

/**
 * Accounts as objects in one map, and every question answered by reading all of them: what a look-up costs without an
 * index.
 */
export class LinearAccounts {
  readonly #accounts = new Map<string, ChainAccount>();

  constructor() {
    for (const { address, account } of accounts()) this.#accounts.set(address, account);
  }

  get(address: string): ChainAccount | null {
    return this.#accounts.get(address) ?? null;
  }

  find(program: string, filters: readonly AccountFilter[], _slot: bigint, sorted = true): Iterable<Listed> {
    const found: Listed[] = [];
    for (const [address, account] of this.#accounts) {
      if (account.owner === program && passesFilters(filters, account.data)) found.push([address, account]);
    }
    return sorted ? found.sort(byAddress) : found;
  }

  *ofProgram(program: string, slot: bigint): Generator<Listed> {
    yield* this.find(program, [], slot, false);
  }

  largestHolders(program: string, mint: string, count: number): Listed[] {
    const bytes = bytesOf(mint);
    const ofMint = this.find(program, [{ kind: "memcmp", offset: 0n, bytes }], 0n, false);
    const holding = Iterator.from(ofMint).filter(([, account]) => isTokenAccount(account) && tokenAmount(account) > 0n);
    return largest(holding, count, tokenAmount);
  }

  richest(count: number): Listed[] {
    return largest(this.#accounts, count, ({ lamports }) => lamports);
  }

  written(): ReadonlySet<string> {
    return new Set();
  }
}

interface Entry extends AddressEntry {
  readonly keys: readonly string[];
}

/** Transactions as objects in one list, read from the newest on. */
export class LinearHistory {
  readonly #entries: Entry[] = [];
  readonly #places = new Map<string, number>();

  constructor() {
    for (const { block, recorded } of blocks()) {
      for (const { executed, keys } of recorded) {
        const { signature, slot, index, error } = executed;
        this.#places.set(signature, this.#entries.length);
        this.#entries.push({ signature, slot, index, error, blockTime: block.blockTime, hasMemo: false, keys });
      }
    }
  }

  *ofAddress(address: string, { newest, before, until }: AddressRange): Generator<AddressEntry> {
    const end = before === null ? null : this.#places.get(before);
    const start = until === null ? null : this.#places.get(until);
    for (let place = this.#entries.length - 1; place >= 0; place--) {
      const entry = this.#entries[place];
      if (entry === undefined || place === start) return;
      if (entry.slot <= newest && (end === null || end === undefined || place < end) && entry.keys.includes(address))
        yield entry;
    }
  }
}

/** The view of a chain with accounts and addresses looked through from end to end. */
export function linearView(view: ChainView, linear: { accounts: LinearAccounts; history: LinearHistory }): ChainView {
  const { history } = view;
  return {
    ...view,
    accounts: linear.accounts,
    history: {
      firstSlot: history.firstSlot,
      block: (slot) => history.block(slot),
      slots: (...range) => history.slots(...range),
      transaction: (signature) => history.transaction(signature),
      lowestUnitPrice: (...asked) => history.lowestUnitPrice(...asked),
      ofAddress: (...asked) => linear.history.ofAddress(...asked),
    },
  };
}
