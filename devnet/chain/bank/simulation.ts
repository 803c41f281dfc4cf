import { type AccountWrite, durableNonce, type Svm, type SvmOutcome } from "@sluice/svm/bank";
import { addressBytes } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import type { AccountStore } from "../accounts/index.ts";
import {
  type BankSlot,
  type ChainAccount,
  type Commitment,
  cachedOwners,
  type TokenBalance,
  type TransactionErrorJson,
  tokenBalances,
} from "../model/index.ts";
import { admit, exactError, loadedBytes, type OpenBank, readAfter } from "./executor.ts";
import type { BlockhashQueue, StatusCache } from "./recent-blocks.ts";
import { type ResolvedTransaction, svmTransaction } from "./resolve.ts";

export interface SimulationRequest {
  readonly transaction: Transaction;
  readonly commitment: Commitment;
  /** False when the caller replaced the blockhash, so that its age says nothing. */
  readonly checkAge: boolean;
  /** Whether the machine checks the signatures, if it comes to run the transaction at all. */
  readonly verify?: boolean;
}

/** The result of a simulation; `resolved` is null when the transaction could not be resolved, and then nothing ran. */
export interface Simulation {
  readonly error: TransactionErrorJson | null;
  readonly resolved: ResolvedTransaction | null;
  readonly outcome: SvmOutcome | null;
  readonly bank: BankSlot;
  readonly loadedBytes: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  /** Accounts as the transaction would leave them. */
  readonly after: (address: string) => ChainAccount | null;
}

/** A bank that simulations run over: a frozen one, or what the open slot holds so far. */
export type SimulationBank = Pick<BankSlot, "slot" | "blockhash" | "blockHeight">;

export interface SimulationDependencies {
  readonly svm: Svm;
  readonly accounts: AccountStore;
  readonly chain: {
    readonly blockhashes: BlockhashQueue;
    readonly statuses: StatusCache;
    isRecentSlot(slot: bigint): boolean;
  };
  /** Whether a transaction that the machine was given and that is not yet recorded may write the account. */
  mayChange(address: string): boolean;
}

/** The accounts of transactions, tables included, as they were at the bank where the machine may have newer ones. */
export function overlayOf(
  transactions: readonly ResolvedTransaction[],
  bank: SimulationBank,
  dependencies: SimulationDependencies,
): AccountWrite[] {
  const { accounts } = dependencies;
  const addresses = new Set(
    transactions.flatMap(({ keys, message }) => [...keys, ...message.lookups.map(({ table }) => table)]),
  );
  const overlay: AccountWrite[] = [];
  for (const address of addresses) {
    if (!accounts.changedAfter(address, bank.slot) && !dependencies.mayChange(address)) continue;
    const account = accounts.get(address, bank.slot);
    // What the machine caches is simulated as it is now: it would not notice the older bytes.
    const owners = [account?.owner, accounts.newest(address)?.owner];
    if (owners.every((owner) => owner === undefined || !cachedOwners.has(owner))) overlay.push({ address, account });
  }
  return overlay;
}

/** A bank as transactions are checked against it. */
export function viewOf(bank: SimulationBank, { chain, accounts }: SimulationDependencies): OpenBank {
  return {
    slot: bank.slot,
    nextNonce: durableNonce(addressBytes(bank.blockhash)),
    read: (address) => accounts.get(address, bank.slot),
    isRecentSlot: (slot) => chain.isRecentSlot(slot),
    isBlockhashValid: (blockhash) => chain.blockhashes.isValid(blockhash, bank.blockHeight),
    wasProcessed: (signature) => {
      const slot = chain.statuses.slotOf(signature);
      return slot !== null && slot <= bank.slot;
    },
  };
}

/** Simulates over a frozen bank, whatever the open slot has done since. */
export async function simulateAt(
  request: SimulationRequest,
  bank: BankSlot,
  dependencies: SimulationDependencies,
): Promise<Simulation> {
  const view = viewOf(bank, dependencies);
  const before = view.read;
  const nothing = {
    bank,
    loadedBytes: 0n,
    preBalances: [],
    postBalances: [],
    preTokenBalances: [],
    postTokenBalances: [],
    after: before,
  };
  const admission = admit(request.transaction, view, { checkAge: request.checkAge });
  if (!admission.ok) return { ...nothing, error: admission.error, resolved: null, outcome: null };
  const { resolved, nonceAddress } = admission;
  const { keys } = resolved;
  const held = keys.map(before);
  const preTokenBalances = tokenBalances(keys, before);
  const transaction = svmTransaction(resolved, nonceAddress, request.verify ?? false);
  const outcome = await dependencies.svm.simulate(
    transaction,
    overlayOf([resolved], bank, dependencies),
    view.nextNonce,
  );
  const after = readAfter(outcome, before);
  return {
    error: exactError(outcome, resolved, view),
    resolved,
    outcome,
    bank,
    loadedBytes: BigInt(loadedBytes(held)),
    preBalances: held.map((account) => account?.lamports ?? 0n),
    postBalances: keys.map((key) => after(key)?.lamports ?? 0n),
    preTokenBalances,
    postTokenBalances: tokenBalances(keys, after),
    after,
  };
}
