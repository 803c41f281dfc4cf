import type { Transaction } from "@sluice/wire/transaction";
import type { ManualChain } from "../../../../../devnet/chain/testing/chain.ts";
import { tipAccounts } from "./chain-harness.ts";

/** The outcome of transactions that ran in order on the chain, in the form of a bundle's outcome. */
export function describeLanded({ chain }: ManualChain, transactions: readonly Transaction[]): string {
  let [tip, units, fees] = [0n, 0n, 0n];
  const writes = new Set<string>();
  for (const [index, transaction] of transactions.entries()) {
    const recorded = chain.history.transaction(transaction.id);
    if (recorded === null) return `not landed ${index}`;
    const { executed, keys, writable } = recorded;
    const { error } = executed;
    if (error !== null) {
      return `simulation_failed ${index} ${typeof error === "string" ? error : JSON.stringify(error)}`;
    }
    units += executed.computeUnitsConsumed;
    fees += executed.fee;
    keys.forEach((key, position) => {
      if (!writable[position]) return;
      writes.add(key);
      const counts = position < transaction.message.staticKeyCount && tipAccounts.some((address) => address === key);
      if (counts) tip += (executed.postBalances[position] ?? 0n) - (executed.preBalances[position] ?? 0n);
    });
  }
  return `ok tip=${tip} units=${units} fees=${fees} writes=${[...writes].toSorted()}`;
}
