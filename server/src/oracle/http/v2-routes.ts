import {
  type OraclePath,
  oracleBounds,
  oracleIntervalDefault,
  oracleIntervals,
  oraclePair,
  oraclePeriodDefault,
  oraclePeriods,
  oracleSymbols,
} from "@sluice/contract/oracle";
import type { Allowance } from "../../credits/index.ts";
import { dataSinceHeaders } from "../../http/index.ts";
import { type Decimal, zero } from "../model/decimal.ts";
import { type Json, jsonText, WrittenJson } from "../model/json.ts";
import { isoTime, type Quotation } from "../model/quotation.ts";
import { missingMembers, onePrice, requiredPrices, requireRetention, severalPrices } from "./answers.ts";
import { readInterval, readPeriod, readSymbol, readSymbols, readWhole } from "./parameters.ts";
import type { OracleRequest, OracleServices, ParameterInfo, Route } from "./route.ts";

const { limitDefault, limitMax, moversMax, symbolsMax } = oracleBounds;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const pairParameter: ParameterInfo = {
  name: "symbol",
  in: "path",
  required: true,
  description: `One of ${oracleSymbols.map(oraclePair).join(", ")}, in any letter case`,
};
const limitParameter: ParameterInfo = {
  name: "limit",
  in: "query",
  required: false,
  description: `1 to ${limitMax}, ${limitDefault} unless given`,
};
const choice = (name: string, choices: object, preset: string): ParameterInfo => ({
  name,
  in: "query",
  required: false,
  description: `One of ${Object.keys(choices).join(", ")}; ${preset} unless given`,
});

/** The second variant (spec: oracle, Endpoints, variant 2). */
export function v2Routes(services: OracleServices): Route[] {
  const get = (
    path: OraclePath,
    summary: string,
    parameters: readonly ParameterInfo[],
    answer: Route["answer"],
    counted = true,
  ): Route => ({ variant: "v2", path, summary, parameters, counted, answer });
  const listed: ParameterInfo = {
    name: "symbols",
    in: "query",
    required: true,
    description: `Pairs separated by commas, at most ${symbolsMax}`,
  };
  return [
    get("/v1/prices/batch", "The prices of several pairs", [listed], (request) =>
      batch(services, request, readSymbols(request.query, "v2")),
    ),
    get("/v1/prices/all", "The prices of all pairs", [], (request) => batch(services, request, oracleSymbols)),
    get("/v1/prices/:symbol", "The price of one pair", [pairParameter], (request) =>
      onePrice(services.priceStore, request, readSymbol(request.parameter, "v2")),
    ),
    get(
      "/v1/prices/:symbol/history",
      "Past prices of one pair, spread evenly over the period",
      [pairParameter, choice("period", oraclePeriods, oraclePeriodDefault), limitParameter],
      (request) => history(services, request),
    ),
    get(
      "/v1/prices/:symbol/ohlcv",
      "Candles of one pair",
      [pairParameter, choice("interval", oracleIntervals, oracleIntervalDefault), limitParameter],
      (request) => ohlcv(services, request),
    ),
    get("/v1/market/summary", "The market in a few figures", [], (request) => summary(services, request)),
    get("/v1/market/movers", "The largest changes of 24 hours", [], (request) => movers(services, request)),
    get(
      "/v1/auth/validate",
      "Whether the key is valid",
      [],
      (request) => validation(services.allowances.v2, request),
      false,
    ),
  ];
}

function batch(
  { priceStore }: OracleServices,
  request: OracleRequest,
  symbols: Parameters<typeof severalPrices>[2],
): string {
  const found = requiredPrices(priceStore, request, symbols);
  return jsonText({ data: found.records, timestamp: isoTime(request.nowMs), ...missingMembers(found, request) });
}

async function history({ history: past }: OracleServices, request: OracleRequest): Promise<string> {
  const symbol = readSymbol(request.parameter, "v2");
  const period = readPeriod(request.query);
  const limit = readWhole(request.query, "limit", { preset: limitDefault, max: limitMax });
  const spanMs = oraclePeriods[period] * hourMs;
  requireRetention(request, spanMs);
  const points = await past.points(symbol, { spanMs, limit }, request.terms.updateFrequencySeconds);
  const data = points.map(
    ({ atMs, price, confidence, volume24h }): Json => ({
      timestamp: isoTime(atMs),
      price,
      confidence,
      volume: volume24h,
    }),
  );
  return jsonText({ symbol: oraclePair(symbol), period, data });
}

async function ohlcv(services: OracleServices, request: OracleRequest): Promise<string> {
  const symbol = readSymbol(request.parameter, "v2");
  const interval = readInterval(request.query);
  const minutes = oracleIntervals[interval];
  const limit = readWhole(request.query, "limit", { preset: mostWithin(request, minutes), max: limitMax });
  requireRetention(request, limit * minutes * minuteMs);
  const fromMs = request.nowMs - limit * minutes * minuteMs;
  Object.assign(request.headers, dataSinceHeaders(fromMs, services.candlesKeptSince()));
  const bars = await services.history.bars(symbol, { minutes, limit }, request.terms.updateFrequencySeconds);
  const data = bars.map(
    ({ atMs, open, high, low, close, volume }): Json => ({ timestamp: isoTime(atMs), open, high, low, close, volume }),
  );
  return jsonText({ symbol: oraclePair(symbol), interval, data });
}

/** The default limit: as many candles as the tier may see, so that a request without a limit is not refused. */
function mostWithin({ terms }: OracleRequest, minutes: number): number {
  if (terms.historyRetentionDays === null) return limitDefault;
  const held = Math.floor((terms.historyRetentionDays * dayMs) / (minutes * minuteMs));
  return Math.max(1, Math.min(limitDefault, held));
}

/** All symbols that have a price, and when the newest of them was agreed. */
function market({ priceStore }: OracleServices, request: OracleRequest) {
  const { quotations } = severalPrices(priceStore, request, oracleSymbols);
  const changes = quotations.flatMap((quotation) => {
    const change = quotation.round.change24h;
    return change === null ? [] : [{ quotation, change }];
  });
  return { quotations, changes };
}

function summary(services: OracleServices, request: OracleRequest): string {
  const { quotations, changes } = market(services, request);
  const rounds = quotations.map(({ round }) => round);
  const volume = rounds.reduce((sum, round) => (sum + (round.volume24h ?? zero)) as Decimal, zero);
  const newest = rounds.reduce((latest, round) => Math.max(latest, round.atMs), 0);
  return jsonText({
    data: {
      symbols: rounds.length,
      total_volume_24h: volume,
      average_confidence: meanConfidence(quotations),
      gainers: changes.filter(({ change }) => change > 0n).length,
      losers: changes.filter(({ change }) => change < 0n).length,
      updated: newest === 0 ? null : isoTime(newest),
    },
    timestamp: isoTime(request.nowMs),
  });
}

/** In percent; zero where there is no price. */
export function meanConfidence(quotations: readonly Quotation[]): Decimal {
  if (quotations.length === 0) return zero;
  const sum = quotations.reduce((total, { round }) => (total + round.confidence) as Decimal, zero);
  return (sum / BigInt(quotations.length)) as Decimal;
}

function movers(services: OracleServices, request: OracleRequest): string {
  const { changes } = market(services, request);
  const inOrder = [...changes].sort((left, right) =>
    left.change < right.change ? -1 : left.change > right.change ? 1 : 0,
  );
  const texts = (list: typeof inOrder): WrittenJson[] =>
    list.slice(0, moversMax).map(({ quotation }) => new WrittenJson(quotation.pair));
  return jsonText({
    data: {
      gainers: texts(inOrder.filter(({ change }) => change > 0n).reverse()),
      losers: texts(inOrder.filter(({ change }) => change < 0n)),
    },
    timestamp: isoTime(request.nowMs),
  });
}

/** The limits of a key, and the requests of its account in the present month. */
async function validation(allowance: Allowance, request: OracleRequest): Promise<string> {
  const { terms, tier, grant } = request;
  const { month, used } = await allowance.spent(grant.accountId);
  const usedRequests = Number(used);
  const monthly = terms.requestsMonthly;
  return jsonText({
    valid: true,
    plan: tier,
    limits: {
      requests_per_minute: terms.rate,
      burst: terms.burst,
      requests_per_month: monthly,
      update_frequency_seconds: terms.updateFrequencySeconds,
      history_retention_days: terms.historyRetentionDays,
    },
    usage: {
      month,
      requests: usedRequests,
      remaining: monthly === null ? null : Math.max(0, monthly - usedRequests),
    },
  });
}
