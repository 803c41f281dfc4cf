import { isVote } from "@sluice/encode";
import type { TransactionView } from "@sluice/parser";
import { decodeAddress } from "@sluice/wire/base58";
import { accountKind, changedOwnerKind, type KindedKeys, ownerKind, programKind } from "../key-kinds.ts";

const keyBytes = 32;

/** What filters ask of a transaction, read once for all matchers. */
export class TransactionFacts {
  readonly signature: string;
  /** Whether nodes count it as a vote. */
  readonly isVote: boolean;
  /** Whether it is known to have failed. */
  readonly failed: boolean;
  /** All its keys, loaded ones included, and which of them are programs that it calls, outer or inner. */
  readonly keys: KindedKeys;
  readonly #view: TransactionView;
  #tokenOwners: KindedKeys | undefined;

  constructor(view: TransactionView) {
    this.signature = view.transaction.signature;
    this.isVote = isVote(view.parsed);
    this.failed = view.failed;
    this.keys = keysOf(view);
    this.#view = view;
  }

  /** Owners of the token accounts that it has balances of. */
  get tokenOwners(): KindedKeys {
    this.#tokenOwners ??= ownersOf(this.#view);
    return this.#tokenOwners;
  }
}

function keysOf(view: TransactionView): KindedKeys {
  const { message, keys, calls } = view;
  const kinds = new Uint8Array(keys.length).fill(accountKind);
  for (let at = 0; at < calls.length; at++) {
    const program = calls[at]?.program ?? -1;
    if (program < kinds.length) kinds[program] = accountKind | programKind;
  }
  const count = message.staticKeyCount;
  const first = message.keyBytes(0);
  // Without loaded keys they lie in the transaction as they are.
  const own = new Uint8Array(first.buffer, first.byteOffset, count * keyBytes);
  if (keys.length === count) return { bytes: own, kinds };
  const bytes = new Uint8Array(keys.length * keyBytes);
  bytes.set(own);
  for (let at = count; at < keys.length; at++) {
    const key = decodeAddress(keys[at] ?? "");
    if (key === null) kinds[at] = 0;
    else bytes.set(key, at * keyBytes);
  }
  return { bytes, kinds };
}

function ownersOf({ meta }: TransactionView): KindedKeys {
  const before = meta?.preTokenBalances ?? [];
  const after = meta?.postTokenBalances ?? [];
  const owners = new Map<string, number>();
  const add = (owner: string | null, kinds: number): void => {
    if (owner !== null) owners.set(owner, (owners.get(owner) ?? 0) | kinds);
  };
  for (const [these, others] of [
    [before, after],
    [after, before],
  ] as const) {
    for (const { accountIndex, amount, owner } of these) {
      const other = others.find((balance) => balance.accountIndex === accountIndex);
      add(owner, other?.amount === amount ? ownerKind : ownerKind | changedOwnerKind);
    }
  }
  const bytes = new Uint8Array(owners.size * keyBytes);
  const kinds = new Uint8Array(owners.size);
  let count = 0;
  for (const [owner, kind] of owners) {
    const key = decodeAddress(owner);
    if (key === null) continue;
    bytes.set(key, count * keyBytes);
    kinds[count++] = kind;
  }
  return { bytes: bytes.subarray(0, count * keyBytes), kinds: kinds.subarray(0, count) };
}
