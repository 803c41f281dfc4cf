import { z } from "zod";
import { enhancedPageMax, enhancedTypes, walletPageMax } from "../enhanced.ts";
import { enhancedTransaction, envelopeOf } from "./enhanced.ts";
import { cursor, network, order } from "./list-query.ts";
import { pageOf } from "./page.ts";
import { count, exact, moment } from "./primitives.ts";

/** Wallets in the envelope of the enhanced API: balances, transfers, history, and what they did in figures. */

const limitOf = (most: number) =>
  z.coerce.number().int().min(1).max(most).default(Math.min(50, most)).meta({
    description: "The most items to answer with",
  });
const since = moment.optional().meta({ description: "The first moment, by the time of the block" });
const until = moment.optional().meta({ description: "The first moment that no longer counts" });

/** The query of a wallet's figures. */
export const walletQuery = z.object({ network });

/** The query of a wallet's balances. */
export const walletBalancesQuery = z.object({
  network,
  limit: limitOf(walletPageMax),
  cursor,
  zero: z.enum(["true", "false"]).default("false").meta({ description: "Whether accounts without tokens are listed" }),
});

/** The query of a wallet's transfers. */
export const walletTransfersQuery = z.object({ network, limit: limitOf(walletPageMax), cursor, since, until, order });

/** The query of a wallet's history. */
export const walletHistoryQuery = z.object({
  network,
  limit: limitOf(enhancedPageMax),
  cursor,
  since,
  until,
  order,
  type: z.enum(enhancedTypes).optional(),
  source: z.string().min(1).max(64).optional().meta({ description: "The short name of a program or market" }),
  token_accounts: z.enum(["none", "open"]).default("open").meta({
    description: "`open`: also transactions that name only a token account which the wallet has open",
  }),
});

const address = z.string().nullable();
const price = z.number().nullable().meta({ description: "US dollars for one; null where the oracle has no price" });
const value = z.number().nullable().meta({ description: "US dollars; null where the oracle has no price" });
const decimal = z.number().meta({ description: "An exact decimal" });

/** What is known of an address. */
export const walletIdentity = z
  .object({
    address: z.string(),
    type: z.string().meta({ description: "program, sysvar, system, mint, tip_account or wallet" }),
    name: z.string(),
    category: z.string(),
    tags: z.array(z.string()),
  })
  .meta({ id: "WalletIdentity", description: "What the server knows of an address" });

const walletNative = z.object({
  lamports: exact("Lamports"),
  balance: decimal,
  symbol: z.string().nullable(),
  price_usd: price,
  value_usd: value,
});

const walletToken = z.object({
  mint: z.string(),
  token_program: z.string(),
  symbol: z.string().nullable(),
  name: z.string().nullable(),
  decimals: count.nullable().meta({ description: "Null where the mint cannot be read" }),
  amount: z.string().meta({ description: "In the token's smallest unit, over all accounts" }),
  balance: decimal.nullable(),
  accounts: z.array(z.string()).meta({ description: "The token accounts, at most 20 of them" }),
  accounts_total: count,
  frozen: z.boolean().meta({ description: "Whether one of the accounts is frozen" }),
  is_nft: z.boolean().meta({ description: "Whether the mint has one unit and no decimals" }),
  price_usd: price,
  value_usd: value,
});

const balanceMembers = {
  address: z.string(),
  slot: exact("The slot at which nodes were asked"),
  native: walletNative,
  tokens_total: count.meta({ description: "Mints of which the wallet has tokens" }),
  value_usd: value.meta({ description: "US dollars of all that has a price; null where nothing has" }),
};

/** A wallet's balances, the most valuable first. */
export const walletBalances = z
  .object({ ...balanceMembers, items: z.array(walletToken), next_cursor: z.string().nullable() })
  .meta({ id: "WalletBalances", description: "What a wallet holds now" });

/** Tokens or lamports that came to a wallet or left it. */
export const walletTransfer = z
  .object({
    signature: z.string(),
    slot: exact("The slot"),
    block_time: exact("Unix seconds").nullable(),
    kind: z.enum(["native", "token"]),
    direction: z.enum(["in", "out"]),
    counterparty: address.meta({ description: "Null where the transaction does not tell it, and for mints and burns" }),
    mint: address.meta({ description: "Null for lamports" }),
    amount: z
      .string()
      .meta({ description: "In the smallest unit: what arrived of what came in, what left of what went out" }),
    decimals: count.nullable(),
    token_amount: decimal.nullable().meta({ description: "The amount in whole units, an exact decimal" }),
    fee: z
      .string()
      .meta({ description: "What the mint withheld on its way: beside what came in, part of what went out" }),
  })
  .meta({ id: "WalletTransfer", description: "What came to a wallet or left it" });

/** One page of transfers. */
export const walletTransfers = pageOf(walletTransfer).meta({ id: "WalletTransfers" });

/** One page of a wallet's history. */
export const walletHistory = pageOf(enhancedTransaction).meta({ id: "WalletHistory" });

const walletMoment = z.object({
  signature: z.string(),
  slot: exact("The slot"),
  block_time: exact("Unix seconds").nullable(),
});

const counterparty = z.object({
  address: z.string(),
  identity: walletIdentity.nullable(),
  transfers_in: count,
  transfers_out: count,
  lamports_in: exact("Lamports"),
  lamports_out: exact("Lamports"),
  last_slot: exact("The slot of the newest transfer"),
});

const activity = z.object({
  transactions: count.meta({ description: "Transactions that name the wallet or its token accounts" }),
  failed: count,
  complete: z.boolean().meta({ description: "False where only the newest were counted, for their number or for time" }),
  days: z.array(z.object({ date: z.string(), transactions: count, failed: count })),
  types: z.array(z.object({ type: z.string(), transactions: count })),
  types_of: count.meta({ description: "Transactions over which `types` counts, the newest" }),
  counterparties: z.array(counterparty),
  counterparties_of: count.meta({ description: "Transactions over which `counterparties` counts, the newest" }),
});

const reach = z.object({
  since: z.string().nullable().meta({ description: "From when the key's tier and the ledger see; null for all" }),
  from_slot: exact("The first slot that the ledger holds").nullable(),
  to_slot: exact("The last slot that the ledger holds").nullable(),
  token_accounts: count.meta({ description: "Token accounts that the wallet has open" }),
  token_accounts_watched: count.meta({ description: "Of these, how many the figures look at" }),
});

/** What a wallet holds, and what it did. */
export const walletAnalytics = z
  .object({
    ...balanceMembers,
    identity: walletIdentity.nullable(),
    tokens: z.array(walletToken).meta({ description: "The most valuable, at most 100" }),
    first_seen: walletMoment.nullable().meta({ description: "The first transaction that the ledger holds" }),
    last_seen: walletMoment.nullable(),
    activity,
    reach,
  })
  .meta({ id: "WalletAnalytics", description: "What a wallet holds, and what it did, in figures" });

/** A wallet's figures in the envelope of the enhanced API. */
export const walletAnalyticsAnswer = envelopeOf(walletAnalytics).meta({ id: "WalletAnalyticsAnswer" });
/** A wallet's balances in the envelope of the enhanced API. */
export const walletBalancesAnswer = envelopeOf(walletBalances).meta({ id: "WalletBalancesAnswer" });
/** A wallet's transfers in the envelope of the enhanced API. */
export const walletTransfersAnswer = envelopeOf(walletTransfers).meta({ id: "WalletTransfersAnswer" });
/** A wallet's history in the envelope of the enhanced API. */
export const walletHistoryAnswer = envelopeOf(walletHistory).meta({ id: "WalletHistoryAnswer" });

/** What is known of an address. */
export type WalletIdentity = z.infer<typeof walletIdentity>;
export type WalletBalancesQuery = z.infer<typeof walletBalancesQuery>;
export type WalletTransfersQuery = z.infer<typeof walletTransfersQuery>;
export type WalletHistoryQuery = z.infer<typeof walletHistoryQuery>;
/** What a wallet holds, and what it did. */
export type WalletAnalytics = z.infer<typeof walletAnalytics>;
export type WalletBalances = z.infer<typeof walletBalances>;
export type WalletTransfer = z.infer<typeof walletTransfer>;
/** The record of a transaction. */
export type EnhancedTransaction = z.infer<typeof enhancedTransaction>;
