import type { WebhookFilters } from "@sluice/contract/schemas";
import { type ConfirmedTransaction, isVote, writableKeys } from "@sluice/encode";
import { AccountStates, type Leg, type ParsedTransaction, parseTransaction, TransactionView } from "@sluice/parser";
import { programs } from "@sluice/wire/programs";
import type { BlockEvents, TransactionEvent } from "../../events/index.ts";
import type { WebhookStage } from "../../state/index.ts";

export interface AskedWebhook {
  readonly events: readonly string[];
  readonly filters: WebhookFilters;
}

const readBefore = new WeakMap<ConfirmedTransaction, ParsedTransaction>();

/** What a transaction was, apart from what the matched block has read of it; once, as tests ask thousands of times. */
function parsedOf({ view: { transaction } }: TransactionEvent): ParsedTransaction {
  const parsed = readBefore.get(transaction) ?? parseTransaction(new TransactionView(transaction));
  readBefore.set(transaction, parsed);
  return parsed;
}

/** US dollars for a whole token, by its mint. */
export type NaivePrices = ReadonlyMap<string, number>;

export interface NaiveSetting {
  readonly stage: WebhookStage;
  /** Null while they cannot be read: who asks for a value is told, to be decided later. */
  readonly prices: NaivePrices | null;
}

/**
 * What a webhook is told of a block, read from the rules alone: `event transaction account`. Of the NFTs that it asks
 * for the collection is not known.
 */
export function naivelyTold(
  { events, filters }: AskedWebhook,
  block: BlockEvents,
  { stage, prices }: NaiveSetting,
): string[] {
  const told: string[] = [];
  const has = (event: string): boolean => events.includes(event);
  for (const transaction of block.transactions) {
    const { index } = transaction;
    if (has(`transaction.${stage}`) && isTold(transaction, filters, prices)) told.push(`transaction.${stage} ${index}`);
    const failedAt = filters.commitment ?? "confirmed";
    if (has("transaction.failed") && failedAt === stage && isToldFailed(transaction, filters)) {
      told.push(`transaction.failed ${index}`);
    }
  }
  if (has(`block.${stage}`) && block.transactions.length >= (filters.min_transaction_count ?? 0)) {
    told.push(`block.${stage}`);
  }
  if (stage === "confirmed") told.push(...toldOfAccounts({ events, filters }, block));
  return told.toSorted();
}

function isNamed({ view }: TransactionEvent, filters: WebhookFilters): boolean {
  const { account_include: include, account_exclude: exclude, program_id: program } = filters;
  const keys = new Set(view.keys);
  if (include !== undefined && !include.some((key) => keys.has(key))) return false;
  if (exclude?.some((key) => keys.has(key)) === true) return false;
  if (program !== undefined && !view.programIds.includes(program)) return false;
  return filters.vote_transactions === true || !isVote(view.parsed);
}

function isTold(transaction: TransactionEvent, filters: WebhookFilters, prices: NaivePrices | null): boolean {
  const { view } = transaction;
  if (!isNamed(transaction, filters)) return false;
  if (filters.success !== undefined && filters.success === view.failed) return false;
  const { native, tokens } = parsedOf(transaction).movements;
  const most =
    native
      .map(({ lamports }) => lamports)
      .toSorted((one, two) => (one < two ? -1 : 1))
      .at(-1) ?? 0n;
  if (filters.min_amount !== undefined && most < BigInt(filters.min_amount)) return false;
  if (filters.max_amount !== undefined && most > BigInt(filters.max_amount)) return false;
  if (!isNftTrade(transaction, filters.nft) || !isDefiTrade(transaction, filters.defi, prices)) return false;
  const asked = filters.token_transfers;
  if (asked === undefined || asked === false) return true;
  if (asked === true) return tokens.length > 0;
  return tokens.some(
    ({ mint, amount, fromOwner, toOwner }) =>
      (asked.mint ?? mint) === mint &&
      amount >= BigInt(asked.min_amount ?? 0) &&
      (asked.from ?? fromOwner) === fromOwner &&
      (asked.to ?? toOwner) === toOwner,
  );
}

const isOneOf = (names: readonly string[] | undefined, name: string): boolean =>
  names?.some((each) => each.toLowerCase() === name) ?? true;

function isNftTrade(transaction: TransactionEvent, nft: WebhookFilters["nft"]): boolean {
  if (nft === undefined) return true;
  const parsed = parsedOf(transaction);
  const kind = { NFT_SALE: "sale", NFT_LISTING: "listing", NFT_BID: "bid" }[String(parsed.type)];
  const isKind = kind !== undefined && (nft.event_types?.some((each) => each === kind) ?? true);
  const found = parsed.nfts.filter(({ source }) => isOneOf(nft.marketplaces, source));
  return (
    transaction.view.succeeded && isKind && found.some(({ mint }) => nft.collection === undefined || mint !== null)
  );
}

function isDefiTrade(transaction: TransactionEvent, defi: WebhookFilters["defi"], prices: NaivePrices | null): boolean {
  if (defi === undefined) return true;
  if (!transaction.view.succeeded) return false;
  const { swap, liquidity } = parsedOf(transaction);
  const worthOf = (leg: Leg | null): number | null => {
    const price = leg === null ? undefined : prices?.get(leg.mint);
    return price === undefined || leg?.decimals == null ? null : (Number(leg.amount) / 10 ** leg.decimals) * price;
  };
  const trades = liquidity.map(({ type, source, tokens }) => {
    const known = tokens.map(worthOf).filter((value) => value !== null);
    const value = known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
    return { kind: type === "REMOVE" ? "remove_liquidity" : "add_liquidity", sources: [source], value };
  });
  if (swap !== null) {
    const route = swap.hops.flatMap(({ input, output }) => [input, output]);
    const legs = swap.input === null ? [...route, swap.output] : [swap.input, swap.output, ...route];
    const value = legs.map(worthOf).find((each) => each !== null) ?? null;
    trades.push({ kind: "swap", sources: [...swap.sources], value });
  }
  return trades.some(({ kind, sources, value }) => {
    if (!sources.some((source) => isOneOf(defi.protocols, source))) return false;
    if (!(defi.event_types?.some((each) => each === kind) ?? true)) return false;
    return defi.min_usd_value === undefined || prices === null || (value !== null && value >= defi.min_usd_value);
  });
}

function isToldFailed(transaction: TransactionEvent, filters: WebhookFilters): boolean {
  const error = transaction.view.meta?.error ?? null;
  if (error === null || !isNamed(transaction, filters)) return false;
  const type = typeof error === "object" && !Array.isArray(error) ? (Object.keys(error)[0] ?? "") : String(error);
  return filters.error_types?.includes(type) ?? true;
}

const advancesNonce = ({ message }: TransactionView, account: string): boolean => {
  const [first] = message.instructions;
  if (first === undefined || message.address(first.programIndex) !== programs.system) return false;
  return (
    [...first.data.subarray(0, 4)].join() === "4,0,0,0" && message.address(first.accountIndexes[0] ?? 0) === account
  );
};

/** Whether the data of an account may be other ones after a transaction. */
function isWrittenBy(view: TransactionView, account: string): boolean {
  const at = view.keys.indexOf(account);
  if (at < 0 || writableKeys(view.message, view.keys)[at] !== true) return false;
  return !view.failed || advancesNonce(view, account);
}

/** Of accounts that calls of their program may have written, without what the balances tell. */
function toldOfOwner(
  { owner, least }: { readonly owner: string; readonly least: bigint },
  block: BlockEvents,
): string[] {
  const told = new Set<string>();
  for (const { view } of block.transactions) {
    for (const [at, account] of view.keys.entries()) {
      const isHanded = view.calls.some(
        (call) => call.programId === owner && [...Array.from(call.accounts)].includes(at),
      );
      const isThere = view.meta?.preBalances[at] !== 0n || view.meta.postBalances[at] !== 0n;
      if (!isHanded || !isThere || !isWrittenBy(view, account)) continue;
      const update = block.accounts.updates.find((each) => each.account === account);
      const stated = new AccountStates(view).of(at).owner;
      if (update === undefined) {
        if (least === 0n && (stated === null || stated === owner)) told.add(account);
        continue;
      }
      const delta = update.after > update.before ? update.after - update.before : update.before - update.after;
      if (update.owner === null && delta >= least) told.add(account);
    }
  }
  return [...told].map((account) => `account.updated ${account}`);
}

function toldOfAccounts({ events, filters }: AskedWebhook, block: BlockEvents): string[] {
  const told: string[] = [];
  const { updates, creations, closures } = block.accounts;
  const { accounts, owner: asked } = filters;
  if (events.includes("account.updated")) {
    const least = BigInt(filters.min_balance_change ?? 0);
    for (const { account, before, after, owner } of updates) {
      const delta = after > before ? after - before : before - after;
      const isNamedOne = accounts?.includes(account) ?? true;
      const isOwned = asked === undefined || owner === asked || (accounts !== undefined && owner === null);
      if (isNamedOne && isOwned && delta >= least) told.push(`account.updated ${account}`);
    }
    for (const account of accounts ?? []) {
      const isWritten = block.transactions.some(({ view }) => isWrittenBy(view, account));
      const isUnmoved = updates.every((update) => update.account !== account);
      if (least === 0n && isWritten && isUnmoved) told.push(`account.updated ${account}`);
    }
    if (accounts === undefined && asked !== undefined) told.push(...toldOfOwner({ owner: asked, least }, block));
  }
  for (const { account, index, owner, creator, lamports } of events.includes("account.created") ? creations : []) {
    const isMeant =
      (asked ?? owner) === owner &&
      (filters.creator ?? creator) === creator &&
      lamports >= BigInt(filters.min_balance ?? 0);
    if (isMeant) told.push(`account.created ${index} ${account}`);
  }
  for (const { account, index, owner, reclaimedBy } of events.includes("account.closed") ? closures : []) {
    if ((asked ?? owner) === owner && (filters.reclaimed_by ?? reclaimedBy) === reclaimedBy) {
      told.push(`account.closed ${index} ${account}`);
    }
  }
  return told;
}
