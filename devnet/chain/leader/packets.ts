import type { PacketMessage } from "@sluice/contract/proto";
import type { BundlePacket } from "../bank/index.ts";

/** A packet's buffer. Source: jito-solana, PACKET_DATA_SIZE with v1 transactions. */
const PACKET_BYTES_MAX = 4_096;

/**
 * A packet as a validator takes it from a block engine: `meta.size` is how much of the data counts. One that is longer
 * than a buffer, or says more than it brings, is discarded; what the wire says of discarding is not heard. Without a
 * meta its size is 0, as it is for a validator.
 */
export function readPacket({ data, meta }: PacketMessage): BundlePacket {
  const size = BigInt(meta?.size ?? 0);
  if (data.length > PACKET_BYTES_MAX || size > BigInt(data.length)) return { data, isDiscarded: true };
  return { data: data.subarray(0, Number(size)), isDiscarded: false };
}
