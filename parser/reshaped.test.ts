/** Real transactions in forms in which nodes of other years, and other builders, give the same. */
import { expect, test } from "bun:test";
import type { ConfirmedTransaction, TransactionMeta } from "@sluice/encode";
import { recordText } from "./enhanced/exact-decimal.ts";
import { enhancedRecord } from "./enhanced/record.ts";
import { parseTransaction } from "./parse.ts";
import { realTransactions } from "./testing/fixtures.ts";
import { withLookupTable } from "./testing/reshaped.ts";
import { TransactionView } from "./transaction-view.ts";

const transactions = realTransactions();
const parsed = (executed: ConfirmedTransaction) => parseTransaction(new TransactionView(executed));
const kindOf = (executed: ConfirmedTransaction): string => {
  const { type, source } = parsed(executed);
  return `${type} ${source}`;
};
const withMeta = (executed: ConfirmedTransaction, changes: Partial<TransactionMeta>): ConfirmedTransaction => ({
  ...executed,
  meta: executed.meta === null ? null : { ...executed.meta, ...changes },
});

/** All of the record but what stands in the order of the keys. */
function told(executed: ConfirmedTransaction): unknown {
  const view = new TransactionView(executed);
  const place = { slot: 1n, blockTime: null };
  const { accountData, ...record } = JSON.parse(recordText(enhancedRecord(view, parseTransaction(view), { place })));
  const changes: { account: string }[] = accountData;
  return { ...record, accountData: changes.toSorted((one, other) => (one.account < other.account ? -1 : 1)) };
}

for (const { name, executed } of transactions) {
  const loading = withLookupTable(executed);
  if (loading === null) continue;
  test(`${name}: is told the same where its accounts come from a lookup table`, () => {
    expect(new TransactionView(loading).message.staticKeyCount).toBeLessThan(new TransactionView(loading).keys.length);
    expect(told(loading)).toEqual(told(executed));
  });
}

test("a transaction that failed has the type that it attempted, and moved nothing", () => {
  for (const { name, executed } of transactions) {
    const failed = withMeta(executed, { error: { InstructionError: [0, { Custom: 1 }] } });
    const { movements, swap } = parsed(failed);
    expect([name, kindOf(failed)]).toEqual([name, kindOf(executed)]);
    expect([movements, swap?.input ?? null, swap?.output ?? null]).toEqual([{ native: [], tokens: [] }, null, null]);
  }
});

/** What stands in the calls of a bot alone is named after the bot where these were not kept. */
const namedByInnerCalls = "SWAP pump_fun";

test("where a node kept no inner calls, or no meta at all, outer calls and balances decide the same", () => {
  for (const { name, executed } of transactions) {
    const known = kindOf(executed);
    for (const lacking of [withMeta(executed, { innerInstructions: null }), { ...executed, meta: null }]) {
      const kind = kindOf(lacking);
      expect([name, kind]).toEqual([name, known === namedByInnerCalls && kind === "SWAP photon" ? kind : known]);
    }
  }
});
