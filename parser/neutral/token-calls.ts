import { readU64 } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { Call } from "../transaction-view.ts";

/**
 * What a call of a token program does to accounts, which are indexes into the keys of the transaction; -1 is an account
 * that the call lacks, as a mint or an owner may be. Amounts are in the mint's smallest unit.
 */
export type TokenCall =
  | { readonly type: "open"; readonly account: number; readonly mint: number; readonly owner: number | string }
  | {
      readonly type: "transfer";
      readonly from: number;
      readonly to: number;
      /** Null where the call does not name it. */
      readonly mint: number | null;
      /** What leaves the source. */
      readonly amount: bigint;
      /** What is withheld of it; null where the call does not say. */
      readonly fee: bigint | null;
    }
  | { readonly type: "mint"; readonly to: number; readonly mint: number; readonly amount: bigint }
  | { readonly type: "burn"; readonly from: number; readonly mint: number; readonly amount: bigint }
  | { readonly type: "close"; readonly account: number; readonly to: number; readonly by: number }
  | { readonly type: "owner"; readonly account: number; readonly owner: string | null }
  | { readonly type: "sync"; readonly account: number }
  /** Wrapped native tokens become lamports of another account; null is all of them. */
  | { readonly type: "unwrap"; readonly account: number; readonly to: number; readonly amount: bigint | null };

/** An instruction of a token program: a call of its own, or one that a batch packs. */
export interface TokenInstruction {
  readonly data: Uint8Array;
  /** Indexes into the keys of the transaction. */
  readonly accounts: ArrayLike<number>;
}

const batchTag = 255;
const transferFeeTag = 26;
const unwrapTag = 45;
const ownerAuthority = 2;

function isTokenProgram(programId: string): boolean {
  return programId === programs.token || programId === programs.token2022;
}

const none: readonly TokenCall[] = [];

/**
 * What a call of a token program does: several things in a batch alone, nothing for calls that move nothing. All calls
 * of a transaction are asked several times, and nearly none is a batch, so that the others make no list for nothing.
 */
export function tokenCalls(call: Call): readonly TokenCall[] {
  if (!isTokenProgram(call.programId)) return none;
  if (call.data[0] === batchTag) return packedInstructions(call).flatMap(told);
  return told(call);
}

function told(instruction: TokenInstruction): readonly TokenCall[] {
  const one = tokenCall(instruction);
  return one === null || lacksAccount(one) ? none : [one];
}

/** The instructions of a call of a token program: those that a batch packs, else the call itself; none of others. */
export function tokenInstructions(call: Call): readonly TokenInstruction[] {
  if (!isTokenProgram(call.programId)) return [];
  return call.data[0] === batchTag ? packedInstructions(call) : [call];
}

/** Whether something holds of all accounts that a call must name. */
function holdsOfAll(call: TokenCall, holds: (account: number) => boolean): boolean {
  switch (call.type) {
    case "transfer":
      return holds(call.from) && holds(call.to);
    case "mint":
      return holds(call.to);
    case "burn":
      return holds(call.from);
    case "close":
    case "unwrap":
      return holds(call.account) && holds(call.to);
    default:
      return holds(call.account);
  }
}

const isThere = (account: number): boolean => account >= 0;

/** The chain executes no such call. */
const lacksAccount = (call: TokenCall): boolean => !holdsOfAll(call, isThere);

/** Whether a call names an account that the transaction does not have: a node that says so tells nothing. */
export function namesNothing(call: TokenCall, keyCount: number): boolean {
  return !holdsOfAll(call, (account) => account < keyCount);
}

/** A batch packs instructions one after another: the number of accounts, the length of the data, the data. */
function packedInstructions({ data, accounts }: TokenInstruction): TokenInstruction[] {
  const packed: TokenInstruction[] = [];
  let account = 0;
  for (let at = 1; at + 2 <= data.length; ) {
    const count = data[at] ?? 0;
    const length = data[at + 1] ?? 0;
    const held = data.subarray(at + 2, at + 2 + length);
    if (held.length < length || account + count > accounts.length) return packed;
    packed.push({ data: held, accounts: Array.from(accounts).slice(account, account + count) });
    account += count;
    at += 2 + length;
  }
  return packed;
}

/** Source: the instruction layouts of the token programs. */
function tokenCall(instruction: TokenInstruction): TokenCall | null {
  const { data, accounts } = instruction;
  const at = (position: number): number => accounts[position] ?? -1;
  switch (data[0]) {
    case 1:
      return { type: "open", account: at(0), mint: at(1), owner: at(2) };
    case 16:
    case 18:
      return data.length < 33 ? null : { type: "open", account: at(0), mint: at(1), owner: keyAt(data, 1) };
    case 6:
      return data[1] === ownerAuthority ? { type: "owner", account: at(0), owner: newAuthority(data) } : null;
    case 9:
      return { type: "close", account: at(0), to: at(1), by: at(2) };
    case 17:
      return { type: "sync", account: at(0) };
    case unwrapTag:
      return { type: "unwrap", account: at(0), to: at(1), amount: data[1] === 1 ? amountAt(data, 2) : null };
    default:
      return amountCall(instruction);
  }
}

/** The calls that state an amount. */
function amountCall({ data, accounts }: TokenInstruction): TokenCall | null {
  const at = (position: number): number => accounts[position] ?? -1;
  const withFee = data[0] === transferFeeTag && data[1] === 1;
  const amount = amountAt(data, withFee ? 2 : 1);
  if (amount === null) return null;
  switch (data[0]) {
    case 3:
      return { type: "transfer", from: at(0), to: at(1), mint: null, amount, fee: null };
    case 12:
      return { type: "transfer", from: at(0), to: at(2), mint: at(1), amount, fee: null };
    case transferFeeTag:
      return withFee
        ? { type: "transfer", from: at(0), to: at(2), mint: at(1), amount, fee: amountAt(data, 11) }
        : null;
    case 7:
    case 14:
      return { type: "mint", to: at(1), mint: at(0), amount };
    case 8:
    case 15:
      return { type: "burn", from: at(0), mint: at(1), amount };
    default:
      return null;
  }
}

function amountAt(data: Uint8Array, offset: number): bigint | null {
  return data.length >= offset + 8 ? readU64(data, offset) : null;
}

function keyAt(data: Uint8Array, offset: number): string {
  return addressOfBytes(data.subarray(offset, offset + 32));
}

function newAuthority(data: Uint8Array): string | null {
  return data[2] === 1 && data.length >= 35 ? keyAt(data, 3) : null;
}
