import type { ConfirmedTransaction, TokenBalance } from "@sluice/encode";
import { isRecord, readFixtures } from "@sluice/encode/testing/fixtures";
import { rebuildTransaction } from "@sluice/encode/testing/rebuild-transaction";

export interface RealTransaction {
  readonly name: string;
  readonly executed: ConfirmedTransaction;
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: bigint | null;
  /** Whether the node kept token balances. */
  readonly hasTokenBalances: boolean;
}

/** A record of early clusters names neither owners nor token programs; its text is not one. */
function told(balances: readonly TokenBalance[] | null): readonly TokenBalance[] | null {
  const nullOf = (text: string | null) => (text === "undefined" ? null : text);
  return balances?.map((each) => ({ ...each, owner: nullOf(each.owner), programId: nullOf(each.programId) })) ?? null;
}

/** Real transactions of several clusters and years; none, with a loud word, where the data are not at hand. */
export function realTransactions(): RealTransaction[] {
  return readFixtures().map(({ name, result }) => {
    const { executed } = rebuildTransaction(result);
    const meta = isRecord(result["meta"]) ? result["meta"] : {};
    const hasTokenBalances = Array.isArray(meta["preTokenBalances"]) && Array.isArray(meta["postTokenBalances"]);
    const slot = BigInt(String(result["slot"]));
    const blockTime = typeof result["blockTime"] === "number" ? BigInt(result["blockTime"]) : null;
    const known = { name, slot, blockTime, hasTokenBalances };
    if (executed.meta === null) return { ...known, executed };
    const { preTokenBalances: before, postTokenBalances: after } = executed.meta;
    const tokens = hasTokenBalances
      ? { preTokenBalances: told(before), postTokenBalances: told(after) }
      : { preTokenBalances: null, postTokenBalances: null };
    return { ...known, executed: { ...executed, meta: { ...executed.meta, ...tokens } } };
  });
}
