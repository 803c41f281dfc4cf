import { programs, type Transaction } from "@sluice/wire";
import type { ChainAccount, ExecutedTransaction, TransactionErrorJson } from "../model.ts";
import { RENT_EXEMPT_EPOCH } from "../svm/rent-exempt.ts";
import type { SvmOutcome } from "../svm/svm.ts";
import type { AccountStore } from "./accounts.ts";
import { costUnits } from "./fees.ts";
import type { RecordedTransaction } from "./history.ts";
import type { LookupBank } from "./lookup-tables.ts";
import { durableNonceAccount } from "./nonce.ts";
import { type ResolvedTransaction, resolveTransaction } from "./resolve.ts";
import { isTokenProgram, tokenBalances } from "./token-state.ts";
import { isSimpleVote } from "./validators/simple-vote.ts";

/** Each account counts this many bytes beside its data towards a transaction's loaded size. Source: SIMD-0186. */
const LOADED_ACCOUNT_OVERHEAD = 64;
const NO_DATA = new Uint8Array();

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
export function admit(
  transaction: Transaction,
  bank: OpenBank,
  { signature = transaction.id, checkAge = true }: { signature?: string; checkAge?: boolean } = {},
): Admission {
  const resolution = resolveTransaction(transaction, signature, bank);
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
export function loadedBytes(accounts: readonly (ChainAccount | null)[]): bigint {
  let bytes = 0;
  for (const account of accounts) if (account !== null) bytes += account.data.length + LOADED_ACCOUNT_OVERHEAD;
  return BigInt(bytes);
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

/** The account after a transaction that left everything but its lamports alone; null when none are left. */
function withLamports(account: ChainAccount | null, lamports: bigint): ChainAccount | null {
  if (lamports === 0n) return null;
  if (account !== null) return { ...account, lamports };
  return { lamports, data: NO_DATA, owner: programs.system, executable: false, rentEpoch: RENT_EXEMPT_EPOCH };
}

/** Records what became of an admitted transaction over the state just before it, and writes its effects. */
export function recordOutcome(
  resolved: ResolvedTransaction,
  outcome: SvmOutcome,
  position: { readonly slot: bigint; readonly index: number },
  bank: OpenBank,
  accounts: Pick<AccountStore, "write">,
): RecordedTransaction {
  const { keys, fees, message } = resolved;
  const read = (address: string) => bank.read(address);
  const held = keys.map(read);
  const hasTokens = (all: readonly (ChainAccount | null)[]) =>
    all.some((account) => account !== null && isTokenProgram(account.owner));
  const preTokenBalances = hasTokens(held) ? tokenBalances(keys, read) : [];
  const error = exactError(outcome, resolved, bank);
  const writableCount = resolved.writable.filter((writable) => writable).length;
  const cost = costUnits(message, fees, writableCount, outcome.computeUnitsConsumed, loadedBytes(held));
  const { slot, index } = position;
  for (const { address, account } of outcome.writes) accounts.write(slot, address, account);
  for (const { address, lamports } of outcome.balances) {
    accounts.write(slot, address, withLamports(read(address), lamports));
  }
  const left = keys.map(read);
  const executed: ExecutedTransaction = {
    signature: resolved.signature,
    slot,
    index,
    bytes: resolved.transaction.bytes,
    error,
    fee: fees.base + fees.priority,
    preBalances: held.map((account) => account?.lamports ?? 0n),
    postBalances: left.map((account) => account?.lamports ?? 0n),
    preTokenBalances,
    postTokenBalances: hasTokens(left) ? tokenBalances(keys, read) : [],
    innerInstructions: outcome.innerInstructions,
    logs: outcome.logs,
    loadedAddresses: resolved.loaded,
    returnData: outcome.returnData,
    computeUnitsConsumed: outcome.computeUnitsConsumed,
    costUnits: cost,
    isVote: isSimpleVote(message),
  };
  return { executed, keys, writable: resolved.writable, unitPrice: fees.unitPrice, priorityFee: fees.priority };
}
