import { MalformedBytes } from "@sluice/wire/bytes";
import * as fields from "./fields.ts";
import { packBlock } from "./pack.ts";
import { BackwardWriter, FieldReader } from "./protobuf.ts";
import { unpackBlock } from "./unpack.ts";

function indexOf(info: Uint8Array): bigint {
  const reader = new FieldReader(info);
  let index = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.transactionInfo.index) index = reader.u64();
    else reader.skip();
  }
  return index;
}

/**
 * A body with its transactions in the order of their places in the block, which is the order of the bytes where this
 * gives the body back as it is.
 *
 * @throws {MalformedBytes} when the bytes are no block, or a place is taken twice or by nobody
 */
export function orderedBody(body: Uint8Array): Uint8Array {
  const reader = new FieldReader(body);
  const infos: { readonly index: bigint; readonly info: Uint8Array }[] = [];
  let isOrdered = true;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== fields.block.transactions) {
      reader.skip();
      continue;
    }
    const info = reader.bytes();
    const index = indexOf(info);
    isOrdered &&= index === BigInt(infos.length);
    infos.push({ index, info });
  }
  if (isOrdered) return body;
  infos.sort((left, right) => (left.index < right.index ? -1 : 1));
  const writer = new BackwardWriter(body.length + 1024);
  for (const [place, { index }] of infos.entries()) {
    if (index !== BigInt(place)) throw new MalformedBytes("a transaction of a block is missing or there twice");
  }
  for (const { info } of infos.toReversed()) writer.explicitBytes(fields.block.transactions, info);
  writer.u32(fields.block.executedTransactionCount, infos.length);
  writer.raw(packBlock({ ...unpackBlock(body), transactions: [] }));
  return writer.finish();
}
