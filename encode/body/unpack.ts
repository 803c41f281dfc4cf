import type { TransactionErrorJson } from "@sluice/svm";
import { encodeBase58 } from "@sluice/wire/base58";
import { MalformedBytes } from "@sluice/wire/bytes";
import { storedAmount } from "../meta.ts";
import type {
  ConfirmedBlock,
  ConfirmedTransaction,
  ExecutedInstruction,
  InnerInstructions,
  Reward,
  TokenBalance,
  TransactionMeta,
} from "../model.ts";
import * as fields from "./fields.ts";
import { FieldReader } from "./protobuf.ts";
import { unpackTransactionError } from "./transaction-error.ts";
import { canonicalTransaction, readTransactionFields } from "./unpack-transaction.ts";

const none: Uint8Array = new Uint8Array(0);

/** What one program may hand another in a call; the encoders take no more. */
const instructionBytesMax = 10_240;

function address(bytes: Uint8Array): string {
  if (bytes.length !== 32) throw new MalformedBytes(`an address has ${bytes.length} bytes`);
  return encodeBase58(bytes);
}

/** Digits of a u64, as the proto writes amounts. */
function amountOf(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new MalformedBytes("an amount is no u64");
  return BigInt(text);
}

function wholeNumber(text: string): number | null {
  if (text === "") return null;
  if (!/^\d{1,5}$/.test(text)) throw new MalformedBytes("a commission is no whole number");
  return Number(text);
}

function isError(value: unknown): value is TransactionErrorJson {
  return typeof value === "string" || (typeof value === "object" && value !== null && !Array.isArray(value));
}

function errorOfJson(text: string): TransactionErrorJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MalformedBytes("an error is not JSON", { cause });
  }
  if (!isError(value)) throw new MalformedBytes("an error is neither a name nor an object");
  return value;
}

function readError(reader: FieldReader): TransactionErrorJson {
  const outer = reader.enter();
  let error: TransactionErrorJson | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.error.bincode) error = unpackTransactionError(reader.bytes());
    else if (field === fields.error.json) error = errorOfJson(reader.text());
    else reader.skip();
  }
  reader.leave(outer);
  if (error === null) throw new MalformedBytes("an error says nothing");
  return error;
}

function readReward(reader: FieldReader): Reward {
  const outer = reader.enter();
  let pubkey = "";
  let lamports = 0n;
  let postBalance = 0n;
  let type = 0;
  let commission = "";
  let commissionBps = "";
  let commissionBpsNone = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.reward.pubkey) pubkey = reader.text();
    else if (field === fields.reward.lamports) lamports = reader.i64();
    else if (field === fields.reward.postBalance) postBalance = reader.u64();
    else if (field === fields.reward.rewardType) type = reader.u32();
    else if (field === fields.reward.commission) commission = reader.text();
    else if (field === fields.reward.commissionBps) commissionBps = reader.text();
    else if (field === fields.reward.commissionBpsNone) commissionBpsNone = reader.flag();
    else reader.skip();
  }
  reader.leave(outer);
  const rewardType = fields.rewardTypes[type];
  if (rewardType === undefined) throw new MalformedBytes(`no type of reward has the number ${type}`);
  const basisPoints = wholeNumber(commissionBps);
  const reward = { pubkey, lamports, postBalance, rewardType, commission: wholeNumber(commission) };
  return basisPoints === null && !commissionBpsNone ? reward : { ...reward, commissionBps: basisPoints };
}

interface ReadAmount {
  readonly amount: bigint;
  readonly decimals: number;
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

function readAmount(reader: FieldReader): ReadAmount {
  const outer = reader.enter();
  let uiAmount = 0;
  let isZero = false;
  let decimals = 0;
  let amount = "0";
  let uiAmountString = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.uiTokenAmount.uiAmount) uiAmount = reader.f64();
    else if (field === fields.uiTokenAmount.decimals) decimals = reader.u32();
    else if (field === fields.uiTokenAmount.amount) amount = reader.text();
    else if (field === fields.uiTokenAmount.uiAmountString) uiAmountString = reader.text();
    else if (field === fields.uiTokenAmount.uiAmountZero) isZero = reader.flag();
    else reader.skip();
  }
  reader.leave(outer);
  if (decimals > 255) throw new MalformedBytes(`a mint has ${decimals} decimals`);
  const known = Number.isFinite(uiAmount) && (uiAmount !== 0 || isZero);
  return { amount: amountOf(amount), decimals, uiAmount: known ? uiAmount : null, uiAmountString };
}

function readTokenBalance(reader: FieldReader): TokenBalance {
  const outer = reader.enter();
  let accountIndex = 0;
  let mint = "";
  let owner = "";
  let programId = "";
  let read: ReadAmount | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.tokenBalance.accountIndex) accountIndex = reader.u32();
    else if (field === fields.tokenBalance.mint) mint = reader.text();
    else if (field === fields.tokenBalance.uiTokenAmount) read = readAmount(reader);
    else if (field === fields.tokenBalance.owner) owner = reader.text();
    else if (field === fields.tokenBalance.programId) programId = reader.text();
    else reader.skip();
  }
  reader.leave(outer);
  if (read === null) throw new MalformedBytes("a token balance has no amount");
  return tokenBalanceOf({ accountIndex, mint, owner: owner || null, programId: programId || null }, read);
}

/** A token balance as the model has it: what is shown is kept only where amount and decimals do not give it. */
export function tokenBalanceOf(
  account: Pick<TokenBalance, "accountIndex" | "mint" | "owner" | "programId">,
  { amount, decimals, uiAmount, uiAmountString }: ReadAmount,
): TokenBalance {
  const usual = storedAmount(amount, decimals);
  const balance = { ...account, amount, decimals };
  if (usual.uiAmount === uiAmount && usual.uiAmountString === uiAmountString) return balance;
  return { ...balance, shown: { uiAmount, uiAmountString } };
}

function readInstruction(reader: FieldReader): ExecutedInstruction {
  const outer = reader.enter();
  let programIdIndex = 0;
  let accounts = none;
  let data = none;
  let stackHeight: number | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.instruction.programIdIndex) programIdIndex = reader.u32();
    else if (field === fields.instruction.accounts) accounts = reader.bytes();
    else if (field === fields.instruction.data) data = reader.bytes();
    else if (field === fields.instruction.stackHeight) stackHeight = reader.u32();
    else reader.skip();
  }
  reader.leave(outer);
  if (data.length > instructionBytesMax) throw new MalformedBytes(`an instruction has ${data.length} bytes`);
  return { programIdIndex, accounts, data, stackHeight };
}

function readInner(reader: FieldReader): InnerInstructions {
  const outer = reader.enter();
  let index = 0;
  const instructions: ExecutedInstruction[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.innerInstructions.index) index = reader.u32();
    else if (field === fields.innerInstructions.instructions) instructions.push(readInstruction(reader));
    else reader.skip();
  }
  reader.leave(outer);
  return { index, instructions };
}

function readReturnData(reader: FieldReader): TransactionMeta["returnData"] {
  const outer = reader.enter();
  let programId = none;
  let data = none;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.returnData.programId) programId = reader.bytes();
    else if (field === fields.returnData.data) data = reader.bytes();
    else reader.skip();
  }
  reader.leave(outer);
  return { programId: address(programId), data };
}

/** What a meta is read into, field by field. */
class MetaFields {
  error: TransactionErrorJson | null = null;
  fee = 0n;
  readonly preBalances: bigint[] = [];
  readonly postBalances: bigint[] = [];
  readonly innerInstructions: InnerInstructions[] = [];
  readonly logs: string[] = [];
  readonly preTokenBalances: TokenBalance[] = [];
  readonly postTokenBalances: TokenBalance[] = [];
  readonly rewards: Reward[] = [];
  readonly writable: string[] = [];
  readonly readonly: string[] = [];
  readonly absent = new Set<number>();
  returnData: TransactionMeta["returnData"] = null;
  computeUnitsConsumed: bigint | null = null;
  costUnits: bigint | null = null;

  /** Reads the field that the reader stands before. */
  read(reader: FieldReader, field: number): void {
    switch (field) {
      case fields.meta.error:
        this.error = readError(reader);
        break;
      case fields.meta.fee:
        this.fee = reader.u64();
        break;
      case fields.meta.preBalances:
        reader.appendU64(this.preBalances);
        break;
      case fields.meta.postBalances:
        reader.appendU64(this.postBalances);
        break;
      case fields.meta.innerInstructions:
        this.innerInstructions.push(readInner(reader));
        break;
      case fields.meta.logs:
        this.logs.push(reader.text());
        break;
      case fields.meta.preTokenBalances:
        this.preTokenBalances.push(readTokenBalance(reader));
        break;
      case fields.meta.postTokenBalances:
        this.postTokenBalances.push(readTokenBalance(reader));
        break;
      case fields.meta.rewards:
        this.rewards.push(readReward(reader));
        break;
      case fields.meta.loadedWritable:
        this.writable.push(address(reader.bytes()));
        break;
      case fields.meta.loadedReadonly:
        this.readonly.push(address(reader.bytes()));
        break;
      default:
        this.#readOptional(reader, field);
    }
  }

  #readOptional(reader: FieldReader, field: number): void {
    switch (field) {
      case fields.meta.returnData:
        this.returnData = readReturnData(reader);
        break;
      case fields.meta.computeUnitsConsumed:
        this.computeUnitsConsumed = reader.u64();
        break;
      case fields.meta.costUnits:
        this.costUnits = reader.u64();
        break;
      case fields.meta.innerInstructionsNone:
      case fields.meta.logsNone:
      case fields.meta.preTokenBalancesNone:
      case fields.meta.postTokenBalancesNone:
      case fields.meta.rewardsNone:
        if (reader.flag()) this.absent.add(field);
        break;
      default:
        reader.skip();
    }
  }

  finish(): TransactionMeta {
    const { absent, rewards } = this;
    const meta = {
      error: this.error,
      fee: this.fee,
      preBalances: this.preBalances,
      postBalances: this.postBalances,
      preTokenBalances: absent.has(fields.meta.preTokenBalancesNone) ? null : this.preTokenBalances,
      postTokenBalances: absent.has(fields.meta.postTokenBalancesNone) ? null : this.postTokenBalances,
      innerInstructions: absent.has(fields.meta.innerInstructionsNone) ? null : this.innerInstructions,
      logs: absent.has(fields.meta.logsNone) ? null : this.logs,
      loadedAddresses: { writable: this.writable, readonly: this.readonly },
      returnData: this.returnData,
      computeUnitsConsumed: this.computeUnitsConsumed,
      costUnits: this.costUnits,
    };
    if (absent.has(fields.meta.rewardsNone)) return { ...meta, rewards: null };
    return rewards.length === 0 ? meta : { ...meta, rewards };
  }
}

function readMeta(reader: FieldReader): TransactionMeta {
  const outer = reader.enter();
  const meta = new MetaFields();
  for (let field = reader.next(); field !== 0; field = reader.next()) meta.read(reader, field);
  reader.leave(outer);
  return meta.finish();
}

/** The fields of `SubscribeUpdateTransactionInfo`, up to where the reader's message ends. */
function readTransactionInfo(reader: FieldReader): ConfirmedTransaction {
  let bytes: Uint8Array | null = null;
  let meta: TransactionMeta | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.transactionInfo.transaction) bytes = readTransactionFields(reader);
    else if (field === fields.transactionInfo.meta) meta = readMeta(reader);
    else reader.skip();
  }
  if (bytes === null) throw new MalformedBytes("a transaction has no message");
  return { signature: canonicalTransaction(bytes), bytes, meta };
}

/** The same, as a field of a block. */
function readTransactionOfBlock(reader: FieldReader): ConfirmedTransaction {
  const outer = reader.enter();
  const transaction = readTransactionInfo(reader);
  reader.leave(outer);
  return transaction;
}

function readBox(reader: FieldReader): bigint {
  const outer = reader.enter();
  let value = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.boxed.value) value = reader.i64();
    else reader.skip();
  }
  reader.leave(outer);
  return value;
}

interface BlockRewards {
  readonly rewards: Reward[];
  readonly partitions: bigint | null;
}

function readRewards(reader: FieldReader): BlockRewards {
  const outer = reader.enter();
  const rewards: Reward[] = [];
  let partitions: bigint | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.rewards.rewards) rewards.push(readReward(reader));
    else if (field === fields.rewards.partitions) partitions = BigInt.asUintN(64, readBox(reader));
    else reader.skip();
  }
  reader.leave(outer);
  return { rewards, partitions };
}

/**
 * Reads a block that `packBlock` or a Yellowstone server has written. Data of instructions are views of `bytes`.
 *
 * @throws {MalformedBytes} when the bytes are no such block, or one of its transactions is none that a node takes
 */
export function unpackBlock(bytes: Uint8Array): ConfirmedBlock {
  const reader = new FieldReader(bytes);
  let slot = 0n;
  let parentSlot = 0n;
  let blockhash = "";
  let previousBlockhash = "";
  let blockTime: bigint | null = null;
  let blockHeight: bigint | null = null;
  let paid: BlockRewards = { rewards: [], partitions: null };
  const transactions: ConfirmedTransaction[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.block.transactions) transactions.push(readTransactionOfBlock(reader));
    else if (field === fields.block.slot) slot = reader.u64();
    else if (field === fields.block.blockhash) blockhash = reader.text();
    else if (field === fields.block.parentSlot) parentSlot = reader.u64();
    else if (field === fields.block.parentBlockhash) previousBlockhash = reader.text();
    else if (field === fields.block.blockTime) blockTime = readBox(reader);
    else if (field === fields.block.blockHeight) blockHeight = BigInt.asUintN(64, readBox(reader));
    else if (field === fields.block.rewards) paid = readRewards(reader);
    else reader.skip();
  }
  const { rewards, partitions } = paid;
  const block = { slot, parentSlot, blockhash, previousBlockhash, blockTime, blockHeight, transactions, rewards };
  return partitions === null ? block : { ...block, rewardPartitions: partitions };
}

/**
 * Reads one transaction of a packed block: a `SubscribeUpdateTransactionInfo`. Data of instructions are views of
 * `bytes`.
 *
 * @throws {MalformedBytes} when the bytes are no such transaction
 */
export function unpackTransaction(bytes: Uint8Array): ConfirmedTransaction {
  return readTransactionInfo(new FieldReader(bytes));
}
