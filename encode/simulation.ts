import type { TransactionErrorJson } from "@sluice/svm";
import type { AccountJson } from "./account.ts";
import { innerInstructions } from "./instruction.ts";
import type { JsonObject } from "./json.ts";
import { errorJson, returnDataJson, tokenBalance } from "./meta.ts";
import type { InnerInstructions, LoadedAddresses, ReturnData, TokenBalance } from "./model.ts";

/** The result of a simulation. Null is written as null: the value is unknown or was not requested. */
export interface SimulatedTransaction {
  readonly error: TransactionErrorJson | null;
  readonly logs: readonly string[] | null;
  /** Already encoded, in the order in which they were asked for; all null when the transaction failed. */
  readonly accounts: readonly (AccountJson | null)[] | null;
  readonly unitsConsumed: bigint | null;
  /** Bytes; fits a u32. */
  readonly loadedAccountsDataSize: number | null;
  readonly returnData: ReturnData | null;
  /** Null unless the caller asked for them. */
  readonly innerInstructions: readonly InnerInstructions[] | null;
  /** All keys of the transaction: static, loaded writable, loaded readonly. Inner instructions are named by them. */
  readonly accountKeys: readonly string[];
  readonly replacementBlockhash: { readonly blockhash: string; readonly lastValidBlockHeight: bigint } | null;
  readonly fee: bigint | null;
  readonly preBalances: readonly bigint[] | null;
  readonly postBalances: readonly bigint[] | null;
  readonly preTokenBalances: readonly TokenBalance[] | null;
  readonly postTokenBalances: readonly TokenBalance[] | null;
  readonly loadedAddresses: LoadedAddresses | null;
}

/**
 * The Simulation object of simulateTransaction and of the error -32002: every member is always there. Inner
 * instructions are in the named form, and an outer instruction that called nothing has no group. Source: Solana
 * JSON-RPC, send and simulate.
 */
export function encodeSimulation(simulated: SimulatedTransaction): JsonObject {
  const { returnData, replacementBlockhash, loadedAddresses } = simulated;
  const groups = simulated.innerInstructions?.filter((group) => group.instructions.length > 0) ?? null;
  return {
    err: errorJson(simulated.error),
    logs: simulated.logs,
    accounts: simulated.accounts,
    unitsConsumed: simulated.unitsConsumed,
    loadedAccountsDataSize: simulated.loadedAccountsDataSize,
    returnData: returnData === null ? null : returnDataJson(returnData),
    innerInstructions: groups === null ? null : innerInstructions(groups, simulated.accountKeys),
    replacementBlockhash: replacementBlockhash === null ? null : { ...replacementBlockhash },
    fee: simulated.fee,
    preBalances: simulated.preBalances,
    postBalances: simulated.postBalances,
    preTokenBalances: simulated.preTokenBalances?.map((balance) => tokenBalance(balance, false)) ?? null,
    postTokenBalances: simulated.postTokenBalances?.map((balance) => tokenBalance(balance, false)) ?? null,
    loadedAddresses: loadedAddresses === null ? null : { ...loadedAddresses },
  };
}

/** The result of one transaction of a simulated bundle. */
interface SimulatedBundleTransaction
  extends Omit<SimulatedTransaction, "logs" | "accounts" | "unitsConsumed" | "innerInstructions" | "accountKeys"> {
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  /** Already encoded, in the order in which they were asked for; none when none were. */
  readonly preExecutionAccounts: readonly AccountJson[];
  readonly postExecutionAccounts: readonly AccountJson[];
}

/** An element of simulateBundle's `transactionResults`. Source: jito-solana, RpcSimulateBundleTransactionResult. */
export function encodeBundleTransaction(simulated: SimulatedBundleTransaction): JsonObject {
  const { preExecutionAccounts, postExecutionAccounts, ...rest } = simulated;
  const encoded = encodeSimulation({ ...rest, accounts: null, innerInstructions: null, accountKeys: [] });
  const { accounts: _, innerInstructions: __, ...members } = encoded;
  return { ...members, preExecutionAccounts, postExecutionAccounts };
}
