import type { BundleUuidMessage, PacketMessage, TimestampMessage } from "@sluice/contract/proto";

/** A transaction as validators take it: `size` is the length that counts, and an address of nobody is no address. */
export function packetOf(data: Uint8Array): PacketMessage {
  return { data, meta: { size: String(data.length), addr: "0.0.0.0", port: 0, sender_stake: "0" } };
}

export function bundleMessage(
  bundle: { readonly id: string; readonly transactions: readonly Uint8Array[] },
  nowMs: number,
): BundleUuidMessage {
  return {
    uuid: bundle.id,
    bundle: { header: { ts: timestampOf(nowMs) }, packets: bundle.transactions.map(packetOf) },
  };
}

/** google.protobuf.Timestamp of a Unix time in milliseconds. */
export function timestampOf(unixMs: number): TimestampMessage {
  const seconds = Math.floor(unixMs / 1_000);
  return { seconds: String(seconds), nanos: Math.floor(unixMs - seconds * 1_000) * 1_000_000 };
}
