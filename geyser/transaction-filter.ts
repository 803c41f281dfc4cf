import { decodeSignature } from "@sluice/wire/base58";
import type { FilteredTransaction } from "./content.ts";
import { type CuckooFilter, cuckooFilter } from "./cuckoo-filter.ts";
import { addressList, FilterFault, requireAny } from "./filter-fault.ts";
import type { FilterLimits } from "./limits.ts";
import type { TransactionsRequest } from "./requests.ts";

type Expansion = "ALL" | "BALANCE_CHANGED" | null;

function expansionOf(value: TransactionsRequest["token_accounts"]): Expansion {
  if (value === undefined) return null;
  if (value === "ALL" || value === "BALANCE_CHANGED") return value;
  throw new FilterFault(`invalid token_accounts mode value ${value}; expected ALL (0) or BALANCE_CHANGED (1)`);
}

/** Owners of the token balances, or of those alone that the transaction changed, opened or closed. */
function tokenOwners(transaction: FilteredTransaction, expansion: "ALL" | "BALANCE_CHANGED"): Set<string> {
  const { preTokenBalances: before, postTokenBalances: after } = transaction;
  const owners = new Set<string>();
  for (const [one, others] of [
    [before, after],
    [after, before],
  ] as const) {
    for (const { accountIndex, amount, owner } of one) {
      if (owner === null) continue;
      const other = others.find((balance) => balance.accountIndex === accountIndex);
      if (expansion === "ALL" || other?.amount !== amount) owners.add(owner);
    }
  }
  return owners;
}

/** What a filter of `transactions` or `transactions_status` asks; what it leaves out is no test. */
export class TransactionFilter {
  readonly name: string;
  readonly vote: boolean | null;
  readonly failed: boolean | null;
  readonly signature: string | null;
  readonly include: ReadonlySet<string>;
  readonly exclude: ReadonlySet<string>;
  readonly required: ReadonlySet<string>;
  /** Beside `include`: one of the two must hold. */
  readonly cuckoo: CuckooFilter | null;
  /** Whether owners of token balances count as keys. */
  readonly expansion: Expansion;

  /** @throws {FilterFault} */
  constructor(name: string, request: TransactionsRequest, limits: FilterLimits["transactions"]) {
    const { vote, failed, signature } = request;
    const lists = [request.account_include, request.account_exclude, request.account_required];
    this.name = name;
    this.cuckoo = cuckooFilter(request.cuckoo_account_include, limits.cuckooBytesMax);
    const isAny = vote === undefined && failed === undefined && lists.every(({ length }) => length === 0);
    requireAny(isAny && signature === undefined && this.cuckoo === null, limits.any);
    if (signature !== undefined && decodeSignature(signature) === null) throw new FilterFault("invalid signature");
    this.vote = vote ?? null;
    this.failed = failed ?? null;
    this.signature = signature ?? null;
    this.include = addressList(request.account_include, limits.includeMax, limits.includeReject);
    this.exclude = addressList(request.account_exclude, limits.excludeMax);
    this.required = addressList(request.account_required, limits.requiredMax);
    this.expansion = expansionOf(request.token_accounts);
  }

  /** Whether a transaction matches: all tests must hold. */
  matches(transaction: FilteredTransaction): boolean {
    if (this.vote !== null && this.vote !== transaction.isVote) return false;
    if (this.failed !== null && this.failed !== transaction.failed) return false;
    if (this.signature !== null && this.signature !== transaction.signature) return false;
    const { keys } = transaction;
    const owners = this.expansion === null ? null : tokenOwners(transaction, this.expansion);
    const touches = (address: string): boolean => keys.has(address) || owners?.has(address) === true;
    for (const address of this.required) if (!touches(address)) return false;
    const touched = owners === null ? keys : keys.union(owners);
    if (!this.#includes(touched)) return false;
    return !overlaps(this.exclude, touched);
  }

  #includes(touched: ReadonlySet<string>): boolean {
    const { include, cuckoo } = this;
    if (include.size === 0 && cuckoo === null) return true;
    if (overlaps(include, touched)) return true;
    return cuckoo !== null && touched.values().some(cuckoo);
  }
}

/** A client's list may be far longer than a transaction's, or far shorter. */
function overlaps(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return !one.isDisjointFrom(other);
}
