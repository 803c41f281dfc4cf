import type { TransactionView } from "@sluice/parser";
import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { FilterKeys } from "../matching/filter-index.ts";
import type { TransactionFilter } from "../matching/transaction-matcher.ts";

/** A transaction as filters see it, with its keys in base58. */
export interface NaiveFacts {
  readonly signature: string;
  readonly isVote: boolean;
  readonly failed: boolean;
  readonly accounts: ReadonlySet<string>;
  readonly programs: ReadonlySet<string>;
  readonly owners: ReadonlySet<string>;
  readonly changedOwners: ReadonlySet<string>;
}

/** Read in another way than the matcher's facts: through names, not through bytes and positions. */
export function naiveFacts(view: TransactionView): NaiveFacts {
  const { meta, keys, calls, transaction, message } = view;
  const before = meta?.preTokenBalances ?? [];
  const after = meta?.postTokenBalances ?? [];
  const amounts = (of: typeof before) => new Map(of.map(({ accountIndex, amount }) => [accountIndex, amount]));
  const [was, is] = [amounts(before), amounts(after)];
  const named = (balance: (typeof before)[number]) => (balance.owner === null ? [] : [balance.owner]);
  return {
    signature: transaction.signature,
    isVote:
      message.version === "legacy" &&
      message.numRequiredSignatures < 3 &&
      message.instructions.map(({ programIndex }) => keys[programIndex]).join() === programs.vote,
    failed: meta !== null && meta.error !== null,
    accounts: new Set(keys),
    programs: new Set(calls.map(({ programId }) => programId)),
    owners: new Set([...before, ...after].flatMap(named)),
    changedOwners: new Set(
      [...before, ...after].filter(({ accountIndex }) => was.get(accountIndex) !== is.get(accountIndex)).flatMap(named),
    ),
  };
}

/** In base58. */
export function textsOf(keys: FilterKeys = []): string[] {
  if (!(keys instanceof Uint8Array)) return [...keys];
  return Array.from({ length: keys.length / 32 }, (_, at) => encodeBase58(keys.subarray(at * 32, at * 32 + 32)));
}

/** Whether a transaction meets a filter, asked one condition after another. */
export function naiveTest(filter: TransactionFilter): (facts: NaiveFacts) => boolean {
  const { tokenAccounts, vote, failed, signature } = filter;
  const [include, called] = [textsOf(filter.accountInclude), textsOf(filter.programs)];
  const [required, exclude] = [textsOf(filter.accountRequired), textsOf(filter.accountExclude)];
  return (facts) => {
    const owners = tokenAccounts === undefined ? null : tokenAccounts === "all" ? facts.owners : facts.changedOwners;
    const isThere = (key: string): boolean => facts.accounts.has(key) || owners?.has(key) === true;
    return (
      (vote === undefined || vote === facts.isVote) &&
      (failed === undefined || failed === facts.failed) &&
      (signature === undefined || signature === facts.signature) &&
      (include.length === 0 || include.some(isThere)) &&
      required.every(isThere) &&
      !exclude.some(isThere) &&
      (called.length === 0 || called.some((key) => facts.programs.has(key)))
    );
  };
}
