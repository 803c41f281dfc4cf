import { createHash } from "node:crypto";
import { packTransaction, writableKeys } from "@sluice/encode";
import {
  type AccountUpdate,
  type EntryUpdate,
  packAccount,
  packBlockMeta,
  packBlockUpdate,
  packEntry,
  packStatus,
  packTransactionUpdate,
} from "@sluice/encode/updates";
import type { FilteredAccount, FilteredTransaction, SlotContent } from "@sluice/geyser";
import { addressBytes, decodeSignature } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { parseTransaction } from "@sluice/wire/transaction";
import {
  type BankSlot,
  type Block,
  type ChainAccount,
  type Commitment,
  confirmedBlock,
  type ExecutedTransaction,
} from "../model/index.ts";

/** All that streams may be told of a slot; its accounts have the state at the slot's end. */
export interface SlotRecord extends SlotContent {
  readonly slot: bigint;
  readonly parent: bigint;
  /** The commitments that it has reached. */
  readonly reached: Set<Commitment>;
}

/** What a record of a slot is made from. */
interface SlotSource {
  readonly bank: BankSlot;
  readonly block: Block;
  /** Accounts that were written, and what each is at the end of the slot; null is one that is gone. */
  readonly written: Iterable<readonly [address: string, account: ChainAccount | null]>;
  readonly nextWriteVersion: () => bigint;
}

/** Transactions of an entry; a leader makes an entry of each batch that it has run. */
const entryTransactionsMax = 64;

/** With the accounts that it could write. */
function recorded(executed: ExecutedTransaction, slot: bigint): FilteredTransaction & { writes: string[] } {
  const parsed = parseTransaction(executed.bytes);
  if (!parsed.ok) throw new TypeError(`a recorded transaction is not canonical: ${parsed.fault}`);
  const { message } = parsed.transaction;
  const { writable, readonly } = executed.loadedAddresses;
  const names = [...message.staticAddresses, ...writable, ...readonly];
  const locks = writableKeys(message, names);
  // One that failed has paid its fee, and nothing else that it did stays.
  const writes = executed.error === null ? names.filter((_, index) => locks[index]) : names.slice(0, 1);
  const packed = packTransaction(
    { signature: executed.signature, bytes: executed.bytes, meta: executed },
    executed.index,
  );
  const { signature, isVote, index, error, preTokenBalances, postTokenBalances } = executed;
  return {
    signature,
    isVote,
    failed: error !== null,
    keys: new Set(names),
    preTokenBalances,
    postTokenBalances,
    writes,
    packed,
    asTransaction: [packTransactionUpdate(slot, packed)],
    asStatus: [packStatus({ slot, signature: signatureBytes(executed), isVote, index, error })],
  };
}

function signatureBytes({ signature }: Pick<ExecutedTransaction, "signature">): Uint8Array {
  return decodeSignature(signature) ?? new Uint8Array(64);
}

/** This chain has no proof of history: its entries are batches of transactions, and a last, which is the blockhash. */
function entriesOf(block: Block): EntryUpdate[] {
  const entries: EntryUpdate[] = [];
  let hash = addressBytes(block.previousBlockhash);
  for (let start = 0; start < block.transactions.length; start += entryTransactionsMax) {
    const batch = block.transactions.slice(start, start + entryTransactionsMax);
    const next = createHash("sha256").update(hash);
    for (const executed of batch) next.update(signatureBytes(executed));
    hash = new Uint8Array(next.digest());
    entries.push({
      slot: block.slot,
      index: entries.length,
      hashCount: 1,
      hash,
      executedTransactionCount: batch.length,
      startingTransactionIndex: start,
    });
  }
  const last = { executedTransactionCount: 0, startingTransactionIndex: block.transactions.length };
  return [
    ...entries,
    { slot: block.slot, index: entries.length, hashCount: 1, hash: addressBytes(block.blockhash), ...last },
  ];
}

/** What nodes show of an account that is gone. */
const closed: ChainAccount = {
  lamports: 0n,
  data: new Uint8Array(0),
  owner: programs.system,
  executable: false,
  rentEpoch: 0n,
};

export function recordSlot({ bank, block, written, nextWriteVersion }: SlotSource): SlotRecord {
  const { slot, parent } = bank;
  const transactions = block.transactions.map((executed) => recorded(executed, slot));
  const writers = new Map<string, Uint8Array>();
  for (const { writes, ...executed } of transactions) {
    const signature = signatureBytes(executed);
    for (const address of writes) writers.set(address, signature);
  }
  const accounts = Array.from(written, ([address, account]): FilteredAccount => {
    const update: AccountUpdate = {
      slot,
      address,
      account: account ?? closed,
      writeVersion: nextWriteVersion(),
      signature: writers.get(address) ?? null,
    };
    return { update, packed: packAccount(update) };
  });
  const entries = entriesOf(block).map((update) => ({ update, packed: packEntry(update) }));
  const model = confirmedBlock(block);
  const counts = { executedTransactionCount: transactions.length, entriesCount: entries.length };
  return {
    slot,
    parent,
    transactions,
    accounts,
    entries,
    packedMeta: packBlockMeta({ block: model, ...counts }),
    packBlock: (selection) => {
      const shown = selection.transactions.map(({ packed }) => packed);
      const shownEntries = selection.entries.map(({ update }) => update);
      const content = { transactions: shown, accounts: selection.accounts, entries: shownEntries };
      return [packBlockUpdate({ block: model, ...content, ...counts, updatedAccountCount: accounts.length })];
    },
    reached: new Set(),
  };
}
