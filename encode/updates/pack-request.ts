import { BackwardWriter } from "../body/protobuf.ts";

/** Numbers of geyser.SubscribeRequest and of what lies in it. */
const request = { slots: 2, blocks: 4, commitment: 6, ping: 9, fromSlot: 11 } as const;
const entry = { key: 1, value: 2 } as const;
const blocks = { includeTransactions: 2, includeAccounts: 3, includeEntries: 4 } as const;
const confirmed = 1;

const requestBytesTypical = 64;

function writeFilter(writer: BackwardWriter, field: number, write: () => void): void {
  const end = writer.length;
  write();
  writer.close(entry.value, end);
  writer.text(entry.key, "all");
  writer.close(field, end);
}

/**
 * Asks for every confirmed block with its transactions and without accounts and entries, and for the statuses of all
 * slots.
 *
 * @param fromSlot - the first slot to repeat; null begins with what comes
 */
export function packBlocksRequest(fromSlot: bigint | null): Uint8Array {
  const writer = new BackwardWriter(requestBytesTypical);
  if (fromSlot !== null) writer.explicitU64(request.fromSlot, fromSlot);
  writer.u32(request.commitment, confirmed);
  writeFilter(writer, request.blocks, () => {
    writer.explicitU32(blocks.includeEntries, 0);
    writer.explicitU32(blocks.includeAccounts, 0);
    writer.explicitU32(blocks.includeTransactions, 1);
  });
  writeFilter(writer, request.slots, () => {});
  return writer.finish();
}

/** A sign of life, which leaves the filters as they are and is answered with a pong. */
export function packPingRequest(id: number): Uint8Array {
  const writer = new BackwardWriter(requestBytesTypical);
  writer.u32(1, id);
  writer.close(request.ping, 0);
  return writer.finish();
}
