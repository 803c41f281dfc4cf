import { decodeBase58, encodeBase58, programs, sysvars } from "@sluice/wire";
import {
  Account,
  FailedTransactionMetadata,
  InstructionErrorCustom,
  LiteSvm,
  SimulatedTransactionInfo,
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
  TransactionErrorProgramExecutionTemporarilyRestricted,
  type TransactionMetadata,
} from "litesvm/dist/internal.js";
import type { ChainAccount, TransactionErrorJson } from "../model.ts";
import { durableNonce } from "./durable-nonce.ts";
import { instructionErrorName, transactionErrorName } from "./errors.ts";
import type { AccountWrite, Svm, SvmOutcome, SvmTransaction } from "./svm.ts";

/** What a real node writes for every account that pays no rent, which is every account today. */
const RENT_EXEMPT_EPOCH = 0xffff_ffff_ffff_ffffn;
const NONCE_BYTES = 80;
const NONCE_OFFSET = 40;

/** Owners whose accounts LiteSVM brings along. It can list accounts by owner only. */
const GENESIS_OWNERS = [
  programs.nativeLoader,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
  programs.bpfLoaderUpgradeable,
  sysvars.owner,
  programs.featureGate,
  programs.config,
  programs.token,
  programs.token2022,
  programs.system,
];

function keyBytes(address: string): Uint8Array {
  const bytes = decodeBase58(address);
  if (bytes === null || bytes.length !== 32) throw new Error(`not an address: ${address}`);
  return bytes;
}

function chainAccount(account: Account): ChainAccount {
  return {
    lamports: account.lamports(),
    data: account.data(),
    owner: encodeBase58(account.owner()),
    executable: account.executable(),
    rentEpoch: RENT_EXEMPT_EPOCH,
  };
}

function nativeAccount(account: ChainAccount | null): Account {
  if (account === null) return new Account(0n, new Uint8Array(), keyBytes(programs.system), false, 0n);
  return new Account(account.lamports, account.data, keyBytes(account.owner), account.executable, account.rentEpoch);
}

function errorJson(failed: FailedTransactionMetadata): TransactionErrorJson {
  const error = failed.err();
  if (typeof error === "number") return transactionErrorName(error);
  if (error instanceof TransactionErrorInstructionError) {
    const inner = error.err();
    if (typeof inner === "number") return { InstructionError: [error.index, instructionErrorName(inner)] };
    if (inner instanceof InstructionErrorCustom) return { InstructionError: [error.index, { Custom: inner.code }] };
    return { InstructionError: [error.index, "BorshIoError"] };
  }
  if (error instanceof TransactionErrorDuplicateInstruction) return { DuplicateInstruction: error.index };
  if (error instanceof TransactionErrorInsufficientFundsForRent) {
    return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  }
  if (error instanceof TransactionErrorProgramExecutionTemporarilyRestricted) {
    return { ProgramExecutionTemporarilyRestricted: { account_index: error.accountIndex } };
  }
  return "SanitizeFailure";
}

function innerInstructions(meta: TransactionMetadata): SvmOutcome["innerInstructions"] {
  const groups = meta.innerInstructions().map((group, index) => ({
    index,
    instructions: group.map((inner) => {
      const instruction = inner.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: new Uint8Array(instruction.data()),
        stackHeight: inner.stackHeight(),
      };
    }),
  }));
  return groups.filter((group) => group.instructions.length > 0);
}

function returnData(meta: TransactionMetadata): SvmOutcome["returnData"] {
  const returned = meta.returnData();
  const data = returned.data();
  return data.length === 0 ? null : { programId: encodeBase58(returned.programId()), data: new Uint8Array(data) };
}

/** LiteSVM leaves the signature zero when it refused a transaction before running it. */
function wasRun(meta: TransactionMetadata): boolean {
  return meta.signature().some((byte) => byte !== 0);
}

function outcome(
  result: TransactionMetadata | FailedTransactionMetadata,
): Omit<SvmOutcome, "writes"> & { feesOnly: boolean } {
  const failed = result instanceof FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  const error = failed ? errorJson(result) : null;
  const feesOnly = error === "InvalidProgramForExecution" || error === "ProgramAccountNotFound";
  return {
    included: !failed || feesOnly || wasRun(meta),
    feesOnly,
    error,
    logs: meta.logs(),
    innerInstructions: innerInstructions(meta),
    computeUnitsConsumed: meta.computeUnitsConsumed(),
    returnData: returnData(meta),
  };
}

/**
 * LiteSVM in this process. Signatures, blockhash age and duplicates are the bank's business, so its own checks are off.
 * Three rules of the real runtime that it lacks are added: transactions whose program cannot be loaded pay their fee, a
 * failed transaction still advances its nonce, and a nonce takes its value from the bank's last blockhash.
 */
export class LiteSvmMachine implements Svm {
  readonly #native: LiteSvm;

  constructor() {
    this.#native = new LiteSvm();
    this.#native.setSigverify(false);
    this.#native.setBlockhashCheck(false);
    this.#native.setTransactionHistory(0n);
    this.#native.withNativeMints();
  }

  async genesisAccounts(): Promise<readonly AccountWrite[]> {
    const writes: AccountWrite[] = [];
    for (const owner of GENESIS_OWNERS) {
      for (const listed of this.#native.getProgramAccounts(keyBytes(owner))) {
        writes.push({ address: encodeBase58(listed.address), account: chainAccount(listed.account()) });
      }
    }
    return writes;
  }

  async write(accounts: readonly AccountWrite[]): Promise<void> {
    for (const { address, account } of accounts) this.#native.setAccount(keyBytes(address), nativeAccount(account));
  }

  async execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return transactions.map((transaction) => this.#execute(transaction, nextNonce));
  }

  async simulate(
    transaction: SvmTransaction,
    overlay: readonly AccountWrite[],
    _nextNonce: Uint8Array,
  ): Promise<SvmOutcome> {
    const newest = overlay.map(
      ({ address }) => [keyBytes(address), this.#native.getAccount(keyBytes(address))] as const,
    );
    await this.write(overlay);
    try {
      return this.#simulate(transaction);
    } finally {
      for (const [key, account] of newest) this.#native.setAccount(key, account ?? nativeAccount(null));
    }
  }

  #simulate(transaction: SvmTransaction): SvmOutcome {
    const native = this.#native;
    const { bytes } = transaction;
    const result =
      transaction.version === "legacy"
        ? native.simulateLegacyTransaction(bytes)
        : native.simulateVersionedTransaction(bytes);
    if (result instanceof SimulatedTransactionInfo) {
      const writes = result.postAccounts().map((listed) => {
        const account = chainAccount(listed.account());
        return { address: encodeBase58(listed.address), account: account.lamports === 0n ? null : account };
      });
      return { ...outcome(result.meta()), writes };
    }
    return { ...outcome(result), writes: [] };
  }

  #execute(transaction: SvmTransaction, nextNonce: Uint8Array): SvmOutcome {
    const native = this.#native;
    const { bytes } = transaction;
    const result =
      transaction.version === "legacy" ? native.sendLegacyTransaction(bytes) : native.sendVersionedTransaction(bytes);
    const ran = outcome(result);
    if (!ran.included) return { ...ran, writes: [] };
    if (ran.feesOnly && !this.#chargeFee(transaction)) {
      return { ...ran, included: false, error: "InsufficientFundsForFee", writes: [] };
    }
    if (ran.error !== null && transaction.nonceAddress !== null) this.#setNonce(transaction.nonceAddress, nextNonce);
    const written =
      ran.error === null
        ? transaction.writable
        : [transaction.payer, ...(transaction.nonceAddress === null ? [] : [transaction.nonceAddress])];
    const writes = written.map((address) => this.#read(address));
    if (ran.error === null) this.#correctNonces(writes, durableNonce(transaction.lifetime), nextNonce);
    return { ...ran, writes };
  }

  #read(address: string): { address: string; account: ChainAccount | null } {
    const account = this.#native.getAccount(keyBytes(address));
    return { address, account: account === null || account.lamports() === 0n ? null : chainAccount(account) };
  }

  #chargeFee(transaction: SvmTransaction): boolean {
    const { account } = this.#read(transaction.payer);
    if (account === null || account.lamports < transaction.fee) return false;
    const rest = { ...account, lamports: account.lamports - transaction.fee };
    this.#native.setAccount(keyBytes(transaction.payer), nativeAccount(rest.lamports === 0n ? null : rest));
    return true;
  }

  #setNonce(address: string, value: Uint8Array): void {
    const { account } = this.#read(address);
    if (account === null || account.data.length !== NONCE_BYTES) return;
    const data = new Uint8Array(account.data);
    data.set(value, NONCE_OFFSET);
    this.#native.setAccount(keyBytes(address), nativeAccount({ ...account, data }));
  }

  /** LiteSVM derives a nonce from the transaction's own lifetime; the runtime derives it from the bank's last blockhash. */
  #correctNonces(
    writes: { address: string; account: ChainAccount | null }[],
    found: Uint8Array,
    right: Uint8Array,
  ): void {
    for (const write of writes) {
      const { account } = write;
      if (account === null || account.data.length !== NONCE_BYTES || account.owner !== programs.system) continue;
      if (Buffer.compare(account.data.subarray(NONCE_OFFSET, NONCE_OFFSET + 32), found) !== 0) continue;
      this.#setNonce(write.address, right);
      write.account = this.#read(write.address).account;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
