import { z } from "zod";
import { walletPageMax } from "../enhanced.ts";
import { network } from "./list-query.ts";
import { count } from "./primitives.ts";
import { walletIdentity } from "./wallet.ts";

/** Wallets as helius-sdk 3.2 asks for them and reads them: amounts are decimal numbers, members have its names. */

const flag = (value: boolean) =>
  z
    .enum(["true", "false"])
    .default(value ? "true" : "false")
    .transform((text) => text === "true");
const signature = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, { error: "must be a signature: 64 bytes in base58" })
  .optional();
const limitOf = (usual: number) => z.coerce.number().int().min(1).max(walletPageMax).default(usual);

/** The query of an identity, and of where a wallet was first funded from. */
export const sdkWalletQuery = z.object({ network });

export const sdkIdentitiesBody = z
  .object({
    addresses: z
      .array(z.string())
      .min(1, { error: "must name at least one address" })
      .max(walletPageMax, { error: `must name at most ${walletPageMax} addresses` }),
  })
  .meta({ id: "WalletIdentitiesRequest", description: "Addresses of which identities are asked" });

/** The query of balances: a page of `limit` tokens. */
export const sdkBalancesQuery = z.object({
  network,
  page: z.coerce.number().int().min(1).max(10_000).default(1),
  limit: limitOf(walletPageMax),
  showZeroBalance: flag(false),
  showNative: flag(true),
  showNfts: flag(false),
});

/** The query of a history; `before` and `after` are signatures. */
export const sdkHistoryQuery = z.object({
  network,
  limit: limitOf(walletPageMax),
  before: signature.meta({ description: "Begin after this one, going back" }),
  after: signature.meta({ description: "Begin after this one, going forward: the oldest first" }),
  type: z.string().min(1).max(64).optional(),
  tokenAccounts: z.enum(["none", "balanceChanged", "all"]).default("balanceChanged"),
});

/** The query of transfers. */
export const sdkTransfersQuery = z.object({
  network,
  limit: limitOf(50),
  cursor: z.string().min(1).max(512).optional(),
});

/** The query of a past balance, at one of `time` (Unix seconds), `datetime` (ISO 8601) and `slot`. */
export const sdkBalanceAtQuery = z.object({
  network,
  mint: z.string().min(32).max(44),
  time: z.coerce.number().int().nonnegative().optional(),
  datetime: z.string().min(8).max(40).optional(),
  slot: z.coerce.number().int().nonnegative().optional(),
});

const text = z.string().nullable();
const pagination = z.object({ hasMore: z.boolean(), nextCursor: text });

/** One identity for each address that was asked for, in that order. */
export const sdkIdentities = z.array(walletIdentity);

/** A page of balances; `balance` is in whole tokens, values in US dollars. */
export const sdkBalances = z
  .object({
    balances: z.array(
      z.object({
        mint: z.string(),
        symbol: text,
        name: text,
        balance: z.number(),
        decimals: count,
        pricePerToken: z.number().nullable(),
        usdValue: z.number().nullable(),
        logoUri: text,
        tokenProgram: z.enum(["spl-token", "token-2022"]),
      }),
    ),
    nfts: z
      .array(
        z.object({
          mint: z.string(),
          name: text,
          imageUri: text,
          collectionName: text,
          collectionAddress: text,
          compressed: z.boolean(),
        }),
      )
      .optional(),
    totalUsdValue: z.number(),
    pagination: z.object({ page: count, limit: count, hasMore: z.boolean() }),
  })
  .meta({ id: "SdkWalletBalances" });

/** A page of a history; `fee` is in native tokens, `timestamp` in Unix seconds. */
export const sdkHistory = z
  .object({
    data: z.array(
      z.object({
        signature: z.string(),
        timestamp: z.number().nullable(),
        slot: z.number(),
        fee: z.number(),
        feePayer: z.string(),
        error: text,
        balanceChanges: z.array(z.object({ mint: z.string(), amount: z.number(), decimals: count })),
      }),
    ),
    pagination,
  })
  .meta({ id: "SdkWalletHistory" });

/** A page of transfers; `amountRaw` is in the smallest unit. */
export const sdkTransfers = z
  .object({
    data: z.array(
      z.object({
        signature: z.string(),
        timestamp: z.number(),
        direction: z.enum(["in", "out"]),
        counterparty: z.string().meta({ description: "Empty where the transaction does not tell it" }),
        mint: z.string(),
        symbol: text,
        amount: z.number(),
        amountRaw: z.string(),
        decimals: count,
      }),
    ),
    pagination,
  })
  .meta({ id: "SdkWalletTransfers" });

/** A past balance, and the transaction after which it stood. */
export const sdkBalanceAt = z
  .object({
    wallet: z.string(),
    mint: z.string(),
    isNative: z.boolean(),
    balance: z.string(),
    balanceRaw: z.string(),
    decimals: count,
    requested: z.object({ time: z.number().nullable(), slot: z.number().nullable(), datetime: text }),
    asOf: z.object({ slot: z.number(), blockTime: z.number().nullable(), signature: z.string() }).nullable(),
  })
  .meta({ id: "SdkWalletBalanceAt" });

/** The transfer by which a wallet was first funded. */
export const sdkFunding = z
  .object({
    funder: z.string(),
    funderName: text,
    funderType: text,
    mint: z.string(),
    symbol: z.string(),
    amount: z.number(),
    amountRaw: z.string(),
    decimals: count,
    signature: z.string(),
    timestamp: z.number().nullable(),
    date: text,
    slot: z.number(),
    explorerUrl: z.string(),
  })
  .meta({ id: "SdkWalletFunding" });

/** `sdkBalancesQuery` as it was read. */
export type SdkBalancesQuery = z.infer<typeof sdkBalancesQuery>;
/** `sdkHistoryQuery` as it was read. */
export type SdkHistoryQuery = z.infer<typeof sdkHistoryQuery>;
/** `sdkBalanceAtQuery` as it was read. */
export type SdkBalanceAtQuery = z.infer<typeof sdkBalanceAtQuery>;
