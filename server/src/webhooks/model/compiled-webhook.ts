import { type WebhookFilters, webhookFilters } from "@sluice/contract/schemas";
import { type AccountDataEncoding, type ChainEventName, chainEventNames } from "@sluice/contract/webhooks";
import type { TransactionFilter } from "../../events/index.ts";
import type { WebhookRecord, WebhookStage } from "../../state/index.ts";
import { type TradeConditions, tradeConditionsOf } from "./trade-conditions.ts";
import { tradePrograms } from "./trade-programs.ts";

/** Tokens that moved, at least one of which has all that is there. Ends are owners or accounts. */
export interface TokenCondition {
  readonly mint: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** In the token's smallest units. */
  readonly least: bigint;
}

/** What a webhook asks of transactions. */
export interface TransactionInterest {
  /** What the index of filters looks for; the rest is asked of what it finds. */
  readonly filter: TransactionFilter;
  /** The event of a transaction that is confirmed or finalized. */
  readonly settled: Readonly<Record<WebhookStage, ChainEventName | null>>;
  /** The stage at which transaction.failed happens; null where it is not asked for. */
  readonly failedAt: WebhookStage | null;
  /** Of the events of `settled`. */
  readonly success: boolean | null;
  /** Of the largest movement of lamports. */
  readonly lamports: { readonly least: bigint; readonly most: bigint | null } | null;
  readonly tokens: TokenCondition | null;
  /** Of the events of `settled`: trades of NFTs and of tokens. */
  readonly trades: TradeConditions | null;
  /** The same as `OpenFilters` hold it, for a trade that the block does not decide. */
  readonly openTrades: string;
  /** Of transaction.failed. */
  readonly errorTypes: ReadonlySet<string> | null;
}

/** What a webhook asks of changes of accounts. */
export interface UpdateInterest {
  /** Empty for all. */
  readonly accounts: readonly string[];
  readonly owner: string | null;
  /** Lamports. */
  readonly least: bigint;
  /** The same as `OpenFilters` hold it, for an account whose owner the block does not tell; null without one. */
  readonly openOwner: string | null;
  /** Whether an account counts whose data alone may have changed. */
  readonly dataAlone: boolean;
  /** In which its data are told. */
  readonly encoding: AccountDataEncoding;
}

export interface CreationInterest {
  readonly owner: string | null;
  readonly creator: string | null;
  /** Lamports. */
  readonly least: bigint;
}

export interface ClosureInterest {
  readonly owner: string | null;
  readonly reclaimedBy: string | null;
}

export interface BlockInterest {
  readonly events: Readonly<Record<WebhookStage, ChainEventName | null>>;
  readonly transactionsMin: number;
}

/** A webhook as matching needs it. */
export interface CompiledWebhook {
  readonly id: string;
  /** Unix milliseconds: blocks from before are not for it. */
  readonly sinceMs: number;
  readonly transactions: TransactionInterest | null;
  readonly updates: UpdateInterest | null;
  readonly creations: CreationInterest | null;
  readonly closures: ClosureInterest | null;
  readonly blocks: BlockInterest | null;
}

/** What of its payloads a webhook has, leaves out or has in another form. */
export interface BodySwitches {
  readonly logs: boolean;
  readonly tokenTransfers: boolean;
  readonly rewards: boolean;
  /** Signatures of a block's transactions. */
  readonly signatures: boolean;
  readonly data: boolean;
  readonly encoding: AccountDataEncoding;
}

/**
 * What a delivery's webhook asked for when the delivery was made and the block does not decide: it is asked before the
 * first attempt, whatever the filters of the webhook are by then.
 */
export interface OpenFilters {
  /** The owner that the account has to have. */
  readonly owner: string | null;
  /** Trades that the transaction has to have made. */
  readonly trades: TradeConditions | null;
}

/** A webhook as the index holds it. */
export type IndexedWebhook = Pick<CompiledWebhook, "id" | "sinceMs">;

type Subscription = Pick<WebhookRecord, "id" | "events" | "filters" | "createdAt" | "statusAt">;

/**
 * Compiles a webhook.
 *
 * @throws {TypeError} when its filters are not of this version's form, which management does not store
 */
export function compileWebhook({ id, events, filters: text, createdAt, statusAt }: Subscription): CompiledWebhook {
  const filters = filtersOf(text);
  const has = (event: ChainEventName): boolean => events.includes(event);
  const { owner = null, creator = null, min_balance, reclaimed_by: reclaimedBy = null } = filters;
  return {
    id,
    sinceMs: Math.max(createdAt, statusAt),
    transactions: transactionInterest(events, filters),
    updates: has("account.updated") ? updateInterest(filters) : null,
    creations: has("account.created") ? { owner, creator, least: BigInt(min_balance ?? 0) } : null,
    closures: has("account.closed") ? { owner, reclaimedBy } : null,
    blocks: blockInterest(events, filters),
  };
}

/** @throws {TypeError} as `compileWebhook` */
export function switchesOf(filters: string): BodySwitches {
  const read = filtersOf(filters);
  return {
    logs: read.include_logs ?? true,
    tokenTransfers: read.include_token_transfers ?? true,
    rewards: read.include_rewards ?? true,
    signatures: read.include_transactions ?? false,
    data: read.include_data ?? true,
    encoding: read.data_encoding ?? "base64",
  };
}

const nothingOpen: OpenFilters = { owner: null, trades: null };

/** @param text - `undecided` of a delivery @throws {TypeError} as `compileWebhook` */
export function openFiltersOf(text: string | null): OpenFilters {
  if (text === null) return nothingOpen;
  const read = filtersOf(text);
  return { owner: read.owner ?? null, trades: tradeConditionsOf(read) };
}

function filtersOf(text: string): WebhookFilters {
  const parsed = webhookFilters.safeParse(JSON.parse(text));
  if (!parsed.success) throw new TypeError(`the filters of a webhook are not valid: ${parsed.error.message}`);
  return parsed.data;
}

function eventsOf(
  events: readonly string[],
  kind: "transaction" | "block",
): Readonly<Record<WebhookStage, ChainEventName | null>> {
  const find = (name: string): ChainEventName | null =>
    chainEventNames.find((event) => event === name && events.includes(event)) ?? null;
  return { confirmed: find(`${kind}.confirmed`), finalized: find(`${kind}.finalized`) };
}

function transactionInterest(events: readonly string[], filters: WebhookFilters): TransactionInterest | null {
  const { account_include, account_exclude, program_id, vote_transactions, success = null, commitment } = filters;
  const settled = eventsOf(events, "transaction");
  const trades = tradeConditionsOf(filters);
  const failedAt = events.includes("transaction.failed") ? (commitment ?? "confirmed") : null;
  const isSettled = settled.confirmed !== null || settled.finalized !== null;
  if (!isSettled && failedAt === null) return null;
  const takesSuccess = isSettled && success !== false;
  // A trade that failed is none.
  const takesFailure = failedAt !== null || (isSettled && success !== true && trades === null);
  return {
    filter: {
      accountInclude: account_include ?? [],
      accountExclude: account_exclude ?? [],
      programs: program_id !== undefined ? [program_id] : failedAt === null ? tradePrograms(trades) : [],
      ...(vote_transactions !== true && { vote: false }),
      ...(takesSuccess !== takesFailure && { failed: takesFailure }),
    },
    settled,
    failedAt,
    success,
    lamports: lamportsOf(filters),
    tokens: tokensOf(filters),
    trades,
    openTrades: JSON.stringify({ nft: filters.nft, defi: filters.defi }),
    errorTypes: filters.error_types === undefined ? null : new Set(filters.error_types),
  };
}

function lamportsOf({ min_amount, max_amount }: WebhookFilters): TransactionInterest["lamports"] {
  if (min_amount === undefined && max_amount === undefined) return null;
  return { least: BigInt(min_amount ?? 0), most: max_amount === undefined ? null : BigInt(max_amount) };
}

function tokensOf({ token_transfers: asked }: WebhookFilters): TokenCondition | null {
  if (asked === undefined || asked === false) return null;
  const { mint = null, from = null, to = null, min_amount } = asked === true ? {} : asked;
  return { mint, from, to, least: BigInt(min_amount ?? 0) };
}

function updateInterest(filters: WebhookFilters): UpdateInterest {
  const { accounts = [], owner = null, min_balance_change, data_encoding: encoding = "base64" } = filters;
  const least = BigInt(min_balance_change ?? 0);
  const openOwner = owner === null ? null : JSON.stringify({ owner });
  const dataAlone = least === 0n && (accounts.length > 0 || owner !== null);
  return { accounts, owner, openOwner, least, dataAlone, encoding };
}

function blockInterest(events: readonly string[], filters: WebhookFilters): BlockInterest | null {
  const named = eventsOf(events, "block");
  if (named.confirmed === null && named.finalized === null) return null;
  return { events: named, transactionsMin: filters.min_transaction_count ?? 0 };
}
