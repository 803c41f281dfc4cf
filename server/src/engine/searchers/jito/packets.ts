import { engineLimits } from "@sluice/contract/engine";
import type { BundleMessage, PacketMessage } from "@sluice/contract/proto";
import { CallFault } from "../../calls/index.ts";

/**
 * The transactions of a bundle of packets: of each the first `meta.size` bytes, or all where no size is set. Throws
 * INVALID_ARGUMENT for what is no packet: larger than one may be, or shorter than it says.
 */
export function transactionsOf(bundle: BundleMessage | null | undefined): Uint8Array[] {
  if (bundle === null || bundle === undefined) throw new CallFault("INVALID_ARGUMENT", "bundle is missing");
  return bundle.packets.map(transactionOf);
}

function transactionOf({ data, meta }: PacketMessage, index: number): Uint8Array {
  const size = BigInt(meta?.size ?? 0);
  if (size > BigInt(data.length)) {
    throw new CallFault("INVALID_ARGUMENT", `packet #${index} has ${data.length} bytes and says that it has ${size}`);
  }
  const bytes = size === 0n ? data : data.subarray(0, Number(size));
  if (bytes.length <= engineLimits.transactionBytes) return bytes;
  throw new CallFault("INVALID_ARGUMENT", `packet #${index} has more than ${engineLimits.transactionBytes} bytes`);
}
