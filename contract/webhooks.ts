/**
 * Webhooks, as data: their events with the tier and the rate of each, the filters and the events that know each, and
 * the bounds that owners meet. Bodies are in `schemas/webhooks.ts`.
 */
import { type PlatformTier, platformTiers } from "./tiers.ts";

/** An event of the chain, from which tier it can be had, and how often it is delivered to one webhook at most. */
export interface WebhookEventSpec {
  readonly tier: PlatformTier;
  /** First attempts a second; what exceeds them waits. */
  readonly perSecond: number;
  readonly burst: number;
  readonly description: string;
}

const event = (
  tier: PlatformTier,
  [perSecond, burst]: readonly [number, number],
  description: string,
): WebhookEventSpec => ({ tier, perSecond, burst, description });

/** Source: specification, node platform, Webhook events and Delivery rules. */
export const webhookEventTable = {
  "transaction.confirmed": event("business", [1_000, 2_000], "A transaction reached confirmed commitment"),
  "transaction.finalized": event("business", [500, 1_000], "A transaction reached finalized commitment"),
  "transaction.failed": event("business", [500, 1_000], "A transaction failed"),
  "account.updated": event("business", [500, 1_000], "The balance or the data of an account changed in a block"),
  "account.created": event("professional", [100, 200], "An account was created"),
  "account.closed": event("professional", [100, 200], "An account was closed"),
  "block.confirmed": event("professional", [10, 20], "A block was confirmed"),
  "block.finalized": event("professional", [10, 20], "A block was finalized"),
} as const satisfies Record<string, WebhookEventSpec>;

/** Events of the chain. */
export type ChainEventName = keyof typeof webhookEventTable;
/** Their names, in the order of the specification. */
export const chainEventNames = Object.keys(webhookEventTable) as readonly ChainEventName[];

/**
 * Events about the account's own webhooks: sent to its other webhooks that name them, as whatever is wrong with one
 * cannot be told through it.
 */
export const operationalEventTable = {
  "webhook.disabled": event("business", [10, 20], "A webhook of the account was disabled"),
  "webhook.recoverable": event(
    "business",
    [10, 20],
    "Deliveries of a webhook were given up and can be recovered: it succeeds again, or waited too long for credits",
  ),
} as const satisfies Record<string, WebhookEventSpec>;

export type OperationalEventName = keyof typeof operationalEventTable;
/** Their names. */
export const operationalEventNames = Object.keys(operationalEventTable) as readonly OperationalEventName[];

/** What a webhook can subscribe to. */
export type WebhookEventName = ChainEventName | OperationalEventName;
/** All names: those of the chain, then those of webhooks. */
export const webhookEventNames: readonly WebhookEventName[] = [...chainEventNames, ...operationalEventNames];

/** What the table says of an event that can be subscribed to. */
export const webhookEventSpec = (name: WebhookEventName): WebhookEventSpec =>
  ({ ...webhookEventTable, ...operationalEventTable })[name];

/** The event of a test delivery that names no other. */
export const testEventName = "test.webhook" as const;

/** Tiers that have webhooks, and how many an account of each may have. */
export const webhooksPerAccount: Readonly<Record<PlatformTier, number>> = {
  free: 0,
  developer: 0,
  business: 25,
  professional: 100,
  enterprise: 1_000,
};

/** Whether an account of one tier has what another tier includes. */
export const includesTier = (tier: PlatformTier, needed: PlatformTier): boolean =>
  platformTiers.indexOf(tier) >= platformTiers.indexOf(needed);

/** Bounds of webhooks. Sizes in bytes or characters, times in milliseconds. */
export const webhookLimits = {
  /** Addresses in all filters of a webhook. */
  addresses: 100_000,
  /** Of a request that creates or changes a webhook. */
  bodyBytes: 8 * 1024 * 1024,
  urlLength: 2_048,
  descriptionLength: 500,
  /** Names in a list of a filter that holds no addresses. */
  filterNames: 100,
  /** Of `test_data`, as JSON. */
  testDataBytes: 64 * 1024,
  /** For the whole exchange of an attempt. */
  answerMs: 5_000,
  /** What is kept of an answer. */
  answerBytes: 16 * 1024,
  maxAttempts: { least: 1, most: 20 },
  backoffMultiplier: { least: 1, most: 10 },
  firstDelayMs: 5_000,
  delayMsMax: 4 * 3_600_000,
  /** The longest Retry-After that is honoured. */
  retryAfterMsMax: 3_600_000,
  /** Deliveries of a webhook that wait; beyond them no more are made until there is room. */
  waiting: 100_000,
  /** An account without one success in this time has its webhook disabled. */
  failingMs: 5 * 86_400_000,
  /** How long a webhook may lag behind the chain before it is disabled. */
  behindMs: 7 * 86_400_000,
  /** How long deliveries wait for credits before they are given up. */
  parkedMs: 7 * 86_400_000,
  /** How long deliveries that were given up can be recovered. */
  exhaustedMs: 14 * 86_400_000,
  /** How long an old secret signs along after a rotation. */
  overlapMs: 86_400_000,
  /** Secrets that sign at a time, the newest one counted; the headers of an attempt hold a signature of each. */
  secrets: 8,
} as const;

/** What holds of a webhook that sets no policy of its own. */
export const retryPolicyDefault = { max_attempts: 18, backoff_multiplier: 2 } as const;

/** The signing secret: this and the base64 of 32 bytes. */
export const webhookSecretPrefix = "whsec_";
/** Bytes of the secret, before base64. */
export const webhookSecretBytes = 32;

const transactionEvents = ["transaction.confirmed", "transaction.finalized"] as const;
const allTransactionEvents = [...transactionEvents, "transaction.failed"] as const;
const blockEvents = ["block.confirmed", "block.finalized"] as const;
const accountEvents = ["account.updated", "account.created", "account.closed"] as const;

/**
 * Members of `filters`, and the events that know each. A member narrows only the events that know it; one that none of
 * a webhook's events knows is refused. Source: specification, node platform, Filters.
 */
export const webhookFilterEvents = {
  account_include: allTransactionEvents,
  account_exclude: allTransactionEvents,
  program_id: allTransactionEvents,
  commitment: allTransactionEvents,
  vote_transactions: allTransactionEvents,
  success: transactionEvents,
  min_amount: transactionEvents,
  max_amount: transactionEvents,
  include_token_transfers: transactionEvents,
  include_logs: transactionEvents,
  token_transfers: transactionEvents,
  nft: transactionEvents,
  defi: transactionEvents,
  error_types: ["transaction.failed"],
  accounts: ["account.updated"],
  min_balance_change: ["account.updated"],
  include_data: ["account.updated"],
  data_encoding: ["account.updated"],
  owner: accountEvents,
  creator: ["account.created"],
  min_balance: ["account.created"],
  reclaimed_by: ["account.closed"],
  min_transaction_count: blockEvents,
  include_transactions: blockEvents,
  include_rewards: blockEvents,
} as const satisfies Record<string, readonly ChainEventName[]>;
export type WebhookFilterName = keyof typeof webhookFilterEvents;

/** What each filter asks for, in one sentence. */
export const webhookFilterTexts: Readonly<Record<WebhookFilterName, string>> = {
  account_include: "Transactions that name or load any of these accounts",
  account_exclude: "No transaction that names or loads any of these accounts",
  program_id: "Transactions that call this program, outer or inner",
  commitment: "When transaction.failed is sent: confirmed (the default) or finalized. Other events have their own",
  vote_transactions: "Vote transactions too; they are left out otherwise",
  success: "Only transactions that succeeded, or only those that failed",
  min_amount: "Lamports: of the largest movement of native tokens, at least",
  max_amount: "Lamports: of the largest movement of native tokens, at most",
  include_token_transfers: "false leaves `token_transfers` empty",
  include_logs: "false leaves `log_messages` empty",
  token_transfers: "true: at least one transfer of tokens; an object: one that fits all its members",
  nft: "Trades of NFTs that succeeded: any of these marketplaces, this verified collection, any of these kinds",
  defi: "Trades of tokens that succeeded: any of these protocols, any of these kinds, at least this value in US dollars by the oracle's prices; a trade without a price does not match",
  error_types: "Any of these errors, such as InstructionError or InsufficientFundsForRent",
  accounts: "Any of these accounts",
  min_balance_change: "Lamports gained or lost, at least",
  include_data: "false leaves `data` null, and nothing is read of the account",
  data_encoding: "Of `data`; base64 by default",
  owner: "Accounts of this program",
  creator: "Accounts whose creation this account paid the fee of",
  min_balance: "Lamports of the new account, at least",
  reclaimed_by: "Accounts whose lamports went to this account",
  min_transaction_count: "Blocks with at least so many transactions",
  include_transactions: "true adds `transactions`, the signatures of the block",
  include_rewards: "false leaves `rewards` empty",
};

/** Encodings of account data in account.updated. */
export const accountDataEncodings = ["base64", "base58", "jsonParsed"] as const;
export type AccountDataEncoding = (typeof accountDataEncodings)[number];

/** Switches of payloads; each is on unless a filter turns it off, but for `include_transactions`. */
export const webhookFilterDefaults = {
  vote_transactions: false,
  include_token_transfers: true,
  include_logs: true,
  include_data: true,
  data_encoding: "base64",
  include_transactions: false,
  include_rewards: true,
} as const;

/** The commitment that a `commitment` filter may name beside an event; null where it may name either. */
export const eventCommitment = (name: WebhookEventName): "confirmed" | "finalized" | null => {
  if (name.endsWith(".finalized")) return "finalized";
  return name.endsWith(".confirmed") ? "confirmed" : null;
};
