import type { ConfirmedTransaction } from "@sluice/encode";
import { isRecord, readFixtures } from "@sluice/encode/testing/fixtures";
import { rebuildTransaction } from "@sluice/encode/testing/rebuild-transaction";

export interface RealTransaction {
  readonly name: string;
  readonly executed: ConfirmedTransaction;
  /** Whether the node kept token balances. */
  readonly hasTokenBalances: boolean;
}

/** Real transactions of several clusters and years; none, with a loud word, where the data are not at hand. */
export function realTransactions(): RealTransaction[] {
  return readFixtures().map(({ name, result }) => {
    const { executed } = rebuildTransaction(result);
    const meta = isRecord(result["meta"]) ? result["meta"] : {};
    const hasTokenBalances = Array.isArray(meta["preTokenBalances"]) && Array.isArray(meta["postTokenBalances"]);
    if (hasTokenBalances || executed.meta === null) return { name, executed, hasTokenBalances };
    const withoutTokens = { ...executed.meta, preTokenBalances: null, postTokenBalances: null };
    return { name, executed: { ...executed, meta: withoutTokens }, hasTokenBalances };
  });
}
