import type { Transaction } from "@sluice/wire";
import type { ChainAccount, ExecutedTransaction, TransactionErrorJson } from "../model.ts";
import type { Svm, SvmOutcome } from "../svm/svm.ts";
import type { AccountStore } from "./accounts.ts";
import { costUnits } from "./fees.ts";
import type { RecordedTransaction } from "./history.ts";
import type { LookupBank } from "./lookup-tables.ts";
import { durableNonceAccount } from "./nonce.ts";
import { type ResolvedTransaction, resolveTransaction, svmTransaction } from "./resolve.ts";
import { tokenBalances } from "./token-state.ts";

/** Each account counts this many bytes beside its data towards a transaction's loaded size. Source: SIMD-0186. */
const LOADED_ACCOUNT_OVERHEAD = 64n;

/** The open slot as the executor sees it. */
export interface OpenBank extends LookupBank {
  readonly nextNonce: Uint8Array;
  isBlockhashValid(blockhash: string): boolean;
  wasProcessed(signature: string): boolean;
}

/** A transaction that may run in a bank, or why it may not. */
export type Admission =
  | { readonly ok: true; readonly resolved: ResolvedTransaction; readonly nonceAddress: string | null }
  | { readonly ok: false; readonly error: TransactionErrorJson };

/** Resolves a transaction and checks its age and that it is new, in a runtime's order. */
export function admit(transaction: Transaction, bank: OpenBank, checkAge = true): Admission {
  const resolution = resolveTransaction(transaction, bank);
  if (!resolution.ok) return resolution;
  const { resolved } = resolution;
  if (bank.wasProcessed(resolved.signature)) return { ok: false, error: "AlreadyProcessed" };
  if (!checkAge || bank.isBlockhashValid(resolved.lifetime)) return { ok: true, resolved, nonceAddress: null };
  const nonceAddress = durableNonceAccount(
    resolved.message,
    resolved.keys,
    (index) => resolved.writable[index] ?? false,
    (address) => bank.read(address),
    bank.nextNonce,
  );
  if (nonceAddress === null) return { ok: false, error: "BlockhashNotFound" };
  return { ok: true, resolved, nonceAddress };
}

/** Bytes of all accounts that a transaction loads. */
export function loadedBytes(keys: readonly string[], read: (address: string) => ChainAccount | null): bigint {
  let bytes = 0n;
  for (const key of keys) {
    const account = read(key);
    if (account !== null) bytes += BigInt(account.data.length) + LOADED_ACCOUNT_OVERHEAD;
  }
  return bytes;
}

/** Reads accounts as a transaction left them: its writes first, then the state before it. */
export function readAfter(
  outcome: SvmOutcome,
  before: (address: string) => ChainAccount | null,
): (address: string) => ChainAccount | null {
  const written = new Map(outcome.writes.map(({ address, account }) => [address, account]));
  return (address) => {
    const account = written.get(address);
    return account === undefined ? before(address) : account;
  };
}

/** The runtime names the missing program apart from one that is no program. */
export function exactError(
  outcome: SvmOutcome,
  resolved: ResolvedTransaction,
  bank: LookupBank,
): TransactionErrorJson | null {
  if (outcome.error !== "InvalidProgramForExecution") return outcome.error;
  const missing = resolved.message.instructions.some(
    ({ programIndex }) => bank.read(resolved.keys[programIndex] ?? "") === null,
  );
  return missing ? "ProgramAccountNotFound" : outcome.error;
}

/** Runs one admitted transaction in the open slot and records it; null when the runtime refused to include it. */
export async function executeTransaction(
  admission: Admission & { readonly ok: true },
  position: { readonly slot: bigint; readonly index: number },
  bank: OpenBank,
  deps: { readonly svm: Svm; readonly accounts: AccountStore },
): Promise<RecordedTransaction | null> {
  const { resolved, nonceAddress } = admission;
  const { keys } = resolved;
  const before = (address: string) => bank.read(address);
  const preBalances = keys.map((key) => before(key)?.lamports ?? 0n);
  const preTokenBalances = tokenBalances(keys, before);
  const loaded = loadedBytes(keys, before);
  const outcomes = await deps.svm.execute([svmTransaction(resolved, nonceAddress)], bank.nextNonce);
  const outcome = outcomes[0];
  if (outcome === undefined || !outcome.included) return null;
  const error = exactError(outcome, resolved, bank);
  for (const { address, account } of outcome.writes) deps.accounts.write(position.slot, address, account);
  const writableKeys = resolved.writable.filter((writable) => writable).length;
  const executed: ExecutedTransaction = {
    signature: resolved.signature,
    slot: position.slot,
    index: position.index,
    bytes: resolved.transaction.bytes,
    error,
    fee: resolved.fees.base + resolved.fees.priority,
    preBalances,
    postBalances: keys.map((key) => before(key)?.lamports ?? 0n),
    preTokenBalances,
    postTokenBalances: tokenBalances(keys, before),
    innerInstructions: outcome.innerInstructions,
    logs: outcome.logs,
    loadedAddresses: resolved.loaded,
    returnData: outcome.returnData,
    computeUnitsConsumed: outcome.computeUnitsConsumed,
    costUnits: costUnits(resolved.message, resolved.fees, writableKeys, outcome.computeUnitsConsumed, loaded),
  };
  const { unitPrice, priority } = resolved.fees;
  return { executed, keys, writable: resolved.writable, unitPrice, priorityFee: priority };
}
