import type { ExecutedTransaction, TokenBalance, TransactionErrorJson } from "../model/index.ts";
import { uiTokenAmount } from "./amount.ts";
import { innerInstructions } from "./instruction.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** The engine's error is already JSON; this names it as the encoders' value. */
export function errorJson(error: TransactionErrorJson | null): JsonValue {
  return error as JsonValue;
}

/**
 * Presents one token balance. A stored balance of zero has `uiAmount` null, as the node's storage does not distinguish
 * an amount of zero from none; a simulated one, which was never stored, has 0.
 */
export function tokenBalance(balance: TokenBalance, stored: boolean): JsonObject {
  const amount = uiTokenAmount(balance.amount, balance.decimals);
  return {
    accountIndex: balance.accountIndex,
    mint: balance.mint,
    uiTokenAmount: stored && balance.amount === 0n ? { ...amount, uiAmount: null } : amount,
    owner: balance.owner,
    programId: balance.programId,
  };
}

export function returnDataJson(returnData: { readonly programId: string; readonly data: Uint8Array }): JsonObject {
  return { programId: returnData.programId, data: [Buffer.from(returnData.data).toString("base64"), "base64"] };
}

function outcome(executed: ExecutedTransaction): JsonObject {
  const err = errorJson(executed.error);
  return { err, status: executed.error === null ? { Ok: null } : { Err: err } };
}

function balances(executed: ExecutedTransaction): JsonObject {
  return { fee: executed.fee, preBalances: executed.preBalances, postBalances: executed.postBalances };
}

function tokenBalances(executed: ExecutedTransaction): JsonObject {
  return {
    preTokenBalances: executed.preTokenBalances.map((balance) => tokenBalance(balance, true)),
    postTokenBalances: executed.postTokenBalances.map((balance) => tokenBalance(balance, true)),
  };
}

/**
 * The whole `meta`. With `keys`, inner instructions are in the named form and `loadedAddresses` is left out, since the
 * key list holds them. `rewards` are [] when asked for, as transactions carry none, else null.
 * Source: Solana JSON-RPC, block and transaction shapes.
 */
export function transactionMeta(
  executed: ExecutedTransaction,
  keys: readonly string[] | null,
  showRewards: boolean,
): JsonObject {
  const { loadedAddresses, returnData } = executed;
  return {
    ...outcome(executed),
    ...balances(executed),
    innerInstructions: innerInstructions(executed.innerInstructions, keys),
    logMessages: executed.logs,
    ...tokenBalances(executed),
    rewards: showRewards ? [] : null,
    ...(keys === null && {
      loadedAddresses: { writable: loadedAddresses.writable, readonly: loadedAddresses.readonly },
    }),
    ...(returnData !== null && { returnData: returnDataJson(returnData) }),
    computeUnitsConsumed: executed.computeUnitsConsumed,
    costUnits: executed.costUnits,
  };
}

/** The short `meta` of `transactionDetails: "accounts"`. */
export function accountsMeta(executed: ExecutedTransaction, showRewards: boolean): JsonObject {
  return {
    ...outcome(executed),
    ...balances(executed),
    ...tokenBalances(executed),
    ...(showRewards && { rewards: [] }),
  };
}
