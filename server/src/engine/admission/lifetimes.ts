import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import type { AdmissionChain } from "./interfaces.ts";
import { type Rejection, rejection } from "./read-transactions.ts";

const advanceNonce = 4;

/** Whether a transaction begins as a durable one does. Whether its nonce is the present one is seen when it is run. */
function advancesNonce({ message }: Transaction): boolean {
  const [first] = message.instructions;
  if (first === undefined || first.data.length < 4) return false;
  if (new DataView(first.data.buffer, first.data.byteOffset).getUint32(0, true) !== advanceNonce) return false;
  return message.address(first.programIndex) === programs.system;
}

/**
 * Whether every transaction may land at this moment. The block height is the least of those at which one of them stops
 * being valid, null where all are durable.
 */
export async function checkLifetimes(
  transactions: readonly Transaction[],
  chain: Pick<AdmissionChain, "blockhash">,
): Promise<{ readonly ok: true; readonly lastValidBlockHeight: bigint | null } | Rejection> {
  const lifetimes = await Promise.all(transactions.map(({ message }) => chain.blockhash(message.blockhash)));
  let least: bigint | null = null;
  for (const [index, transaction] of transactions.entries()) {
    const lifetime = lifetimes[index];
    if (lifetime?.valid === true) {
      const height = lifetime.lastValidBlockHeight;
      if (least === null || height < least) least = height;
    } else if (!advancesNonce(transaction)) {
      return rejection("blockhash_expired", `transaction ${index}`);
    }
  }
  return { ok: true, lastValidBlockHeight: least };
}
