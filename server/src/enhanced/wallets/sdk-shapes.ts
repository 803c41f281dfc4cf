import { ExactDecimal, type RecordValue } from "@sluice/parser";
import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import type { LedgerTransaction } from "../transactions/ledger-pages.ts";
import { type Balances, isOneOfAKind, type TokenBalance } from "./balances.ts";
import { dollars } from "./prices.ts";
import type { Transfer } from "./transfers.ts";

/** Wallets in the shapes of helius-sdk 3.2: amounts are numbers in whole units, times are Unix seconds. */

const nativeDecimals = 9;
const nativeMint: string = wellKnownAddresses.wrappedNativeMint;

export interface SdkBalancesOptions {
  readonly page: number;
  readonly limit: number;
  readonly showsNative: boolean;
  readonly showsNfts: boolean;
  /** What the native currency is called where the oracle has no symbol for it. */
  readonly nativeSymbol: string;
}

/** Balances, of which NFTs are a list of their own, on the first page. */
export function sdkBalances(
  balances: Balances,
  nfts: readonly TokenBalance[],
  { page, limit, showsNative, showsNfts, nativeSymbol }: SdkBalancesOptions,
): RecordValue {
  const { native, holdings, shown, tokensTotal } = balances;
  const tokens = shown.filter(({ described }) => described !== null && !isOneOfAKind(described));
  const lamports: RecordValue = {
    mint: nativeMint,
    symbol: native.symbol ?? nativeSymbol,
    name: null,
    balance: new ExactDecimal(holdings.lamports, nativeDecimals),
    decimals: nativeDecimals,
    pricePerToken: native.price,
    usdValue: dollars(native.micros),
    logoUri: null,
    tokenProgram: "spl-token",
  };
  const isNativeShown = showsNative && page === 1;
  const listed = [
    ...(isNativeShown ? [{ micros: native.micros ?? -1n, value: lamports }] : []),
    ...tokens.map((token) => ({ micros: token.micros ?? -1n, value: sdkToken(token) })),
  ].sort((one, other) => (one.micros > other.micros ? -1 : one.micros < other.micros ? 1 : 0));
  const worth = listed.reduce((sum, { micros }) => (micros > 0n ? sum + micros : sum), 0n);
  return {
    balances: listed.map(({ value }) => value),
    ...(showsNfts ? { nfts: page === 1 ? nfts.map(sdkNft) : [] } : {}),
    totalUsdValue: dollars(worth),
    pagination: { page, limit, hasMore: page * limit < tokensTotal },
  };
}

function sdkToken({ holding, described, price, micros }: TokenBalance): RecordValue {
  const decimals = described?.decimals ?? 0;
  return {
    mint: holding.mint,
    symbol: described?.symbol ?? null,
    name: described?.name ?? null,
    balance: new ExactDecimal(holding.amount, decimals),
    decimals,
    pricePerToken: price,
    usdValue: dollars(micros),
    logoUri: null,
    tokenProgram: holding.tokenProgram === programs.token2022 ? "token-2022" : "spl-token",
  };
}

const sdkNft = ({ holding, described }: TokenBalance): RecordValue => ({
  mint: holding.mint,
  name: described?.name ?? null,
  imageUri: null,
  collectionName: null,
  collectionAddress: described?.collection?.verified === true ? described.collection.address : null,
  compressed: false,
});

/** A transaction with what it changed of a wallet. */
export function sdkTransaction({ row, view }: LedgerTransaction, wallet: string): RecordValue {
  const { keys, meta } = view;
  const at = keys.indexOf(wallet);
  const lamports = at < 0 ? 0n : (meta?.postBalances[at] ?? 0n) - (meta?.preBalances[at] ?? 0n);
  const tokens = new Map<string, { amount: bigint; readonly decimals: number }>();
  const add = (balances: NonNullable<typeof meta>["preTokenBalances"], sign: bigint): void => {
    for (const { owner, mint, amount, decimals } of balances ?? []) {
      if (owner !== wallet) continue;
      const change = tokens.get(mint) ?? { amount: 0n, decimals };
      change.amount += sign * amount;
      tokens.set(mint, change);
    }
  };
  add(meta?.preTokenBalances ?? null, -1n);
  add(meta?.postTokenBalances ?? null, 1n);
  const changes = [
    ...(lamports === 0n ? [] : [{ mint: "SOL", amount: lamports, decimals: nativeDecimals }]),
    ...[...tokens].map(([mint, change]) => ({ mint, ...change })).filter(({ amount }) => amount !== 0n),
  ];
  return {
    signature: row.signature,
    timestamp: row.blockTime,
    slot: row.slot,
    fee: new ExactDecimal(meta?.fee ?? 0n, nativeDecimals),
    feePayer: keys[0] ?? "",
    error: row.error === "" ? null : row.error,
    balanceChanges: changes.map(({ mint, amount, decimals }) => {
      return { mint, amount: new ExactDecimal(amount, decimals), decimals };
    }),
  };
}

/** A transfer; its symbol is null where nothing tells it. */
export function sdkTransfer({ row }: LedgerTransaction, transfer: Transfer, symbol: string | null): RecordValue {
  const { direction, counterparty, mint, amount, decimals } = transfer;
  return {
    signature: row.signature,
    timestamp: row.blockTime ?? 0n,
    direction,
    counterparty: counterparty ?? "",
    mint: mint ?? nativeMint,
    symbol,
    amount: new ExactDecimal(amount, decimals ?? 0),
    amountRaw: amount.toString(),
    decimals: decimals ?? 0,
  };
}
