import type { TokenBalance, TransactionMeta } from "@sluice/encode";
import type { Movements, TransactionView } from "@sluice/parser";
import type { ChainRows } from "../../ledger/index.ts";

/** Of lamports. */
const nativeDecimals = 9;

/** A transaction's rows have its place in the block and its signature. */
interface Place {
  readonly index: number;
  readonly signature: string;
}

/** Adds the balances of lamports and tokens that a transaction has changed, the fee of one that failed as well. */
export function addChanges(rows: ChainRows, index: number, { keys, meta }: TransactionView): void {
  if (meta === null) return;
  const { columns } = rows.accountChanges;
  for (let place = 0; place < meta.preBalances.length; place++) {
    const before = meta.preBalances[place] ?? 0n;
    const after = meta.postBalances[place] ?? 0n;
    if (before === after) continue;
    columns.transaction_index.add(index);
    columns.account_index.add(place);
    columns.account.add(keys[place] ?? "");
    columns.mint.add("");
    columns.owner.add("");
    columns.decimals.add(nativeDecimals);
    columns.before.add(before);
    columns.after.add(after);
  }
  for (const { balance, before, after } of tokenChanges(meta)) {
    columns.transaction_index.add(index);
    columns.account_index.add(balance.accountIndex);
    columns.account.add(keys[balance.accountIndex] ?? "");
    columns.mint.add(balance.mint);
    columns.owner.add(balance.owner ?? "");
    columns.decimals.add(balance.decimals);
    columns.before.add(before);
    columns.after.add(after);
  }
}

interface TokenChange {
  /** The later of the two balances. */
  readonly balance: TokenBalance;
  readonly before: bigint;
  readonly after: bigint;
}

/** An account without a balance has none; one that had two mints in a transaction has changed in both. */
function tokenChanges({ preTokenBalances, postTokenBalances }: TransactionMeta): readonly TokenChange[] {
  const changes: TokenChange[] = [];
  const earlier = [...(preTokenBalances ?? [])];
  for (const balance of postTokenBalances ?? []) {
    const at = earlier.findIndex(
      ({ accountIndex, mint }) => accountIndex === balance.accountIndex && mint === balance.mint,
    );
    const before = at === -1 ? 0n : (earlier[at]?.amount ?? 0n);
    if (at !== -1) earlier.splice(at, 1);
    if (before !== balance.amount) changes.push({ balance, before, after: balance.amount });
  }
  for (const balance of earlier) {
    if (balance.amount !== 0n) changes.push({ balance, before: balance.amount, after: 0n });
  }
  return changes;
}

/** Adds what moved in a transaction. */
export function addMovements(rows: ChainRows, { index, signature }: Place, { native, tokens }: Movements): void {
  const lamports = rows.nativeMovements.columns;
  native.forEach((movement, position) => {
    lamports.transaction_index.add(index);
    lamports.position.add(position);
    lamports.signature.add(signature);
    lamports.kind.add(movement.kind);
    lamports.instruction.add(movement.call);
    lamports.amount.add(movement.lamports);
    lamports.from_account.add(movement.from ?? "");
    lamports.to_account.add(movement.to ?? "");
  });
  const { columns } = rows.tokenMovements;
  tokens.forEach((movement, position) => {
    columns.transaction_index.add(index);
    columns.position.add(position);
    columns.signature.add(signature);
    columns.kind.add(movement.kind);
    columns.instruction.add(movement.call);
    columns.mint.add(movement.mint ?? "");
    columns.decimals.add(movement.decimals);
    columns.amount.add(movement.amount);
    columns.fee.add(movement.fee);
    columns.from_account.add(movement.fromAccount ?? "");
    columns.from_owner.add(movement.fromOwner ?? "");
    columns.to_account.add(movement.toAccount ?? "");
    columns.to_owner.add(movement.toOwner ?? "");
  });
}
