import { type OraclePath, oracleBounds, oracleSymbols } from "@sluice/contract/oracle";
import { type Json, jsonText } from "../model/json.ts";
import { isoTime, sourceName } from "../model/quotation.ts";
import { missingMembers, onePrice, requiredPrices, requireRetention } from "./answers.ts";
import { OracleError } from "./oracle-error.ts";
import { readSymbol, readSymbols, readWhole } from "./parameters.ts";
import type { OracleRequest, OracleServices, ParameterInfo, Route } from "./route.ts";

export const streamPath = "/api/v1/ws" satisfies OraclePath;

const { hoursDefault, hoursMax, limitDefault, limitMax, symbolsMax } = oracleBounds;
const hourMs = 3_600_000;

const symbolParameter: ParameterInfo = {
  name: "symbol",
  in: "path",
  required: true,
  description: `One of ${oracleSymbols.join(", ")}, in any letter case`,
};

/** The data of the first variant (spec: oracle, Endpoints, variant 1). */
export function v1Routes(services: OracleServices): Route[] {
  const get = (
    path: OraclePath,
    summary: string,
    parameters: readonly ParameterInfo[],
    answer: Route["answer"],
  ): Route => ({ variant: "v1", path, summary, parameters, counted: true, answer });
  return [
    get("/api/v1/price/:symbol", "The price of one symbol", [symbolParameter], (request) =>
      onePrice(services.priceStore, request, readSymbol(request.parameter, "v1")),
    ),
    get(
      "/api/v1/prices",
      "The prices of several symbols",
      [{ name: "symbols", in: "query", required: true, description: `Separated by commas, at most ${symbolsMax}` }],
      (request) => prices(services, request),
    ),
    get(
      "/api/v1/price/:symbol/history",
      "Past prices of one symbol, spread evenly over the time asked for",
      [
        symbolParameter,
        {
          name: "hours",
          in: "query",
          required: false,
          description: `1 to ${hoursMax}, ${hoursDefault} unless given`,
        },
        {
          name: "limit",
          in: "query",
          required: false,
          description: `1 to ${limitMax}, ${limitDefault} unless given`,
        },
      ],
      (request) => history(services, request),
    ),
    get("/api/v1/data-sources", "The sources of prices", [], () => dataSources(services)),
    get("/api/v1/data-sources/stats", "Statistics of the sources", [], (request) => sourceStats(services, request)),
    get("/api/v1/metrics", "How the oracle does", [], (request) => metrics(services, request)),
  ];
}

/** The stream's path without an upgrade. */
export const streamRoute: Route = {
  variant: "v1",
  path: streamPath,
  summary: "The stream of prices",
  parameters: [],
  counted: false,
  answer: () => {
    throw new OracleError("UPGRADE_REQUIRED");
  },
};

function prices({ priceStore }: OracleServices, request: OracleRequest): string {
  const found = requiredPrices(priceStore, request, readSymbols(request.query, "v1"));
  const members = { success: true, count: found.records.length, prices: found.records };
  return jsonText({ ...members, ...missingMembers(found, request) });
}

async function history({ history: past }: OracleServices, request: OracleRequest): Promise<string> {
  const symbol = readSymbol(request.parameter, "v1");
  const hours = readWhole(request.query, "hours", { preset: hoursDefault, max: hoursMax });
  const limit = readWhole(request.query, "limit", { preset: limitDefault, max: limitMax });
  requireRetention(request, hours * hourMs);
  const { updateFrequencySeconds } = request.terms;
  const points = await past.points(symbol, { spanMs: hours * hourMs, limit }, updateFrequencySeconds);
  const items = points.map(({ atMs, price, confidence, volume24h, sources }) => ({
    timestamp: isoTime(atMs),
    price,
    confidence,
    volume24h,
    sources: sources.map(sourceName),
  }));
  return jsonText({ success: true, count: items.length, history: items });
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : rounded(values.reduce((sum, value) => sum + value, 0) / values.length);

function dataSources({ sources, info }: OracleServices): string {
  const records = sources().map(({ id, enabled, status, uptime24h, responseMs, symbols }): Json => {
    const { name, provider, category, type } = info(id);
    // The public data of exchanges needs no key.
    const stats = {
      totalKeys: 0,
      activeKeys: 0,
      avgUptime24h: rounded(uptime24h),
      avgResponseTime: rounded(responseMs ?? 0),
    };
    return { id, name, provider, category, type, enabled, status, symbols, stats };
  });
  return jsonText({ success: true, count: records.length, sources: records });
}

function sourceStats(services: OracleServices, { terms }: OracleRequest): string {
  const states = services.sources();
  const enabled = states.filter((state) => state.enabled);
  const feeds = services.feeds(terms.updateFrequencySeconds);
  return jsonText({
    success: true,
    totalSources: states.length,
    activeSources: states.filter(({ status }) => status === "active").length,
    operationalSources: states.filter(({ status }) => status === "active" || status === "degraded").length,
    totalApiKeys: 0,
    activeApiKeys: 0,
    totalRequests24h: enabled.reduce((sum, state) => sum + state.requests24h, 0),
    avgSuccessRate: mean(enabled.map((state) => state.successRate)),
    activeFeeds: feeds.active,
    avgConfidence: feeds.confidence,
  });
}

function metrics(services: OracleServices, { nowMs, terms }: OracleRequest): string {
  const feeds = services.feeds(terms.updateFrequencySeconds);
  const { averageLatencyMs, requestRate, errorRate } = services.stats.lastMinute();
  return jsonText({
    uptime: services.uptimeSeconds(),
    timestamp: isoTime(nowMs),
    system: {
      activeFeeds: feeds.active,
      totalSources: services.sources().length,
      systemHealth: rounded((100 * feeds.active) / oracleSymbols.length),
      averageLatency: rounded(averageLatencyMs),
      requestRate: rounded(requestRate),
      errorRate: rounded(errorRate),
    },
  });
}
