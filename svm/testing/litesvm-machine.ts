import { addressBytes, encodeBase58 } from "@sluice/wire/base58";
import { Account } from "litesvm/dist/internal.js";
import type { ChainAccount } from "../account.ts";
import { rentExemptEpoch } from "../account.ts";
import { executeBundle, simulateBundle } from "../bank/bundle.ts";
import type { LiteSvmOutcome } from "../bank/core.ts";
import { type CoreOutcome, type CoreTransaction, type KeyedAccount, keyAt, LiteSvmCore } from "../bank/core.ts";
import type { AccountWrite, LamportsWrite, Svm, SvmOutcome, SvmTransaction } from "../bank/svm.ts";

function chainAccount(account: Account | null): ChainAccount | null {
  if (account === null) return null;
  return {
    lamports: account.lamports(),
    data: account.data(),
    owner: encodeBase58(account.owner()),
    executable: account.executable(),
    rentEpoch: rentExemptEpoch,
  };
}

function nativeAccount(account: ChainAccount | null): Account | null {
  if (account === null) return null;
  return new Account(
    account.lamports,
    account.data,
    addressBytes(account.owner),
    account.executable,
    account.rentEpoch,
  );
}

function coreTransaction(transaction: SvmTransaction): CoreTransaction {
  const { bytes, fee, lifetimeStart, verify, movesLamportsOnly, writable, keysStart, nonceAddress } = transaction;
  const named = transaction.writablePositions.map((position) => keyAt(bytes, keysStart, position));
  return {
    bytes,
    fee,
    lifetimeStart,
    verify,
    movesLamportsOnly,
    isLegacy: transaction.version === "legacy",
    writable: [...named, ...transaction.loadedWritable],
    nonceIndex: nonceAddress === null ? -1 : writable.indexOf(nonceAddress),
  };
}

function svmOutcome(
  ran: LiteSvmOutcome,
  writes: readonly AccountWrite[],
  balances: readonly LamportsWrite[],
): SvmOutcome {
  const { included, error, logs, innerInstructions, computeUnitsConsumed, returnData } = ran;
  return { included, error, logs, innerInstructions, computeUnitsConsumed, returnData, writes, balances };
}

function keyedAccount({ address, account }: AccountWrite): KeyedAccount {
  return { key: addressBytes(address), account: nativeAccount(account) };
}

function executedOutcome({ ran, writes, balances }: CoreOutcome, transaction: SvmTransaction): SvmOutcome {
  const address = (index: number) => transaction.writable[index] ?? transaction.payer;
  return svmOutcome(
    ran,
    writes.map(({ index, account }) => ({ address: address(index), account: chainAccount(account) })),
    balances.map(({ index, lamports }) => ({ address: address(index), lamports })),
  );
}

/** One outcome for each transaction of the bundle that ran. */
function bundleOutcomes(outcomes: readonly CoreOutcome[], transactions: readonly SvmTransaction[]): SvmOutcome[] {
  return outcomes.flatMap((outcome, index) => {
    const transaction = transactions[index];
    return transaction === undefined ? [] : [executedOutcome(outcome, transaction)];
  });
}

/** LiteSVM in this process: an abort of it ends the process, and its work blocks the event loop. For tests. */
export class LiteSvmMachine implements Svm {
  readonly #core = new LiteSvmCore();
  readonly isEnded = false;
  readonly facts = { pid: null, ended: 0 };

  async genesisAccounts(): Promise<readonly AccountWrite[]> {
    return this.#core
      .genesisAccounts()
      .map(({ key, account }) => ({ address: encodeBase58(key), account: chainAccount(account) }));
  }

  async write(accounts: Iterable<AccountWrite>): Promise<void> {
    for (const { address, account } of accounts) this.#core.write(addressBytes(address), nativeAccount(account));
  }

  async rebuild(accounts: Iterable<AccountWrite>): Promise<void> {
    this.#core.beginRebuild();
    for (const write of accounts) {
      // A program that was not loaded when it was written is not loaded now either, and calls of it fail as before.
      await this.write([write]).catch((error: unknown) => console.error(error));
    }
    this.#core.endRebuild();
  }

  async execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return transactions.map((transaction) =>
      executedOutcome(this.#core.execute(coreTransaction(transaction), nextNonce), transaction),
    );
  }

  async executeBundle(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return bundleOutcomes(executeBundle(transactions.map(coreTransaction), nextNonce, this.#core), transactions);
  }

  async simulateBundle(
    transactions: readonly SvmTransaction[],
    overlay: readonly AccountWrite[],
    nextNonce: Uint8Array,
  ): Promise<readonly SvmOutcome[]> {
    const run = simulateBundle(transactions.map(coreTransaction), overlay.map(keyedAccount), nextNonce, this.#core);
    return bundleOutcomes(run, transactions);
  }

  async simulate(
    transaction: SvmTransaction,
    overlay: readonly AccountWrite[],
    _nextNonce: Uint8Array,
  ): Promise<SvmOutcome> {
    const { ran, writes } = this.#core.simulate(coreTransaction(transaction), overlay.map(keyedAccount));
    const after = writes.map(({ key, account }) => ({ address: encodeBase58(key), account: chainAccount(account) }));
    return svmOutcome(ran, after, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
