import type { ChainAccount, TransactionErrorJson } from "@sluice/svm";
import { addressBytes } from "@sluice/wire/base58";
import * as bodyFields from "../body/fields.ts";
import { packBlock } from "../body/pack.ts";
import { BackwardWriter, FieldReader } from "../body/protobuf.ts";
import { packTransactionError } from "../body/transaction-error.ts";
import type { ConfirmedBlock } from "../model.ts";
import * as fields from "./update-fields.ts";

/** What an account is as of a slot. */
export interface AccountUpdate {
  readonly slot: bigint;
  readonly address: string;
  readonly account: ChainAccount;
  /** Orders the writes of one node. */
  readonly writeVersion: bigint;
  /** Of the transaction that wrote it, 64 bytes; null when none did. */
  readonly signature: Uint8Array | null;
}

export interface SlotUpdate {
  readonly slot: bigint;
  readonly parent: bigint | null;
  readonly status: fields.SlotStatus;
  /** With `dead` alone. */
  readonly deadError?: string;
}

export interface StatusUpdate {
  readonly slot: bigint;
  readonly signature: Uint8Array;
  readonly isVote: boolean;
  readonly index: number;
  readonly error: TransactionErrorJson | null;
}

export interface EntryUpdate {
  readonly slot: bigint;
  readonly index: number;
  readonly hashCount: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly executedTransactionCount: number;
  readonly startingTransactionIndex: number;
}

export interface BlockMetaUpdate {
  /** Its transactions are not looked at. */
  readonly block: ConfirmedBlock;
  readonly executedTransactionCount: number;
  readonly entriesCount: number;
}

export interface BlockUpdate extends BlockMetaUpdate {
  readonly updatedAccountCount: number;
  /** What `packTransaction` has given for those that are shown. */
  readonly transactions: readonly Uint8Array[];
  readonly accounts: readonly AccountUpdate[];
  readonly entries: readonly EntryUpdate[];
}

/** Bytes of a small message, about: where its buffer begins. */
const messageBytesTypical = 256;

function written(write: (writer: BackwardWriter) => void, capacity = messageBytesTypical): Uint8Array {
  const writer = new BackwardWriter(capacity);
  write(writer);
  return writer.finish();
}

/** A message as one kind of update; the kinds are told apart by their field. */
function asUpdate(field: number, write: (writer: BackwardWriter) => void, capacity?: number): Uint8Array {
  return written((writer) => {
    write(writer);
    writer.close(field, 0);
  }, capacity);
}

/** @internal */
export function writeAccountInfo(writer: BackwardWriter, update: AccountUpdate): void {
  const { lamports, owner, executable, rentEpoch, data } = update.account;
  if (update.signature !== null) writer.bytes(fields.accountInfo.signature, update.signature);
  writer.u64(fields.accountInfo.writeVersion, update.writeVersion);
  writer.bytes(fields.accountInfo.data, data);
  writer.u64(fields.accountInfo.rentEpoch, rentEpoch);
  writer.flag(fields.accountInfo.executable, executable);
  writer.bytes(fields.accountInfo.owner, addressBytes(owner));
  writer.u64(fields.accountInfo.lamports, lamports);
  writer.bytes(fields.accountInfo.pubkey, addressBytes(update.address));
}

/** @throws {RangeError} when an address is none */
export function packAccount(update: AccountUpdate): Uint8Array {
  const capacity = messageBytesTypical + update.account.data.length;
  return asUpdate(
    fields.update.account,
    (writer) => {
      writer.u64(fields.account.slot, update.slot);
      const end = writer.length;
      writeAccountInfo(writer, update);
      writer.close(fields.account.account, end);
    },
    capacity,
  );
}

export function packSlot({ slot, parent, status, deadError }: SlotUpdate): Uint8Array {
  return asUpdate(fields.update.slot, (writer) => {
    if (deadError !== undefined) writer.explicitText(fields.slot.deadError, deadError);
    writer.u32(fields.slot.status, fields.slotStatuses.indexOf(status));
    if (parent !== null) writer.explicitU64(fields.slot.parent, parent);
    writer.u64(fields.slot.slot, slot);
  });
}

/** @param packed - what `packTransaction` has given */
export function packTransactionUpdate(slot: bigint, packed: Uint8Array): Uint8Array {
  return asUpdate(
    fields.update.transaction,
    (writer) => {
      writer.u64(fields.transaction.slot, slot);
      writer.explicitBytes(fields.transaction.transaction, packed);
    },
    messageBytesTypical + packed.length,
  );
}

/**
 * The same in parts that go out one after another, the transaction as it is.
 *
 * @param packed - what `packTransaction` has given
 */
export function packTransactionParts(slot: bigint, packed: Uint8Array): readonly Uint8Array[] {
  const rest = written((writer) => writer.u64(fields.transaction.slot, slot));
  const inner = prefixOf(fields.transaction.transaction, packed.length);
  const outer = prefixOf(fields.update.transaction, inner.length + packed.length + rest.length);
  return [Buffer.concat([outer, inner]), packed, rest];
}

/** @internal The tag and the length that stand before a message inside another. */
export function prefixOf(field: number, length: number): Uint8Array {
  const bytes = [(field << 3) | 2];
  for (let rest = length; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.of(...bytes, rest);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

export function packStatus({ slot, signature, isVote, index, error }: StatusUpdate): Uint8Array {
  return asUpdate(fields.update.status, (writer) => {
    if (error !== null) {
      const end = writer.length;
      writer.bytes(bodyFields.error.bincode, packTransactionError(error) ?? []);
      writer.close(fields.status.error, end);
    }
    writer.u32(fields.status.index, index);
    writer.flag(fields.status.isVote, isVote);
    writer.bytes(fields.status.signature, signature);
    writer.u64(fields.status.slot, slot);
  });
}

/** @internal */
export function writeEntry(writer: BackwardWriter, entry: EntryUpdate): void {
  writer.u32(fields.entry.startingTransactionIndex, entry.startingTransactionIndex);
  writer.u32(fields.entry.executedTransactionCount, entry.executedTransactionCount);
  writer.bytes(fields.entry.hash, entry.hash);
  writer.u32(fields.entry.hashCount, entry.hashCount);
  writer.u32(fields.entry.index, entry.index);
  writer.u64(fields.entry.slot, entry.slot);
}

export function packEntry(entry: EntryUpdate): Uint8Array {
  return asUpdate(fields.update.entry, (writer) => writeEntry(writer, entry));
}

export function packBlockMeta({ block, executedTransactionCount, entriesCount }: BlockMetaUpdate): Uint8Array {
  const head = new FieldReader(packBlock({ ...block, transactions: [] }));
  // Rewards, time and height have the same form and the same numbers in both messages.
  const shared = new Map<number, Uint8Array>();
  for (let field = head.next(); field !== 0; field = head.next()) {
    if (field >= bodyFields.block.rewards && field <= bodyFields.block.blockHeight) shared.set(field, head.bytes());
    else head.skip();
  }
  return asUpdate(fields.update.blockMeta, (writer) => {
    writer.u32(fields.blockMeta.entriesCount, entriesCount);
    writer.u32(fields.blockMeta.executedTransactionCount, executedTransactionCount);
    writer.text(fields.blockMeta.parentBlockhash, block.previousBlockhash);
    writer.u64(fields.blockMeta.parentSlot, block.parentSlot);
    for (const field of [fields.blockMeta.blockHeight, fields.blockMeta.blockTime, fields.blockMeta.rewards]) {
      const content = shared.get(field);
      if (content !== undefined) writer.explicitBytes(field, content);
    }
    writer.text(fields.blockMeta.blockhash, block.blockhash);
    writer.u64(fields.blockMeta.slot, block.slot);
  });
}

/** @throws {RangeError} when an address of the block is none */
export function packBlockUpdate(update: BlockUpdate): Uint8Array {
  const { block, transactions, accounts, entries } = update;
  const head = packBlock({ ...block, transactions: [] });
  const inside = transactions.reduce((total, { length }) => total + length + 8, 0);
  const data = accounts.reduce((total, { account }) => total + account.data.length + messageBytesTypical, 0);
  return asUpdate(
    fields.update.block,
    (writer) => {
      for (const entry of entries.toReversed()) {
        const end = writer.length;
        writeEntry(writer, entry);
        writer.close(fields.block.entries, end);
      }
      writer.u32(fields.block.entriesCount, update.entriesCount);
      for (const account of accounts.toReversed()) {
        const end = writer.length;
        writeAccountInfo(writer, account);
        writer.close(fields.block.accounts, end);
      }
      writer.u32(fields.block.updatedAccountCount, update.updatedAccountCount);
      writer.u32(fields.block.executedTransactionCount, update.executedTransactionCount);
      for (const packed of transactions.toReversed()) {
        writer.explicitBytes(bodyFields.block.transactions, packed);
      }
      writer.raw(head);
    },
    messageBytesTypical + head.length + inside + data,
  );
}

export function packPing(): Uint8Array {
  return asUpdate(fields.update.ping, () => {});
}

export function packPong(id: number): Uint8Array {
  // A negative id is ten bytes long, as proto3 has it.
  return asUpdate(fields.update.pong, (writer) => writer.u64(fields.pong.id, BigInt(id)));
}

/** The names of filters, as an update begins with them. */
export function packNames(filters: readonly string[]): Uint8Array {
  return written((writer) => {
    for (const name of filters.toReversed()) writer.explicitText(fields.update.filters, name);
  });
}

/**
 * When an update was made, as it ends with it.
 *
 * @param createdAtMs - Unix milliseconds
 */
export function packCreatedAt(createdAtMs: number): Uint8Array {
  return written((writer) => {
    writer.u32(fields.timestamp.nanos, Math.floor(createdAtMs % 1_000) * 1_000_000);
    writer.u64(fields.timestamp.seconds, BigInt(Math.floor(createdAtMs / 1_000)));
    writer.close(fields.update.createdAt, 0);
  });
}

/**
 * A whole update: the names of the filters that it matched, what one of the functions above has given, and the time.
 *
 * @param createdAtMs - Unix milliseconds
 */
export function packUpdate(filters: readonly string[], content: Uint8Array, createdAtMs: number): Uint8Array {
  return new Uint8Array(Buffer.concat([packNames(filters), content, packCreatedAt(createdAtMs)]));
}
