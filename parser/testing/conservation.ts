import type { Movements } from "../neutral/movements.ts";
import type { TransactionView } from "../transaction-view.ts";

/** What differs from the law that movements and the fee are the changes of all balances; nothing when it holds. */
export function breaches(view: TransactionView, { native, tokens }: Movements): string[] {
  const { meta, keys } = view;
  if (meta === null) return [];
  const lamports = new Map<string, bigint>([[keys[0] ?? "", -meta.fee]]);
  for (const { from, to, lamports: moved } of native) {
    if (from !== null) lamports.set(from, (lamports.get(from) ?? 0n) - moved);
    if (to !== null) lamports.set(to, (lamports.get(to) ?? 0n) + moved);
  }
  const held = new Map<string, bigint>();
  for (const { fromAccount, toAccount, amount, fee } of tokens) {
    if (fromAccount !== null) held.set(fromAccount, (held.get(fromAccount) ?? 0n) - amount);
    if (toAccount !== null) held.set(toAccount, (held.get(toAccount) ?? 0n) + amount - fee);
  }
  return [
    ...meta.postBalances.flatMap((after, key) =>
      differs(`lamports of ${keys[key]}`, lamports.get(keys[key] ?? ""), after - (meta.preBalances[key] ?? 0n)),
    ),
    ...tokenChanges(view).flatMap(([key, change]) =>
      differs(`tokens of ${keys[key]}`, held.get(keys[key] ?? ""), change),
    ),
  ];
}

function differs(what: string, moved: bigint | undefined, changed: bigint): string[] {
  return (moved ?? 0n) === changed ? [] : [`${what}: moved ${moved ?? 0n}, changed ${changed}`];
}

function tokenChanges({ meta }: TransactionView): [number, bigint][] {
  const changes = new Map<number, bigint>();
  for (const { accountIndex, amount } of meta?.postTokenBalances ?? []) changes.set(accountIndex, amount);
  for (const { accountIndex, amount } of meta?.preTokenBalances ?? []) {
    changes.set(accountIndex, (changes.get(accountIndex) ?? 0n) - amount);
  }
  return [...changes];
}
