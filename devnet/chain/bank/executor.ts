import { rentExemptEpoch } from "@sluice/svm";
import type { SvmOutcome } from "@sluice/svm/bank";
import { programs } from "@sluice/wire/programs";
import { costModel } from "@sluice/wire/runtime-rules";
import type { Transaction } from "@sluice/wire/transaction";
import type { AccountStore } from "../accounts/index.ts";
import { isSimpleVote } from "../consensus/index.ts";
import type { RecordedTransaction } from "../history/index.ts";
import {
  type ChainAccount,
  type ExecutedTransaction,
  isTokenProgram,
  type TokenBalance,
  type TransactionErrorJson,
  tokenBalances,
} from "../model/index.ts";
import { costUnits } from "./costs.ts";
import { durableNonceAccount, type LookupBank, type ResolvedTransaction, resolveTransaction } from "./resolve.ts";

const noData = new Uint8Array();

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
export function loadedBytes(accounts: readonly (ChainAccount | null)[]): number {
  let bytes = 0;
  for (const account of accounts) if (account !== null) bytes += account.data.length + costModel.accountOverheadBytes;
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

/** The account after a transaction that left everything but its lamports alone; null when none are left. */
export function withLamports(account: ChainAccount | null, lamports: bigint): ChainAccount | null {
  if (lamports === 0n) return null;
  if (account !== null) return { ...account, lamports };
  return { lamports, data: noData, owner: programs.system, executable: false, rentEpoch: rentExemptEpoch };
}

type Accounts = readonly (ChainAccount | null)[];

function lamportsOf(accounts: Accounts): bigint[] {
  return accounts.map((account) => (account === null ? 0n : account.lamports));
}

/** Token balances of the keys, where any of them is a token account. */
function tokensOf(keys: readonly string[], accounts: Accounts, bank: OpenBank): readonly TokenBalance[] {
  const some = accounts.some((account) => account !== null && isTokenProgram(account.owner));
  return some ? tokenBalances(keys, (address) => bank.read(address)) : [];
}

/** Writes a transaction's effects, and gives its accounts as it left them. */
function writeEffects(
  outcome: SvmOutcome,
  keys: readonly string[],
  held: Accounts,
  write: (address: string, account: ChainAccount | null) => void,
): Accounts {
  const left = [...held];
  for (const { address, account } of outcome.writes) {
    left[keys.indexOf(address)] = account;
    write(address, account);
  }
  for (const { address, lamports } of outcome.balances) {
    const index = keys.indexOf(address);
    const account = withLamports(held[index] ?? null, lamports);
    left[index] = account;
    write(address, account);
  }
  return left;
}

/** The tag of an upgradeable loader's account that holds a program's code. */
const programData = 3;

/** Whether an outcome takes away the code of a program; asked before it is recorded. */
export function closesProgram(keys: readonly string[], outcome: SvmOutcome, bank: OpenBank): boolean {
  if (!keys.includes(programs.bpfLoaderUpgradeable)) return false;
  return outcome.writes.some(({ address, account }) => {
    if (account !== null) return false;
    const before = bank.read(address);
    return before?.owner === programs.bpfLoaderUpgradeable && before.data[0] === programData;
  });
}

/** Records what became of an admitted transaction over the state just before it, and writes its effects. */
export function recordOutcome(
  { resolved, writableCount }: { readonly resolved: ResolvedTransaction; readonly writableCount: number },
  outcome: SvmOutcome,
  position: { readonly slot: bigint; readonly index: number },
  bank: OpenBank,
  accounts: Pick<AccountStore, "write">,
): RecordedTransaction {
  const { keys, fees, message } = resolved;
  const { slot, index } = position;
  const held = keys.map((address) => bank.read(address));
  const preTokenBalances = tokensOf(keys, held, bank);
  const error = exactError(outcome, resolved, bank);
  const left = writeEffects(outcome, keys, held, (address, account) => accounts.write(slot, address, account));
  const unitsConsumed = Number(outcome.computeUnitsConsumed);
  const executed: ExecutedTransaction = {
    signature: resolved.signature,
    slot,
    index,
    bytes: resolved.transaction.bytes,
    error,
    fee: fees.base + fees.priority,
    preBalances: lamportsOf(held),
    postBalances: lamportsOf(left),
    preTokenBalances,
    postTokenBalances: tokensOf(keys, left, bank),
    innerInstructions: outcome.innerInstructions,
    logs: outcome.logs,
    loadedAddresses: resolved.loaded,
    returnData: outcome.returnData,
    computeUnitsConsumed: outcome.computeUnitsConsumed,
    costUnits: BigInt(costUnits(message, fees, writableCount, unitsConsumed, loadedBytes(held))),
    isVote: isSimpleVote(message, keys),
  };
  return { executed, keys, writable: resolved.writable, unitPrice: fees.unitPrice, priorityFee: fees.priority };
}
