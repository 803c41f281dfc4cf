import { readU32, readU64 } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import type { Call, TransactionView } from "../transaction-view.ts";

/** How lamports left an account. `program`: a program changed the balances of its own accounts, without a call. */
export type NativeKind = "transfer" | "create" | "withdraw" | "split" | "close" | "program";

/** Lamports that a call moves from one key to another. */
export interface LamportMove {
  readonly kind: NativeKind;
  /** Indexes into the keys of the transaction. */
  readonly from: number;
  readonly to: number;
  /** Null: all that the account holds at that time. */
  readonly lamports: bigint | null;
}

type Read = (call: Call) => LamportMove | null;

const at = (call: Call, position: number): number => call.accounts[position] ?? -1;

/** The amount at an offset of the data; null where the data end before. */
function amountAt(data: Uint8Array, offset: number): bigint | null {
  return data.length >= offset + 8 ? readU64(data, offset) : null;
}

/** A move of a stated amount; null where the amount or an account is missing. */
function moved(
  kind: NativeKind,
  ends: readonly [from: number, to: number],
  lamports: bigint | null,
): LamportMove | null {
  const [from, to] = ends;
  return lamports === null || from < 0 || to < 0 ? null : { kind, from, to, lamports };
}

/** A move of all that an account holds. */
function closed(from: number, to: number): LamportMove | null {
  return from < 0 || to < 0 ? null : { kind: "close", from, to, lamports: null };
}

function tagOf(data: Uint8Array): number {
  return data.length >= 4 ? readU32(data, 0) : -1;
}

/** After a base key, a seed with its length in eight bytes. */
function afterSeed(data: Uint8Array, lengthAt: number): number {
  const length = amountAt(data, lengthAt);
  return length === null || length > 64n ? data.length : lengthAt + 8 + Number(length);
}

/** Source: the instruction layouts of the system program. */
function systemMove(call: Call): LamportMove | null {
  const { data } = call;
  switch (tagOf(data)) {
    case 0:
      return moved("create", [at(call, 0), at(call, 1)], amountAt(data, 4));
    case 2:
      return moved("transfer", [at(call, 0), at(call, 1)], amountAt(data, 4));
    case 3:
      return moved("create", [at(call, 0), at(call, 1)], amountAt(data, afterSeed(data, 36)));
    case 5:
      return moved("withdraw", [at(call, 0), at(call, 1)], amountAt(data, 4));
    case 11:
      return moved("transfer", [at(call, 0), at(call, 2)], amountAt(data, 4));
    case 13:
      // The funder is there only when lamports are moved.
      return moved("create", [at(call, 1), at(call, 0)], call.accounts.length > 1 ? amountAt(data, 4) : null);
    default:
      return null;
  }
}

/** Source: the instruction layouts of the stake program. */
function stakeMove(call: Call): LamportMove | null {
  const { data } = call;
  switch (tagOf(data)) {
    case 3:
      return moved("split", [at(call, 0), at(call, 1)], amountAt(data, 4));
    case 4:
      return moved("withdraw", [at(call, 0), at(call, 1)], amountAt(data, 4));
    case 7:
      return closed(at(call, 1), at(call, 0));
    case 16:
    case 17:
      return moved("transfer", [at(call, 0), at(call, 1)], amountAt(data, 4));
    default:
      return null;
  }
}

function voteMove(call: Call): LamportMove | null {
  return tagOf(call.data) === 3 ? moved("withdraw", [at(call, 0), at(call, 1)], amountAt(call.data, 4)) : null;
}

function lookupTableMove(call: Call): LamportMove | null {
  return tagOf(call.data) === 4 ? closed(at(call, 0), at(call, 2)) : null;
}

function loaderMove(call: Call): LamportMove | null {
  return tagOf(call.data) === 5 ? closed(at(call, 0), at(call, 1)) : null;
}

const readers: ReadonlyMap<string, Read> = new Map<string, Read>([
  [programs.system, systemMove],
  [programs.stake, stakeMove],
  [programs.vote, voteMove],
  [programs.addressLookupTable, lookupTableMove],
  [programs.bpfLoaderUpgradeable, loaderMove],
]);

/** The lamports that a call of a program of the chain itself moves; null for any other. Token programs: `tokens.ts`. */
export function lamportMove(call: Call): LamportMove | null {
  return readers.get(call.programId)?.(call) ?? null;
}

/** What every key holds while the calls are gone through, so that "all it holds" has an amount. */
export class LamportBalances {
  readonly #held: bigint[];

  constructor(view: TransactionView) {
    this.#held = view.meta?.preBalances.slice() ?? [];
    this.#held[0] = (this.#held[0] ?? 0n) - (view.meta?.fee ?? 0n);
  }

  of(key: number): bigint {
    return this.#held[key] ?? 0n;
  }

  move(from: number, to: number, lamports: bigint): void {
    this.#held[from] = this.of(from) - lamports;
    this.#held[to] = this.of(to) + lamports;
  }
}
