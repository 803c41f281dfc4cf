import * as bodyFields from "../body/fields.ts";
import { BackwardWriter, FieldReader } from "../body/protobuf.ts";
import { type AccountUpdate, type EntryUpdate, prefixOf, writeAccountInfo, writeEntry } from "./pack-update.ts";
import * as fields from "./update-fields.ts";

/** A block's body in parts that updates are made of: views of the body, none copied. */
export interface BlockParts {
  /** All fields but transactions, accounts, entries and the counts of these. */
  readonly head: readonly Uint8Array[];
  /** Each transaction with its tag and length, in the body's order. */
  readonly transactions: readonly Uint8Array[];
  /** As the body says; null where it does not, as one that was not made by a Yellowstone server. */
  readonly updatedAccountCount: bigint | null;
  readonly entriesCount: bigint | null;
}

const counts: ReadonlySet<number> = new Set([
  fields.block.executedTransactionCount,
  fields.block.updatedAccountCount,
  fields.block.entriesCount,
]);
const contents: ReadonlySet<number> = new Set([fields.block.accounts, fields.block.entries]);

/** @throws {MalformedBytes} when the bytes are no message */
export function blockParts(body: Uint8Array): BlockParts {
  const reader = new FieldReader(body);
  const head: Uint8Array[] = [];
  const transactions: Uint8Array[] = [];
  let updatedAccountCount: bigint | null = null;
  let entriesCount: bigint | null = null;
  for (let start = 0, field = reader.next(); field !== 0; start = reader.position, field = reader.next()) {
    if (field === fields.block.updatedAccountCount) updatedAccountCount = reader.u64();
    else if (field === fields.block.entriesCount) entriesCount = reader.u64();
    else {
      reader.skip();
      const bytes = body.subarray(start, reader.position);
      if (field === bodyFields.block.transactions) transactions.push(bytes);
      else if (!counts.has(field) && !contents.has(field)) head.push(bytes);
    }
  }
  return { head, transactions, updatedAccountCount, entriesCount };
}

/** What of a block an update shows. */
export interface ShownBlock {
  readonly head: readonly Uint8Array[];
  readonly transactions: readonly Uint8Array[];
  readonly accounts: readonly AccountUpdate[];
  readonly entries: readonly EntryUpdate[];
  readonly executedTransactionCount: number;
  readonly updatedAccountCount: bigint;
  readonly entriesCount: bigint;
}

/**
 * A block as an update, in parts that go out one after another: what blocks share is not copied.
 *
 * @throws {RangeError} when an address of an account is none
 */
export function packBlockParts(block: ShownBlock): readonly Uint8Array[] {
  const writer = new BackwardWriter(256);
  for (const entry of block.entries.toReversed()) {
    const end = writer.length;
    writeEntry(writer, entry);
    writer.close(fields.block.entries, end);
  }
  writer.u64(fields.block.entriesCount, block.entriesCount);
  for (const account of block.accounts.toReversed()) {
    const end = writer.length;
    writeAccountInfo(writer, account);
    writer.close(fields.block.accounts, end);
  }
  writer.u64(fields.block.updatedAccountCount, block.updatedAccountCount);
  writer.u32(fields.block.executedTransactionCount, block.executedTransactionCount);
  const rest = [...block.head, ...block.transactions, writer.finish()];
  const length = rest.reduce((total, part) => total + part.length, 0);
  return [prefixOf(fields.update.block, length), ...rest];
}
