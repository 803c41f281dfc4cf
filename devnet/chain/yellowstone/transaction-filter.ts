import { decodeSignature } from "@sluice/wire/base58";
import { addressList, FilterFault, requireAny, requireNoCuckoo } from "./filter-fault.ts";
import type { FilterLimits } from "./limits.ts";
import type { TransactionsRequest } from "./requests.ts";
import type { RecordedTransaction } from "./slot-record.ts";

type Expansion = "ALL" | "BALANCE_CHANGED" | null;

function expansionOf(value: TransactionsRequest["token_accounts"]): Expansion {
  if (value === undefined) return null;
  if (value === "ALL" || value === "BALANCE_CHANGED") return value;
  throw new FilterFault(`invalid token_accounts mode value ${value}; expected ALL (0) or BALANCE_CHANGED (1)`);
}

/** Owners of the token balances, or of those alone that the transaction changed, opened or closed. */
function tokenOwners({ executed }: RecordedTransaction, expansion: "ALL" | "BALANCE_CHANGED"): Set<string> {
  const { preTokenBalances: before, postTokenBalances: after } = executed;
  if (expansion === "ALL") return new Set([...before, ...after].map(({ owner }) => owner));
  const owners = new Set<string>();
  for (const [one, others] of [
    [before, after],
    [after, before],
  ] as const) {
    for (const { accountIndex, amount, owner } of one) {
      const other = others.find((balance) => balance.accountIndex === accountIndex);
      if (other?.amount !== amount) owners.add(owner);
    }
  }
  return owners;
}

/** Whether a transaction matches: all tests must hold; what the filter leaves out is no test. */
export function transactionFilter(
  request: TransactionsRequest,
  limits: FilterLimits["transactions"],
): (transaction: RecordedTransaction) => boolean {
  requireNoCuckoo(request.cuckoo_account_include);
  const { vote, failed, signature } = request;
  const lists = [request.account_include, request.account_exclude, request.account_required];
  const isAny = vote === undefined && failed === undefined && lists.every(({ length }) => length === 0);
  requireAny(isAny && signature === undefined, limits.any);
  if (signature !== undefined && decodeSignature(signature) === null) throw new FilterFault("invalid signature");
  const include = addressList(request.account_include, limits.includeMax, limits.includeReject);
  const exclude = addressList(request.account_exclude, limits.excludeMax);
  const required = addressList(request.account_required, limits.requiredMax);
  const expansion = expansionOf(request.token_accounts);
  return (transaction) => {
    const { executed, keys } = transaction;
    if (vote !== undefined && vote !== executed.isVote) return false;
    if (failed !== undefined && failed !== (executed.error !== null)) return false;
    if (signature !== undefined && signature !== executed.signature) return false;
    const owners = expansion === null ? null : tokenOwners(transaction, expansion);
    const touches = (address: string): boolean => keys.has(address) || owners?.has(address) === true;
    return (
      [...required].every(touches) && (include.size === 0 || [...include].some(touches)) && ![...exclude].some(touches)
    );
  };
}
