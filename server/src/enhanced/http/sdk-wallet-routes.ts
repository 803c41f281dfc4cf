import { serviceCredits } from "@sluice/contract/credits";
import { enhancedTypes } from "@sluice/contract/enhanced";
import { SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { ExactDecimal, movementsOf, parseTransaction, recordText } from "@sluice/parser";
import { isSignature } from "@sluice/wire/identifiers";
import { wellKnownAddresses } from "@sluice/wire/programs";
import { parseInput, readInput } from "../../http/index.ts";
import type { ChainReads, TransactionPlace } from "../../ledger/index.ts";
import type { ManyTokens } from "../tokens/many-tokens.ts";
import { concerns } from "../wallets/history.ts";
import type { Identities } from "../wallets/identities.ts";
import { nativePseudoMint, type PastBalances } from "../wallets/past-balances.ts";
import type { UsdPrices } from "../wallets/prices.ts";
import { sdkBalances, sdkTransaction, sdkTransfer } from "../wallets/sdk-shapes.ts";
import { transfersOf } from "../wallets/transfers.ts";
import { readWalletCursor, writeWalletCursor } from "../wallets/wallet-cursor.ts";
import { anyRecord } from "../wallets/wallet-ledger.ts";
import {
  addressParameter,
  bodyBounds,
  type EnhancedAnswer,
  type EnhancedRoute,
  invalid,
  requireAddress,
} from "./route.ts";
import type { WalletRoutesParts } from "./wallet-routes.ts";

export interface SdkWalletRoutesParts extends WalletRoutesParts {
  readonly chain: Pick<ChainReads, "transactions">;
  readonly tokens: Pick<ManyTokens, "read">;
  readonly identities: Identities;
  readonly past: PastBalances;
  readonly prices: UsdPrices;
  /** What the native currency is called where the oracle has no symbol for it. */
  readonly nativeSymbol: string;
  /** Where people look at a transaction. */
  readonly transactionUrl: (signature: string) => string;
}

/** Where helius-sdk asks for wallets. */
export const sdkWalletPath = "/v1/wallet";

const root = `${sdkWalletPath}/:address`;

/** The routes, as metrics name them. */
export const sdkWalletRouteNames = [
  `POST ${sdkWalletPath}/batch-identity`,
  `GET ${root}/identity`,
  `GET ${root}/balances`,
  `GET ${root}/balance-at`,
  `GET ${root}/history`,
  `GET ${root}/transfers`,
  `GET ${root}/funded-by`,
] as const;

/** Names that are read at one time for one request. */
const namesRunningMax = 8;

/** Wallets in the shapes of helius-sdk 3.2, without an envelope. */
export function sdkWalletRoutes(parts: SdkWalletRoutesParts): readonly EnhancedRoute[] {
  return [
    identitiesRoute(parts),
    identityRoute(parts),
    balancesRoute(parts),
    balanceAtRoute(parts),
    historyRoute(parts),
    transfersRoute(parts),
    fundingRoute(parts),
  ];
}

const bare = { method: "get", isEnveloped: false } as const;
const answer = (value: Parameters<typeof recordText>[0]): EnhancedAnswer => ({ text: recordText(value), kept: false });

function identityRoute({ identities, reads }: SdkWalletRoutesParts): EnhancedRoute {
  return {
    ...{ ...bare, path: `${root}/identity` },
    read:
      (context) =>
      async ({ network }) => {
        const address = addressParameter(context, "address");
        parseInput(schemas.sdkWalletQuery, context.req.query());
        const work = async (): Promise<EnhancedAnswer> => {
          const identity = await reads.timed("identity", () => identities.read(network, address));
          if (identity === null) throw new SluiceError("IDENTITY_NOT_FOUND");
          return answer({ ...identity });
        };
        return { price: serviceCredits.walletIdentity, work };
      },
  };
}

function identitiesRoute({ identities, reads }: SdkWalletRoutesParts): EnhancedRoute {
  const readAll = async (network: Network, addresses: readonly string[]) => {
    const found = new Map<string, schemas.WalletIdentity>();
    const waiting = [...new Set(addresses)];
    const work = async (): Promise<void> => {
      for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
        const identity = await identities.read(network, address);
        if (identity !== null) found.set(address, identity);
      }
    };
    await Promise.all(Array.from({ length: Math.min(namesRunningMax, waiting.length) }, work));
    return addresses.flatMap((address) => found.get(address) ?? []);
  };
  return {
    ...{ method: "post", isEnveloped: false, path: `${sdkWalletPath}/batch-identity` },
    read:
      (context) =>
      async ({ network }) => {
        parseInput(schemas.sdkWalletQuery, context.req.query());
        const { addresses } = await readInput(context.req.raw, schemas.sdkIdentitiesBody, bodyBounds);
        for (const [at, address] of addresses.entries()) requireAddress(`addresses.${at}`, address);
        const work = async (): Promise<EnhancedAnswer> => {
          const found = await reads.timed("identity", () => readAll(network, addresses));
          return answer(found.map((identity) => ({ ...identity })));
        };
        return { price: serviceCredits.walletIdentity * addresses.length, work };
      },
  };
}

function balancesRoute({ balances, nativeSymbol, reads }: SdkWalletRoutesParts): EnhancedRoute {
  return {
    ...{ ...bare, path: `${root}/balances` },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      const query = parseInput(schemas.sdkBalancesQuery, context.req.query());
      const { page, limit, showZeroBalance: showsZero, showNative: showsNative, showNfts: showsNfts } = query;
      const asked = { ...caller, address, skip: (page - 1) * limit, limit, showsZero };
      const work = async (): Promise<EnhancedAnswer> => {
        const read = await reads.timed("balances", () => balances.read(asked));
        if (!read.ok) throw new SluiceError(read.code);
        const nfts = showsNfts && page === 1 ? await balances.nfts(caller, read.balances.holdings) : [];
        return answer(sdkBalances(read.balances, nfts, { page, limit, showsNative, showsNfts, nativeSymbol }));
      };
      return { price: serviceCredits.walletBalances, work };
    },
  };
}

function balanceAtRoute({ past, reads }: SdkWalletRoutesParts): EnhancedRoute {
  return {
    ...{ ...bare, path: `${root}/balance-at` },
    read: (context) => async (caller) => {
      const wallet = addressParameter(context, "address");
      const query = parseInput(schemas.sdkBalanceAtQuery, context.req.query());
      const mint = query.mint === nativePseudoMint ? query.mint : requireAddress("mint", query.mint);
      const seconds = momentOf(query);
      const work = (): Promise<EnhancedAnswer> =>
        reads.bounded(async () => {
          const slot = seconds === null ? BigInt(query.slot ?? 0) : await past.slotAt(caller.network, seconds);
          const found = await reads.timed("balance_at", () => past.at(caller, { wallet, mint, slot }));
          const { amount, decimals, row } = found;
          return answer({
            ...{ wallet, mint, isNative: mint === nativePseudoMint, decimals },
            balance: new ExactDecimal(amount, decimals).toString(),
            balanceRaw: amount.toString(),
            requested: {
              time: seconds,
              slot: query.slot ?? null,
              datetime: query.datetime ?? null,
            },
            asOf: row === null ? null : { slot: row.slot, blockTime: row.blockTime, signature: row.signature },
          });
        });
      return { price: serviceCredits.walletBalances, work };
    },
  };
}

const dateForm = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** The moment that a balance is asked for, in Unix seconds; null for a slot. @throws {SluiceError} INVALID_INPUT */
function momentOf({ time, datetime, slot }: schemas.SdkBalanceAtQuery): bigint | null {
  const given = [time, datetime, slot].filter((each) => each !== undefined);
  if (given.length !== 1) throw invalid("time", "exactly one of time, datetime and slot must be there");
  if (slot !== undefined) return null;
  if (time !== undefined) return BigInt(time);
  const text = datetime ?? "";
  // Without a zone it is UTC.
  const hasZone = text.length <= 10 || /(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const ms = dateForm.test(text) ? Date.parse(`${text.replace(" ", "T")}${hasZone ? "" : "Z"}`) : Number.NaN;
  if (Number.isNaN(ms) || ms < 0) throw invalid("datetime", "must be a moment such as 2026-01-10T19:20:00Z");
  return BigInt(Math.floor(ms / 1_000));
}

function historyRoute({ chain, ledger, pages, history, reads }: SdkWalletRoutesParts): EnhancedRoute {
  return {
    ...{ ...bare, path: `${root}/history` },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      const query = parseInput(schemas.sdkHistoryQuery, context.req.query());
      const { limit, before, after, type = null, tokenAccounts } = query;
      for (const [name, signature] of Object.entries({ before, after })) {
        if (signature !== undefined && !isSignature(signature)) throw invalid(name, "must be a signature");
      }
      const placeOf = async (name: string, signature: string): Promise<TransactionPlace> => {
        const place = await chain.transactions.placeOf(caller.network, signature);
        if (place === null) throw invalid(name, "is no transaction that the ledger holds");
        return place;
      };
      const work = (): Promise<EnhancedAnswer> =>
        reads.bounded(async () => {
          const isKnownType = type === null || enhancedTypes.some((each) => each === type);
          if (!isKnownType) return answer({ data: [], pagination: { hasMore: false, nextCursor: null } });
          const [high, low] = await Promise.all([
            before === undefined ? null : placeOf("before", before),
            after === undefined ? null : placeOf("after", after),
          ]);
          const order = before === undefined && after !== undefined ? "asc" : "desc";
          const { window } = await ledger.reach(caller);
          const addresses = await history.addressesOf({ ...caller, address, tokenAccounts });
          const asked = { network: caller.network, addresses, window, order, skip: 0, limit } as const;
          const bounded = order === "asc" ? { after: low, until: null } : { after: high, until: low };
          const page = await reads.timed("history", () =>
            pages.read({ ...asked, ...bounded, filter: { type, source: null } }, (transaction) => {
              if (tokenAccounts !== "all" && !concerns(transaction.view, address)) return [];
              if (type !== null && parseTransaction(transaction.view).type !== type) return [];
              return [sdkTransaction(transaction, address)];
            }),
          );
          const end = page.next?.after ?? null;
          const [row] = end === null ? [] : await chain.transactions.rows(caller.network, [end], order);
          const nextCursor = row?.signature ?? null;
          return answer({ data: page.items, pagination: { hasMore: nextCursor !== null, nextCursor } });
        });
      return { price: serviceCredits.walletHistory, work };
    },
  };
}

function transfersRoute({ ledger, pages, tokens, prices, nativeSymbol, reads }: SdkWalletRoutesParts): EnhancedRoute {
  return {
    ...{ ...bare, path: `${root}/transfers` },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      const { limit, cursor } = parseInput(schemas.sdkTransfersQuery, context.req.query());
      const question = `sdk transfers ${caller.network} ${address}`;
      const begin = readWalletCursor(question, cursor);
      const work = (): Promise<EnhancedAnswer> =>
        reads.bounded(async () => {
          const { window } = await ledger.reach(caller);
          const { addresses } = await ledger.watched(caller, address);
          const asked = { network: caller.network, addresses, window, order: "desc", until: null, limit } as const;
          const page = await reads.timed("transfers", () =>
            pages.read({ ...asked, ...begin, filter: anyRecord }, (transaction) =>
              transfersOf(movementsOf(transaction.view), address).map((transfer) => ({ transaction, transfer })),
            ),
          );
          const mints = page.items.flatMap(({ transfer }) => transfer.mint ?? []);
          const described = await tokens.read(caller, mints);
          if (!described.ok) throw new SluiceError(described.code);
          const native = prices.symbolOf(caller.network, wellKnownAddresses.wrappedNativeMint) ?? nativeSymbol;
          const data = page.items.map(({ transaction, transfer }) => {
            const symbol = transfer.kind === "native" ? native : described.records.get(transfer.mint ?? "")?.symbol;
            return sdkTransfer(transaction, transfer, symbol ?? null);
          });
          const nextCursor = page.next === null ? null : writeWalletCursor(question, page.next);
          return answer({ data, pagination: { hasMore: nextCursor !== null, nextCursor } });
        });
      return { price: serviceCredits.walletTransfers, work };
    },
  };
}

function fundingRoute({ past, prices, nativeSymbol, transactionUrl, reads }: SdkWalletRoutesParts): EnhancedRoute {
  return {
    ...{ ...bare, path: `${root}/funded-by` },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      parseInput(schemas.sdkWalletQuery, context.req.query());
      const work = (): Promise<EnhancedAnswer> =>
        reads.bounded(async () => {
          const { row, ...facts } = await reads.timed("funding", () => past.funding(caller, address));
          const { signature, slot, blockTime } = row;
          const date = blockTime === null ? null : new Date(Number(blockTime) * 1_000).toISOString();
          const mint = wellKnownAddresses.wrappedNativeMint;
          const symbol = prices.symbolOf(caller.network, mint) ?? nativeSymbol;
          const explorerUrl = transactionUrl(signature);
          return answer({ ...facts, mint, symbol, signature, slot, timestamp: blockTime, date, explorerUrl });
        });
      return { price: serviceCredits.walletHistory, work };
    },
  };
}
