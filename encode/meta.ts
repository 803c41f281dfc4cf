import type { TransactionErrorJson } from "@sluice/svm";
import { type UiTokenAmount, uiTokenAmount } from "./amount.ts";
import { innerInstructions } from "./instruction.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ReturnData, Reward, TokenBalance, TransactionMeta } from "./model.ts";

/** The engine's error is already JSON; this names it as the encoders' value. */
export function errorJson(error: TransactionErrorJson | null): JsonValue {
  return error as JsonValue;
}

/**
 * What a node's storage shows of an amount: `uiAmount` is null for zero, since the storage tells no zero from none.
 */
export function storedAmount(amount: bigint, decimals: number): UiTokenAmount {
  const shown = uiTokenAmount(amount, decimals);
  return amount === 0n ? { ...shown, uiAmount: null } : shown;
}

/** Presents one token balance; a simulated one, which was never stored, shows zero as 0. */
export function tokenBalance(balance: TokenBalance, stored: boolean): JsonObject {
  const { accountIndex, mint, owner, programId, amount, decimals, shown } = balance;
  const computed = stored ? storedAmount(amount, decimals) : uiTokenAmount(amount, decimals);
  return {
    accountIndex,
    mint,
    uiTokenAmount: shown === undefined ? computed : { ...computed, ...shown },
    ...(owner !== null && { owner }),
    ...(programId !== null && { programId }),
  };
}

export function returnDataJson({ programId, data }: ReturnData): JsonObject {
  return { programId, data: [data.toBase64(), "base64"] };
}

export function rewardJson(reward: Reward): JsonObject {
  const { pubkey, lamports, postBalance, rewardType, commission, commissionBps } = reward;
  const shown = { pubkey, lamports, postBalance, rewardType, commission };
  return commissionBps === undefined ? shown : { ...shown, commissionBps };
}

function outcome({ error }: TransactionMeta): JsonObject {
  const err = errorJson(error);
  return { err, status: error === null ? { Ok: null } : { Err: err } };
}

function balances({ fee, preBalances, postBalances }: TransactionMeta): JsonObject {
  return { fee, preBalances, postBalances };
}

function tokenBalances({ preTokenBalances, postTokenBalances }: TransactionMeta): JsonObject {
  const shown = (list: readonly TokenBalance[] | null): JsonValue =>
    list?.map((balance) => tokenBalance(balance, true)) ?? null;
  return { preTokenBalances: shown(preTokenBalances), postTokenBalances: shown(postTokenBalances) };
}

function rewards({ rewards: paid = [] }: TransactionMeta): JsonValue {
  return paid?.map(rewardJson) ?? null;
}

/**
 * The whole `meta`. With `keys`, inner instructions are in the named form and `loadedAddresses` is left out, since the
 * key list holds them. `rewards` are null unless they are asked for.
 * Source: Solana JSON-RPC, block and transaction shapes.
 */
export function transactionMeta(
  meta: TransactionMeta,
  keys: readonly string[] | null,
  showRewards: boolean,
): JsonObject {
  const { loadedAddresses, returnData, computeUnitsConsumed, costUnits } = meta;
  return {
    ...outcome(meta),
    ...balances(meta),
    innerInstructions: meta.innerInstructions === null ? null : innerInstructions(meta.innerInstructions, keys),
    logMessages: meta.logs,
    ...tokenBalances(meta),
    rewards: showRewards ? rewards(meta) : null,
    ...(keys === null && {
      loadedAddresses: { writable: loadedAddresses.writable, readonly: loadedAddresses.readonly },
    }),
    ...(returnData !== null && { returnData: returnDataJson(returnData) }),
    ...(computeUnitsConsumed !== null && { computeUnitsConsumed }),
    ...(costUnits !== null && { costUnits }),
  };
}

/** The short `meta` of `transactionDetails: "accounts"`. */
export function accountsMeta(meta: TransactionMeta, showRewards: boolean): JsonObject {
  return {
    ...outcome(meta),
    ...balances(meta),
    ...tokenBalances(meta),
    ...(showRewards && { rewards: rewards(meta) }),
  };
}
