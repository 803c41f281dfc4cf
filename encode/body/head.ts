import { MalformedBytes } from "@sluice/wire/bytes";
import * as fields from "./fields.ts";
import { FieldReader } from "./protobuf.ts";

/** What a block says of itself, read without its transactions. */
export interface BlockHead {
  readonly slot: bigint;
  readonly parentSlot: bigint;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Unix seconds. */
  readonly blockTime: bigint | null;
  readonly blockHeight: bigint | null;
  /** Of the transactions that the body holds. */
  readonly transactionCount: number;
  /** Of the transactions that the block has by its own word: more, where some were left out of the body. */
  readonly executedTransactionCount: bigint;
  /** SHA-256 over the first signatures of all transactions, in their order. */
  readonly signatureHash: Uint8Array;
}

const signatureBytes = 64;

/** The first signature of the transaction that the reader stands before. */
function readSignature(reader: FieldReader): Uint8Array {
  const outer = reader.enter();
  let signature: Uint8Array | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== fields.transactionInfo.transaction) {
      reader.skip();
      continue;
    }
    const transaction = reader.enter();
    signature = null;
    for (let inner = reader.next(); inner !== 0; inner = reader.next()) {
      if (inner === fields.transaction.signatures && signature === null) signature = reader.bytes();
      else reader.skip();
    }
    reader.leave(transaction);
  }
  reader.leave(outer);
  if (signature?.length !== signatureBytes) throw new MalformedBytes("a transaction has no signature");
  return signature;
}

function readBox(reader: FieldReader): bigint {
  const outer = reader.enter();
  let value = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.boxed.value) value = reader.u64();
    else reader.skip();
  }
  reader.leave(outer);
  return value;
}

/**
 * Reads the head of a block's body. Its transactions are looked at for their signatures alone: a body whose head can be
 * read may still be malformed.
 *
 * @throws {MalformedBytes} when the bytes are no such block
 */
export function readBlockHead(body: Uint8Array): BlockHead {
  const reader = new FieldReader(body);
  const hash = new Bun.CryptoHasher("sha256");
  let slot = 0n;
  let parentSlot = 0n;
  let blockhash = "";
  let previousBlockhash = "";
  let blockTime: bigint | null = null;
  let blockHeight: bigint | null = null;
  let transactionCount = 0;
  let executedTransactionCount = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.block.transactions) {
      hash.update(readSignature(reader));
      transactionCount++;
    } else if (field === fields.block.slot) slot = reader.u64();
    else if (field === fields.block.blockhash) blockhash = reader.text();
    else if (field === fields.block.parentSlot) parentSlot = reader.u64();
    else if (field === fields.block.parentBlockhash) previousBlockhash = reader.text();
    else if (field === fields.block.blockTime) blockTime = BigInt.asIntN(64, readBox(reader));
    else if (field === fields.block.blockHeight) blockHeight = readBox(reader);
    else if (field === fields.block.executedTransactionCount) executedTransactionCount = reader.u64();
    else reader.skip();
  }
  const counts = { transactionCount, executedTransactionCount };
  const place = { slot, parentSlot, blockhash, previousBlockhash };
  return { ...place, blockTime, blockHeight, ...counts, signatureHash: new Uint8Array(hash.digest()) };
}
