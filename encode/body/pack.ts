import type { TransactionErrorJson } from "@sluice/svm";
import { addressBytes } from "@sluice/wire/base58";

import type { Message, Transaction } from "@sluice/wire/transaction";
import { storedAmount } from "../meta.ts";
import type { ConfirmedBlock, ConfirmedTransaction, Reward, TokenBalance, TransactionMeta } from "../model.ts";
import { readTransaction } from "../transaction-view.ts";
import * as fields from "./fields.ts";
import { BackwardWriter } from "./protobuf.ts";
import { packTransactionError } from "./transaction-error.ts";
import { isVote } from "./vote.ts";

/** Runs from the last item to the first, as a writer that goes backwards takes them. */
function backwards<T>(items: readonly T[], write: (item: T, index: number) => void): void {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    if (item !== undefined) write(item, index);
  }
}

function writeMessage(writer: BackwardWriter, message: Message): void {
  if (message.version === 1) {
    const { priorityFeeLamports, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = message.config;
    const end = writer.length;
    if (heapSize !== null) writer.explicitU32(fields.config.heapSize, heapSize);
    if (loadedAccountsDataSizeLimit !== null) {
      writer.explicitU32(fields.config.loadedAccountsDataSizeLimit, loadedAccountsDataSizeLimit);
    }
    if (computeUnitLimit !== null) writer.explicitU32(fields.config.computeUnitLimit, computeUnitLimit);
    if (priorityFeeLamports !== null) writer.explicitU64(fields.config.priorityFee, priorityFeeLamports);
    writer.close(fields.message.config, end);
  }
  if (message.version === 0) {
    backwards(message.lookups, ({ tableBytes, writableIndexes, readonlyIndexes }) => {
      const end = writer.length;
      writer.bytes(fields.lookup.readonly, readonlyIndexes);
      writer.bytes(fields.lookup.writable, writableIndexes);
      writer.bytes(fields.lookup.accountKey, tableBytes);
      writer.close(fields.message.lookups, end);
    });
  }
  writer.flag(fields.message.versioned, message.version !== "legacy");
  backwards(message.instructions, ({ programIndex, accountIndexes, data }) => {
    const end = writer.length;
    writer.bytes(fields.instruction.data, data);
    writer.bytes(fields.instruction.accounts, accountIndexes);
    writer.u32(fields.instruction.programIdIndex, programIndex);
    writer.close(fields.message.instructions, end);
  });
  writer.bytes(fields.message.recentBlockhash, message.blockhashBytes);
  for (let index = message.staticKeyCount - 1; index >= 0; index--) {
    writer.bytes(fields.message.accountKeys, message.keyBytes(index));
  }
  const end = writer.length;
  writer.u32(fields.header.readonlyOthers, message.numReadonlyUnsignedAccounts);
  writer.u32(fields.header.readonlySigners, message.numReadonlySignedAccounts);
  writer.u32(fields.header.signers, message.numRequiredSignatures);
  writer.close(fields.message.header, end);
}

function writeTransaction(writer: BackwardWriter, { message, signatureBytes }: SignedMessage): void {
  const end = writer.length;
  writeMessage(writer, message);
  writer.close(fields.transaction.message, end);
  for (let index = message.numRequiredSignatures - 1; index >= 0; index--) {
    writer.bytes(fields.transaction.signatures, signatureBytes(index));
  }
}

interface SignedMessage {
  readonly message: Message;
  readonly signatureBytes: (index: number) => Uint8Array;
}

function writeError(writer: BackwardWriter, error: TransactionErrorJson): void {
  const end = writer.length;
  const bincode = packTransactionError(error);
  if (bincode === null) writer.text(fields.error.json, JSON.stringify(error));
  else writer.bytes(fields.error.bincode, bincode);
  writer.close(fields.meta.error, end);
}

function writeReward(writer: BackwardWriter, field: number, reward: Reward): void {
  const end = writer.length;
  const { commission, commissionBps, rewardType } = reward;
  writer.flag(fields.reward.commissionBpsNone, commissionBps === null);
  writer.text(fields.reward.commissionBps, commissionBps?.toString() ?? "");
  writer.text(fields.reward.commission, commission?.toString() ?? "");
  writer.u32(fields.reward.rewardType, fields.rewardTypes.indexOf(rewardType));
  writer.u64(fields.reward.postBalance, reward.postBalance);
  writer.u64(fields.reward.lamports, reward.lamports);
  writer.text(fields.reward.pubkey, reward.pubkey);
  writer.close(field, end);
}

function writeTokenBalance(writer: BackwardWriter, field: number, balance: TokenBalance): void {
  const end = writer.length;
  const { uiAmount, decimals, amount, uiAmountString } = {
    ...storedAmount(balance.amount, balance.decimals),
    ...balance.shown,
  };
  writer.text(fields.tokenBalance.programId, balance.programId ?? "");
  writer.text(fields.tokenBalance.owner, balance.owner ?? "");
  const amountEnd = writer.length;
  writer.flag(fields.uiTokenAmount.uiAmountZero, uiAmount === 0);
  writer.text(fields.uiTokenAmount.uiAmountString, uiAmountString);
  writer.text(fields.uiTokenAmount.amount, amount);
  writer.u32(fields.uiTokenAmount.decimals, decimals);
  writer.f64(fields.uiTokenAmount.uiAmount, uiAmount ?? 0);
  writer.close(fields.tokenBalance.uiTokenAmount, amountEnd);
  writer.text(fields.tokenBalance.mint, balance.mint);
  writer.u32(fields.tokenBalance.accountIndex, balance.accountIndex);
  writer.close(field, end);
}

function writeInner(writer: BackwardWriter, groups: NonNullable<TransactionMeta["innerInstructions"]>): void {
  backwards(groups, ({ index, instructions }) => {
    const end = writer.length;
    backwards(instructions, ({ programIdIndex, accounts, data, stackHeight }) => {
      const innerEnd = writer.length;
      if (stackHeight !== null) writer.explicitU32(fields.instruction.stackHeight, stackHeight);
      writer.bytes(fields.instruction.data, data);
      writer.bytes(fields.instruction.accounts, accounts);
      writer.u32(fields.instruction.programIdIndex, programIdIndex);
      writer.close(fields.innerInstructions.instructions, innerEnd);
    });
    writer.u32(fields.innerInstructions.index, index);
    writer.close(fields.meta.innerInstructions, end);
  });
}

function writeMeta(writer: BackwardWriter, meta: TransactionMeta): void {
  const { innerInstructions, loadedAddresses, logs, postTokenBalances, preTokenBalances, returnData, rewards } = meta;
  writer.flag(fields.meta.rewardsNone, rewards === null);
  writer.flag(fields.meta.postTokenBalancesNone, postTokenBalances === null);
  writer.flag(fields.meta.preTokenBalancesNone, preTokenBalances === null);
  if (meta.costUnits !== null) writer.explicitU64(fields.meta.costUnits, meta.costUnits);
  if (meta.computeUnitsConsumed !== null) {
    writer.explicitU64(fields.meta.computeUnitsConsumed, meta.computeUnitsConsumed);
  }
  writer.flag(fields.meta.returnDataNone, returnData === null);
  if (returnData !== null) {
    const end = writer.length;
    writer.bytes(fields.returnData.data, returnData.data);
    writer.bytes(fields.returnData.programId, addressBytes(returnData.programId));
    writer.close(fields.meta.returnData, end);
  }
  backwards(loadedAddresses.readonly, (key) => writer.bytes(fields.meta.loadedReadonly, addressBytes(key)));
  backwards(loadedAddresses.writable, (key) => writer.bytes(fields.meta.loadedWritable, addressBytes(key)));
  writer.flag(fields.meta.logsNone, logs === null);
  writer.flag(fields.meta.innerInstructionsNone, innerInstructions === null);
  backwards(rewards ?? [], (reward) => writeReward(writer, fields.meta.rewards, reward));
  backwards(postTokenBalances ?? [], (each) => writeTokenBalance(writer, fields.meta.postTokenBalances, each));
  backwards(preTokenBalances ?? [], (each) => writeTokenBalance(writer, fields.meta.preTokenBalances, each));
  backwards(logs ?? [], (line) => writer.explicitText(fields.meta.logs, line));
  writeInner(writer, innerInstructions ?? []);
  writer.packedU64(fields.meta.postBalances, meta.postBalances);
  writer.packedU64(fields.meta.preBalances, meta.preBalances);
  writer.u64(fields.meta.fee, meta.fee);
  if (meta.error !== null) writeError(writer, meta.error);
}

function writeTransactionInfo(writer: BackwardWriter, { bytes, meta }: ConfirmedTransaction, index: number): void {
  const parsed: Transaction = readTransaction(bytes);
  writer.u32(fields.transactionInfo.index, index);
  if (meta !== null) {
    const end = writer.length;
    writeMeta(writer, meta);
    writer.close(fields.transactionInfo.meta, end);
  }
  const end = writer.length;
  writeTransaction(writer, { message: parsed.message, signatureBytes: (each) => parsed.signatureBytes(each) });
  writer.close(fields.transactionInfo.transaction, end);
  writer.flag(fields.transactionInfo.isVote, isVote(parsed));
  writer.bytes(fields.transactionInfo.signature, parsed.signatureBytes(0));
}

function writeBox(writer: BackwardWriter, field: number, value: bigint | null | undefined): void {
  if (value === null || value === undefined) return;
  const end = writer.length;
  writer.u64(fields.boxed.value, value);
  writer.close(field, end);
}

/** Bytes of a transaction in a packed block, about: where the buffer begins. */
const transactionBytesTypical = 2048;

/**
 * A block as protobuf `geyser.SubscribeUpdateBlock`, which `unpackBlock` reads back as it was. Accounts and entries,
 * which a block of the model does not have, are left out.
 *
 * @throws {TypeError} when a transaction is not canonical
 * @throws {RangeError} when an address of the model is none
 */
export function packBlock(block: ConfirmedBlock): Uint8Array {
  const { transactions, rewards } = block;
  const writer = new BackwardWriter(1024 + transactions.length * transactionBytesTypical);
  writer.u32(fields.block.executedTransactionCount, transactions.length);
  writer.text(fields.block.parentBlockhash, block.previousBlockhash);
  writer.u64(fields.block.parentSlot, block.parentSlot);
  backwards(transactions, (transaction, index) => {
    const end = writer.length;
    writeTransactionInfo(writer, transaction, index);
    writer.close(fields.block.transactions, end);
  });
  writeBox(writer, fields.block.blockHeight, block.blockHeight);
  writeBox(writer, fields.block.blockTime, block.blockTime);
  const end = writer.length;
  writeBox(writer, fields.rewards.partitions, block.rewardPartitions);
  backwards(rewards, (reward) => writeReward(writer, fields.rewards.rewards, reward));
  writer.close(fields.block.rewards, end);
  writer.text(fields.block.blockhash, block.blockhash);
  writer.u64(fields.block.slot, block.slot);
  return writer.finish();
}

/**
 * One transaction of a block as protobuf `geyser.SubscribeUpdateTransactionInfo`, with its place in the block:
 * `unpackTransaction` reads it back as it was.
 *
 * @throws {TypeError} when the transaction is not canonical
 * @throws {RangeError} when an address of the model is none
 */
export function packTransaction(transaction: ConfirmedTransaction, index: number): Uint8Array {
  const writer = new BackwardWriter(transactionBytesTypical);
  writeTransactionInfo(writer, transaction, index);
  return writer.finish();
}
