import type { TransactionErrorJson } from "@sluice/svm";
import { decodeAddress, decodeBase58 } from "@sluice/wire/base58";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { JsonValue } from "../json.ts";
import type {
  ConfirmedBlock,
  ConfirmedTransaction,
  InnerInstructions,
  LoadedAddresses,
  ReturnData,
  Reward,
  TokenBalance,
  TransactionMeta,
} from "../model.ts";
import { rewardTypes } from "./fields.ts";
import { i64Of, listOf, objectOf, orNone, smallOf, textOf, u64Of } from "./read-json.ts";
import { tokenBalanceOf } from "./unpack.ts";
import { canonicalTransaction } from "./unpack-transaction.ts";

/** What one program may hand another in a call. */
const instructionBytesMax = 10_240;
const returnBytesMax = 1024;
const transactionBase64Max = 8192;

function base64Of(value: JsonValue | undefined, name: string): Uint8Array {
  const [text, encoding] = listOf(value, name);
  if (encoding !== "base64" || typeof text !== "string") throw new MalformedBytes(`${name} is not base64`);
  if (text.length > transactionBase64Max) throw new MalformedBytes(`${name} is too long`);
  try {
    return Uint8Array.fromBase64(text);
  } catch (cause) {
    throw new MalformedBytes(`${name} is not base64`, { cause });
  }
}

function addressOf(value: JsonValue | undefined, name: string): string {
  const text = textOf(value, name);
  if (decodeAddress(text) === null) throw new MalformedBytes(`${name} is no address`);
  return text;
}

function errorOf(value: JsonValue): TransactionErrorJson {
  return typeof value === "string" ? value : objectOf(value, "err");
}

function rewardOf(value: JsonValue): Reward {
  const { pubkey, lamports, postBalance, rewardType, commission, commissionBps } = objectOf(value, "a reward");
  const type = rewardTypes.find((name) => name === (rewardType ?? null));
  if (type === undefined) throw new MalformedBytes("a type of reward is not known");
  const reward: Reward = {
    pubkey: textOf(pubkey, "pubkey"),
    lamports: i64Of(lamports, "lamports"),
    postBalance: u64Of(postBalance, "postBalance"),
    rewardType: type,
    commission: orNone(commission, (each) => smallOf(each, "commission", 255)),
  };
  if (commissionBps === undefined) return reward;
  return { ...reward, commissionBps: orNone(commissionBps, (each) => smallOf(each, "commissionBps", 65_535)) };
}

function tokenBalance(value: JsonValue): TokenBalance {
  const { accountIndex, mint, owner, programId, uiTokenAmount } = objectOf(value, "a token balance");
  const { amount, decimals, uiAmount, uiAmountString } = objectOf(uiTokenAmount, "uiTokenAmount");
  const digits = textOf(amount, "amount");
  if (!/^\d{1,20}$/.test(digits)) throw new MalformedBytes("an amount is no u64");
  const shown = uiAmount ?? null;
  if (shown !== null && typeof shown !== "number" && typeof shown !== "bigint") {
    throw new MalformedBytes("uiAmount is no number");
  }
  const account = {
    accountIndex: smallOf(accountIndex, "accountIndex", 255),
    mint: textOf(mint, "mint"),
    owner: orNone(owner, (each) => textOf(each, "owner")),
    programId: orNone(programId, (each) => textOf(each, "programId")),
  };
  return tokenBalanceOf(account, {
    amount: BigInt(digits),
    decimals: smallOf(decimals, "decimals", 255),
    uiAmount: shown === null ? null : Number(shown),
    uiAmountString: textOf(uiAmountString, "uiAmountString"),
  });
}

function instructionData(value: JsonValue | undefined): Uint8Array {
  const data = decodeBase58(textOf(value, "data"), instructionBytesMax);
  if (data === null) throw new MalformedBytes("data of an instruction are not base58");
  return data;
}

function innerInstructions(value: JsonValue): InnerInstructions {
  const { index, instructions } = objectOf(value, "inner instructions");
  return {
    index: smallOf(index, "index", 255),
    instructions: listOf(instructions, "instructions").map((each) => {
      const { programIdIndex, accounts, data, stackHeight } = objectOf(each, "an instruction");
      return {
        programIdIndex: smallOf(programIdIndex, "programIdIndex", 255),
        accounts: Uint8Array.from(listOf(accounts, "accounts"), (account) => smallOf(account, "an account", 255)),
        data: instructionData(data),
        stackHeight: orNone(stackHeight, (height) => smallOf(height, "stackHeight", 0xffff_ffff)),
      };
    }),
  };
}

function loadedAddresses(value: JsonValue | undefined): LoadedAddresses {
  if (value === undefined || value === null) return { writable: [], readonly: [] };
  const { writable, readonly } = objectOf(value, "loadedAddresses");
  const addresses = (list: JsonValue | undefined): string[] =>
    listOf(list, "loadedAddresses").map((each) => addressOf(each, "a loaded address"));
  return { writable: addresses(writable), readonly: addresses(readonly) };
}

function returnDataOf(value: JsonValue): ReturnData {
  const { programId, data } = objectOf(value, "returnData");
  const bytes = base64Of(data, "returnData");
  if (bytes.length > returnBytesMax) throw new MalformedBytes("returnData is too long");
  return { programId: addressOf(programId, "programId"), data: bytes };
}

const metaU64 = (value: JsonValue): bigint => u64Of(value, "a number of meta");

function metaOf(value: JsonValue): TransactionMeta {
  const shown = objectOf(value, "meta");
  const listMember = <T>(member: string, read: (value: JsonValue) => T): T[] | null =>
    orNone(shown[member], (list) => listOf(list, member).map(read));
  const rewards = shown["rewards"];
  const meta: TransactionMeta = {
    error: orNone(shown["err"], errorOf),
    fee: u64Of(shown["fee"], "fee"),
    preBalances: listOf(shown["preBalances"], "preBalances").map(metaU64),
    postBalances: listOf(shown["postBalances"], "postBalances").map(metaU64),
    preTokenBalances: listMember("preTokenBalances", tokenBalance),
    postTokenBalances: listMember("postTokenBalances", tokenBalance),
    innerInstructions: listMember("innerInstructions", innerInstructions),
    logs: listMember("logMessages", (line) => textOf(line, "a log message")),
    loadedAddresses: loadedAddresses(shown["loadedAddresses"]),
    returnData: orNone(shown["returnData"], returnDataOf),
    computeUnitsConsumed: orNone(shown["computeUnitsConsumed"], metaU64),
    costUnits: orNone(shown["costUnits"], metaU64),
  };
  if (rewards === null) return { ...meta, rewards: null };
  const paid = rewards === undefined ? [] : listOf(rewards, "rewards").map(rewardOf);
  return paid.length === 0 ? meta : { ...meta, rewards: paid };
}

function transactionOf(value: JsonValue): ConfirmedTransaction {
  const { transaction, meta } = objectOf(value, "a transaction");
  const bytes = base64Of(transaction, "transaction");
  return { signature: canonicalTransaction(bytes), bytes, meta: orNone(meta, metaOf) };
}

/** A transaction, and where it stands in the chain. */
export interface PlacedTransaction {
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: bigint | null;
  readonly transaction: ConfirmedTransaction;
}

/**
 * Reads what getTransaction answers with encoding base64 and a maximal version. `answer` comes of `readJson`, so that
 * u64 values are exact.
 *
 * @throws {MalformedBytes} when it is no such answer, or the transaction is none that a node takes
 */
export function readTransaction(answer: JsonValue): PlacedTransaction {
  const { slot, blockTime } = objectOf(answer, "a transaction");
  return {
    slot: u64Of(slot, "slot"),
    blockTime: orNone(blockTime, (time) => i64Of(time, "blockTime")),
    transaction: transactionOf(answer),
  };
}

/**
 * Reads what getBlock answers with encoding base64, details full, rewards and a maximal version, and what
 * blockSubscribe tells as `block`. `answer` comes of `readJson`, so that u64 values are exact.
 *
 * @throws {MalformedBytes} when it is no such answer, or one of its transactions is none that a node takes
 */
export function readBlock(slot: bigint, answer: JsonValue): ConfirmedBlock {
  const shown = objectOf(answer, "a block");
  const block: ConfirmedBlock = {
    slot,
    parentSlot: u64Of(shown["parentSlot"], "parentSlot"),
    blockhash: addressOf(shown["blockhash"], "blockhash"),
    previousBlockhash: addressOf(shown["previousBlockhash"], "previousBlockhash"),
    blockTime: orNone(shown["blockTime"], (time) => i64Of(time, "blockTime")),
    blockHeight: orNone(shown["blockHeight"], (height) => u64Of(height, "blockHeight")),
    transactions: listOf(shown["transactions"], "transactions").map(transactionOf),
    rewards: orNone(shown["rewards"], (rewards) => listOf(rewards, "rewards").map(rewardOf)) ?? [],
  };
  const partitions = shown["numRewardPartitions"];
  if (partitions === undefined || partitions === null) return block;
  return { ...block, rewardPartitions: u64Of(partitions, "numRewardPartitions") };
}
