import { readU32, readU64 } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { Call, TransactionView } from "../transaction-view.ts";

/** What a transaction tells of an account beside its balances; null is what it does not tell. */
export interface AccountState {
  /** The program that owns it after the transaction; of an account that was closed, before. */
  readonly owner: string | null;
  /** Bytes of its data, where it was created or allocated. */
  readonly space: bigint | null;
}

interface Stated {
  readonly account: number;
  readonly owner: string | null;
  readonly space: bigint | null;
}

const untold: AccountState = { owner: null, space: null };

/** What the calls and token balances of a transaction tell of its accounts, by the index of the key. */
export class AccountStates {
  readonly #states = new Map<number, AccountState>();

  constructor(view: TransactionView) {
    // Who pays the fee is an account of the system program when the transaction begins.
    this.#states.set(0, { owner: programs.system, space: null });
    for (const { accountIndex, programId } of view.meta?.preTokenBalances ?? []) this.#own(accountIndex, programId);
    // The calls of a transaction that failed changed nothing.
    if (view.succeeded) for (const call of view.calls) this.#take(call);
    for (const { accountIndex, programId } of view.meta?.postTokenBalances ?? []) this.#own(accountIndex, programId);
  }

  /** @param key - an index into the keys of the transaction */
  of(key: number): AccountState {
    return this.#states.get(key) ?? untold;
  }

  #own(account: number, owner: string | null): void {
    if (owner !== null) this.#states.set(account, { owner, space: this.of(account).space });
  }

  #take(call: Call): void {
    const { programId } = call;
    if (programId === programs.system) {
      const stated = systemStates(call);
      if (stated === null || stated.account < 0) return;
      const { owner, space } = this.of(stated.account);
      this.#states.set(stated.account, { owner: stated.owner ?? owner, space: stated.space ?? space });
    } else if (programId === programs.vote || programId === programs.stake) {
      // The first account of their calls is one of their own.
      const account = call.accounts[0];
      if (account !== undefined && this.of(account).owner === null) this.#own(account, programId);
    }
  }
}

/** The 32 bytes of a key at an offset; null where the data end before. */
const keyAt = ({ data }: Call, offset: number): string | null =>
  data.length >= offset + 32 ? addressOfBytes(data.subarray(offset, offset + 32)) : null;
const amountAt = ({ data }: Call, offset: number): bigint | null =>
  data.length >= offset + 8 ? readU64(data, offset) : null;
const accountAt = ({ accounts }: Call, position: number): number => accounts[position] ?? -1;

/** Where the fields after a base key and a seed begin. */
function afterSeed(call: Call): number {
  const length = amountAt(call, 36);
  return length === null || length > 64n ? call.data.length : 44 + Number(length);
}

/** Source: the instruction layouts of the system program. It debits accounts of its own alone. */
function systemStates(call: Call): Stated | null {
  const tag = call.data.length >= 4 ? readU32(call.data, 0) : -1;
  switch (tag) {
    case 0:
      return { account: accountAt(call, 1), owner: keyAt(call, 20), space: amountAt(call, 12) };
    case 1:
      return { account: accountAt(call, 0), owner: keyAt(call, 4), space: null };
    case 2:
    case 11:
      return { account: accountAt(call, 0), owner: programs.system, space: null };
    case 3: {
      const at = afterSeed(call) + 8;
      return { account: accountAt(call, 1), owner: keyAt(call, at + 8), space: amountAt(call, at) };
    }
    case 8:
      return { account: accountAt(call, 0), owner: null, space: amountAt(call, 4) };
    case 9: {
      const at = afterSeed(call);
      return { account: accountAt(call, 0), owner: keyAt(call, at + 8), space: amountAt(call, at) };
    }
    case 10:
      return { account: accountAt(call, 0), owner: keyAt(call, afterSeed(call)), space: null };
    case 13:
      return { account: accountAt(call, 0), owner: keyAt(call, 20), space: amountAt(call, 12) };
    default:
      return null;
  }
}
