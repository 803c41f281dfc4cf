import { defineStatus, type StatusDefinition } from "./errors.ts";
import type { OracleTier, OracleV2Tier } from "./tiers.ts";

/**
 * The public side of the price oracle: symbols, sources, bounds, tiers and errors. Its endpoint enforces these tables,
 * and the `resources` paths show them.
 */

/** The symbols with a price. */
export const oracleSymbols = [
  "BTC",
  "ETH",
  "SOL",
  "ADA",
  "DOT",
  "USDC",
  "USDT",
  "UNI",
  "LINK",
  "AAVE",
  "COMP",
  "BNB",
  "CRO",
  "FTT",
  "XNT",
] as const;
export type OracleSymbol = (typeof oracleSymbols)[number];

/** Symbols whose price takes at least three sources. Others take two. */
export const oracleMajors: readonly OracleSymbol[] = ["BTC", "ETH", "SOL", "USDC", "USDT", "BNB"];

/**
 * Symbols that no exchange lists: their price comes from pools of the chain, of which one that is deep enough suffices.
 */
export const oraclePoolSymbols: readonly OracleSymbol[] = ["XNT"];

/** The currency of every price. The second variant names a symbol by its pair, as in BTC-USD. */
const oracleQuote = "USD";

/** The pair of a symbol, as the second variant writes it. */
export const oraclePair = (symbol: string): string => `${symbol}-${oracleQuote}`;

/** A source of prices as the data-sources paths show it. */
export interface OracleSourceInfo {
  readonly name: string;
  readonly provider: string;
  readonly category: "cex" | "dex";
  readonly type: "api" | "chain";
}

const exchange = (name: string): OracleSourceInfo => ({ name, provider: name, category: "cex", type: "api" });

/** The sources by their ids, in the order in which they are listed. */
export const oracleSources = {
  binance: exchange("Binance"),
  coinbase: exchange("Coinbase Exchange"),
  kraken: exchange("Kraken"),
  okx: exchange("OKX"),
  bybit: exchange("Bybit"),
  kucoin: exchange("KuCoin"),
  bitstamp: exchange("Bitstamp"),
  gate: exchange("Gate"),
  chain: { name: "Chain pools", provider: "Sluice", category: "dex", type: "chain" },
} as const satisfies Record<string, OracleSourceInfo>;
export type OracleSourceId = keyof typeof oracleSources;

/** Whether a source gives prices now. */
export const oracleSourceStatuses = ["active", "degraded", "down", "disabled"] as const;
export type OracleSourceStatus = (typeof oracleSourceStatuses)[number];

/** The member `source` of every price record. */
export const oracleLabel = "Sluice Oracle";

/** Every path of the oracle, as patterns. */
export const oraclePaths = [
  "/api/v1/price/:symbol",
  "/api/v1/prices",
  "/api/v1/price/:symbol/history",
  "/api/v1/data-sources",
  "/api/v1/data-sources/stats",
  "/api/v1/metrics",
  "/api/v1/ws",
  "/api/v1/resources/api-docs",
  "/api/v1/resources/pricing",
  "/api/v1/resources/tiers",
  "/api/v1/resources/tiers/:tier",
  "/resources/guides",
  "/resources/oracle-models",
  "/resources/sdks",
  "/v1/prices/batch",
  "/v1/prices/all",
  "/v1/prices/:symbol",
  "/v1/prices/:symbol/history",
  "/v1/prices/:symbol/ohlcv",
  "/v1/market/summary",
  "/v1/market/movers",
  "/v1/auth/validate",
] as const;
export type OraclePath = (typeof oraclePaths)[number];

/** Bounds of parameters and of sockets; times in milliseconds, sizes in bytes, where the name says nothing else. */
export const oracleBounds = {
  symbolsMax: 50,
  hoursDefault: 24,
  hoursMax: 168,
  limitDefault: 100,
  limitMax: 1_000,
  /** Gainers and losers shown, each. */
  moversMax: 5,
  /** A round older than this, beside what the tier's update frequency allows, is no price any more. */
  roundAgeMs: 60_000,
  socketAuthMs: 10_000,
  socketMessageBytes: 16 * 1024,
  socketMessagesPerSecond: 50,
  /** Sockets of the whole process that have not said who they are. */
  socketsUnknownMax: 1_000,
} as const;

/** Periods of the market paths, in hours. */
export const oraclePeriods = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 } as const;
export type OraclePeriod = keyof typeof oraclePeriods;

/** The period of a request that names none. */
export const oraclePeriodDefault: OraclePeriod = "24h";

/** Minutes of each interval. */
export const oracleIntervals = { "1m": 1, "5m": 5, "15m": 15, "1h": 60, "4h": 240, "1d": 1_440 } as const;
export type OracleInterval = keyof typeof oracleIntervals;

/** The interval of a request that names none. */
export const oracleIntervalDefault: OracleInterval = "1h";

/** What both variants' tiers have; the rate differs by its unit. */
export interface OracleTierTerms {
  readonly name: string;
  /** US dollars; null is negotiated. */
  readonly priceMonthlyUsd: number | null;
  /** Answered requests a calendar month (UTC); null is unlimited. */
  readonly requestsMonthly: number | null;
  /** Rate and burst of the token bucket. */
  readonly rate: number;
  readonly burst: number;
  readonly support: string;
  /** A price that is served was agreed at most this long before, as long as there is one. */
  readonly updateFrequencySeconds: number;
  /** How far history reaches back; null is to the beginning. */
  readonly historyRetentionDays: number | null;
  /** Sockets of the account at one time; 0 is none. */
  readonly webSocketConnections: number;
  readonly note: string | null;
}

const terms = (
  name: string,
  priceMonthlyUsd: number | null,
  requestsMonthly: number | null,
  rate: { readonly rate: number; readonly burst: number },
  freshness: { readonly updateFrequencySeconds: number; readonly historyRetentionDays: number | null },
  rest: { readonly support: string; readonly webSocketConnections?: number; readonly note?: string },
): OracleTierTerms => ({
  name,
  priceMonthlyUsd,
  requestsMonthly,
  ...rate,
  ...freshness,
  support: rest.support,
  webSocketConnections: rest.webSocketConnections ?? 0,
  note: rest.note ?? null,
});

/** Bursts of the first variant are two seconds' worth, as everywhere; those of the second one minute's. */
const perSecond = (rate: number) => ({ rate, burst: rate * 2 });
const perMinute = (rate: number) => ({ rate, burst: rate });
const fresh = (updateFrequencySeconds: number, historyRetentionDays: number | null) => ({
  updateFrequencySeconds,
  historyRetentionDays,
});

/** The first variant; rates are requests a second. */
export const oracleTierTerms: Readonly<Record<OracleTier, OracleTierTerms>> = {
  community: terms("Community Access", 0, 1_000, perSecond(1), fresh(60, 1), { support: "community" }),
  builders: terms("Builders", 0, 50_000, perSecond(30), fresh(30, 90), {
    support: "community",
    note: "Free for verified builders",
  }),
  professional: terms("Professional", 29, 100_000, perSecond(10), fresh(15, 180), { support: "email" }),
  enterprise: terms("Enterprise", 199, 1_000_000, perSecond(100), fresh(1, 730), {
    support: "priority",
    webSocketConnections: 100,
  }),
  ultra: terms("Ultra Access", 999, null, perSecond(1_000), fresh(1, null), {
    support: "dedicated",
    webSocketConnections: 1_000,
  }),
};

/** The second variant; rates are requests a minute. */
export const oracleV2TierTerms: Readonly<Record<OracleV2Tier, OracleTierTerms>> = {
  community: terms("Community", 0, 1_000, perMinute(10), fresh(60, 1), { support: "community" }),
  developer: terms("Developer", 9, 10_000, perMinute(60), fresh(30, 90), { support: "email" }),
  professional: terms("Professional", 29, 100_000, perMinute(300), fresh(15, 180), { support: "priority" }),
  enterprise: terms("Enterprise", null, null, perMinute(1_000), fresh(1, null), { support: "dedicated" }),
};

/** The product is deprecated since this moment (RFC 9745): it is served as documented and gets nothing new. */
export const oracleDeprecatedSince = "2026-01-01T00:00:00Z";

/**
 * The codes of the oracle's error bodies. Both API variants share them; only the form of the body differs. Append-only.
 */
export const oracleErrorTable = {
  INVALID_PARAMETER: defineStatus(400, "A parameter is invalid"),
  TOO_MANY_SYMBOLS: defineStatus(400, "Too many symbols in one request"),
  MISSING_API_KEY: defineStatus(401, "An API key is required"),
  INVALID_API_KEY: defineStatus(401, "The API key is invalid or not active"),
  INSUFFICIENT_TIER: defineStatus(403, "The subscription does not include this"),
  PERMISSION_DENIED: defineStatus(403, "The API key may not be used for this"),
  INVALID_SYMBOL: defineStatus(404, "The symbol is not supported"),
  NOT_FOUND: defineStatus(404, "The resource does not exist"),
  METHOD_NOT_ALLOWED: defineStatus(405, "Method not allowed"),
  UPGRADE_REQUIRED: defineStatus(426, "This path speaks WebSocket"),
  RATE_LIMIT_EXCEEDED: defineStatus(429, "Rate limit exceeded"),
  QUOTA_EXCEEDED: defineStatus(429, "The month's requests are used up"),
  INTERNAL_ERROR: defineStatus(500, "Oracle system error"),
  PRICE_UNAVAILABLE: defineStatus(503, "No price that enough sources agree on"),
  SERVICE_UNAVAILABLE: defineStatus(503, "The oracle is temporarily unavailable"),
} as const satisfies Record<string, StatusDefinition>;

export type OracleErrorCode = keyof typeof oracleErrorTable;

/** All codes of the oracle, in the order of the table. */
export const oracleErrorCodes: readonly OracleErrorCode[] = Object.keys(oracleErrorTable).filter(
  (code): code is OracleErrorCode => code in oracleErrorTable,
);
