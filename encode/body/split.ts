import * as fields from "./fields.ts";
import { FieldReader } from "./protobuf.ts";

/** A body in parts that are kept apart: together they say what the body said. */
export interface SplitBody {
  /** The block without its transactions, which `unpackBlock` reads as a block that has none. */
  readonly head: Uint8Array;
  /** The transactions in their order, each as `unpackTransaction` reads it; views of the body. */
  readonly transactions: readonly Uint8Array[];
}

/** The fields that `unpackBlock` reads besides transactions. */
const headFields: ReadonlySet<number> = new Set([
  fields.block.slot,
  fields.block.blockhash,
  fields.block.rewards,
  fields.block.blockTime,
  fields.block.blockHeight,
  fields.block.parentSlot,
  fields.block.parentBlockhash,
]);

/**
 * Takes a block's body apart without reading its transactions. Accounts and entries, which Yellowstone servers may add,
 * are left out.
 *
 * @throws {MalformedBytes} when the bytes are no message
 */
export function splitBody(body: Uint8Array): SplitBody {
  const reader = new FieldReader(body);
  const head: Uint8Array[] = [];
  const transactions: Uint8Array[] = [];
  for (let start = 0, field = reader.next(); field !== 0; start = reader.position, field = reader.next()) {
    if (field === fields.block.transactions) transactions.push(reader.bytes());
    else {
      reader.skip();
      if (headFields.has(field)) head.push(body.subarray(start, reader.position));
    }
  }
  return { head: Buffer.concat(head), transactions };
}
