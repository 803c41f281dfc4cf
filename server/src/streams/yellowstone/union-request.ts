import type { AccountsRequest, SubscribeRequest } from "@sluice/geyser";

/** A request whose needs a node's stream is to meet. */
export interface Demanded {
  readonly request: SubscribeRequest;
  /** Whether all of it comes from the node, since the stream is at processed. */
  readonly isProcessed: boolean;
}

const everything: AccountsRequest = { account: [], owner: [], filters: [] };
const lists = { account_include: [], account_exclude: [], account_required: [] };

/**
 * One request at processed that a node answers with all that the given ones ask it for, and more: each is filtered
 * again. Statuses of slots are always asked for, since they say when a slot is whole.
 */
export function unionRequest(demands: readonly Demanded[]): SubscribeRequest {
  const processed = demands.filter(({ isProcessed }) => isProcessed).map(({ request }) => request);
  const blocks = processed.flatMap(({ blocks: named }) => Object.values(named));
  const hasTransactions = processed.some(
    ({ transactions, transactions_status: statuses }) =>
      Object.keys(transactions).length + Object.keys(statuses).length > 0,
  );
  const hasMetas = processed.some(({ blocks_meta: metas }) => Object.keys(metas).length > 0);
  const hasEntries = demands.some(({ request }) => asksEntries(request));
  return {
    commitment: "PROCESSED",
    slots: { s: { interslot_updates: true } },
    accounts: unionAccounts(demands),
    transactions: hasTransactions ? { t: lists } : {},
    transactions_status: {},
    blocks:
      blocks.length === 0
        ? {}
        : {
            b: {
              account_include: [],
              include_transactions: true,
              include_accounts: blocks.some((each) => each.include_accounts === true),
              include_entries: blocks.some((each) => each.include_entries === true),
            },
          },
    blocks_meta: hasMetas ? { m: {} } : {},
    entry: hasEntries ? { e: {} } : {},
    accounts_data_slice: [],
  };
}

function asksEntries({ entry, blocks }: SubscribeRequest): boolean {
  return Object.keys(entry).length > 0 || Object.values(blocks).some((each) => each.include_entries === true);
}

/** By address where a filter names any, else by owner; those with a list of another kind are asked as they are. */
function unionAccounts(demands: readonly Demanded[]): Readonly<Record<string, AccountsRequest>> {
  const addresses = new Set<string>();
  const owners = new Set<string>();
  const others: AccountsRequest[] = [];
  for (const { request, isProcessed } of demands) {
    for (const filter of Object.values(request.accounts)) {
      const { account, owner, cuckoo_accounts_filter: cuckoo } = filter;
      if (cuckoo !== undefined && cuckoo !== null)
        others.push({ ...everything, account, cuckoo_accounts_filter: cuckoo });
      else if (account.length > 0) for (const each of account) addresses.add(each);
      else if (owner.length > 0) for (const each of owner) owners.add(each);
      else return { all: everything };
    }
    // At processed a block comes with its accounts.
    for (const block of isProcessed ? [] : Object.values(request.blocks)) {
      if (block.include_accounts !== true) continue;
      const { account_include: include, cuckoo_account_include: cuckoo } = block;
      if (cuckoo !== undefined && cuckoo !== null) {
        others.push({ ...everything, account: include, cuckoo_accounts_filter: cuckoo });
      } else if (include.length > 0) for (const each of include) addresses.add(each);
      else return { all: everything };
    }
  }
  return {
    ...(addresses.size > 0 ? { account: { ...everything, account: [...addresses] } } : {}),
    ...(owners.size > 0 ? { owner: { ...everything, owner: [...owners] } } : {}),
    ...Object.fromEntries(others.map((each, index) => [`cuckoo${index}`, each])),
  };
}
