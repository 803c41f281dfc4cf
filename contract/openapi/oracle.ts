import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import {
  type OracleErrorCode,
  type OraclePath,
  oracleBounds,
  oracleErrorTable,
  oracleIntervalDefault,
  oracleIntervals,
  oraclePeriodDefault,
  oraclePeriods,
  oracleSourceStatuses,
} from "../oracle.ts";
import { dataSinceHeader } from "./data-since.ts";

/** The price oracle, which listens on a port of its own. Both of its variants share keys, and differ in their forms. */

type Media = NonNullable<NonNullable<ZodOpenApiResponseObject["content"]>[string]>;
type Schema = NonNullable<Media["schema"]>;
type Parameter = NonNullable<ZodOpenApiOperationObject["parameters"]>[number];

const text = { type: "string" } as const;
const number = { type: "number" } as const;
const whole = { type: "integer" } as const;
const yes = { type: "boolean", const: true } as const;
const time = { type: "string", format: "date-time" } as const;
const listOf = (items: Schema) => ({ type: "array", items }) as const;
const orNull = (type: "string" | "number" | "integer"): Schema => ({ type: [type, "null"] });

/** An object all of whose members are there. A later version may have more. */
const record = (properties: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}) =>
  ({
    type: "object",
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
  }) as Schema;

const price = {
  symbol: text,
  price: number,
  confidence: number,
  volume24h: orNull("number"),
  change24h: orNull("number"),
  high24h: orNull("number"),
  low24h: orNull("number"),
  sources: listOf(text),
  timestamp: time,
  source: text,
};
const priceRecord = record({ success: yes, ...price });
const pairRecord = record({
  symbol: text,
  price: number,
  confidence: number,
  timestamp: time,
  sources: whole,
  change_24h: orNull("number"),
  volume_24h: orNull("number"),
});
const unavailable = listOf(
  record({
    symbol: text,
    reason: text,
    last_price_at: orNull("string"),
    last_price_age_seconds: orNull("integer"),
  }),
);
const counted = (name: string, items: Schema, optional: Readonly<Record<string, Schema>> = {}) =>
  record({ success: yes, count: whole, [name]: listOf(items) }, optional);
const tier = {
  name: text,
  price_monthly_usd: orNull("number"),
  requests_per_month: orNull("integer"),
  requests_per_second: number,
};
const free = { type: "object" } as const;

const query = (name: string, description: string, schema: Schema): Parameter => ({
  name,
  in: "query",
  description,
  schema: schema as { type: "string" },
});
const symbols: Parameter = {
  ...query("symbols", `Separated by commas, at most ${oracleBounds.symbolsMax}`, text),
  required: true,
};
const limit = query("limit", "The most points", {
  type: "integer",
  minimum: 1,
  maximum: oracleBounds.limitMax,
  default: oracleBounds.limitDefault,
});
const hours = query("hours", "How far back", {
  type: "integer",
  minimum: 1,
  maximum: oracleBounds.hoursMax,
  default: oracleBounds.hoursDefault,
});
const period = query("period", "How far back", {
  type: "string",
  enum: Object.keys(oraclePeriods),
  default: oraclePeriodDefault,
});
const interval = query("interval", "The length of a candle", {
  type: "string",
  enum: Object.keys(oracleIntervals),
  default: oracleIntervalDefault,
});

interface Reading {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly answer: Schema;
  readonly codes?: readonly OracleErrorCode[];
  /** It reads records that are deleted after a time. */
  readonly dataSince?: true;
}

const everywhere = [
  "MISSING_API_KEY",
  "INVALID_API_KEY",
  "PERMISSION_DENIED",
  "METHOD_NOT_ALLOWED",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
] as const satisfies readonly OracleErrorCode[];
const ofSymbols = ["INVALID_SYMBOL", "PRICE_UNAVAILABLE", "QUOTA_EXCEEDED"] as const;
const ofHistory = ["INVALID_PARAMETER", "INVALID_SYMBOL", "INSUFFICIENT_TIER", "QUOTA_EXCEEDED"] as const;

const errorBodies = {
  v1: record({
    success: { type: "boolean", const: false },
    error: text,
    message: text,
    details: free,
    timestamp: time,
  }),
  v2: record({ error: record({ code: text, message: text, details: free }), timestamp: time }),
};

function failures(codes: readonly OracleErrorCode[], variant: "v1" | "v2") {
  const byStatus = new Map<number, string[]>();
  for (const code of codes) {
    const { status, text: meaning } = oracleErrorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${code}: ${meaning}.`]);
  }
  const answers: Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> = {};
  for (const [status, lines] of [...byStatus].sort(([one], [other]) => one - other)) {
    answers[`${status}` as `4${string}`] = {
      description: lines.join(" "),
      content: { "application/json": { schema: errorBodies[variant] } },
    };
  }
  return answers;
}

function get(path: OraclePath, { operationId, summary, parameters = [], answer, codes = [], dataSince }: Reading) {
  const variant = path.startsWith("/v1/") ? "v2" : "v1";
  const operation: ZodOpenApiOperationObject = {
    operationId,
    tags: [variant === "v1" ? "Prices" : "Prices, variant 2"],
    summary,
    security: [{ bearer: [] }, { apiKeyHeader: [] }, { apiKeyQuery: [] }],
    ...(parameters.length === 0 ? {} : { parameters: [...parameters] }),
    responses: {
      "200": {
        description: summary,
        content: { "application/json": { schema: answer } },
        ...(dataSince === true ? dataSinceHeader : {}),
      },
      ...failures([...everywhere, ...codes], variant),
    },
  };
  return { [path.replace(/:(\w+)/g, "{$1}")]: { get: operation } };
}

/** The paths of the oracle's endpoint. */
export function oraclePaths(): ZodOpenApiPathsObject {
  return { ...firstVariant(), ...stream(), ...resources(), ...secondVariant() };
}

const pastPrice = {
  timestamp: time,
  price: number,
  confidence: number,
  volume24h: orNull("number"),
  sources: listOf(text),
};

function firstVariant(): ZodOpenApiPathsObject {
  const source = {
    id: text,
    name: text,
    provider: text,
    category: text,
    type: text,
    enabled: { type: "boolean" },
    status: { type: "string", enum: [...oracleSourceStatuses] },
    symbols: listOf(text),
    stats: record({ totalKeys: whole, activeKeys: whole, avgUptime24h: number, avgResponseTime: number }),
  } satisfies Record<string, Schema>;
  const figures = [
    "totalSources",
    "activeSources",
    "operationalSources",
    "totalApiKeys",
    "activeApiKeys",
    "totalRequests24h",
    "avgSuccessRate",
    "activeFeeds",
    "avgConfidence",
  ];
  const system = ["activeFeeds", "totalSources", "systemHealth", "averageLatency", "requestRate", "errorRate"];
  const numbers = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, number]));
  return {
    ...get("/api/v1/price/:symbol", {
      operationId: "price",
      summary: "The price of one symbol",
      answer: priceRecord,
      codes: ofSymbols,
    }),
    ...get("/api/v1/prices", {
      operationId: "prices",
      summary: "The prices of several symbols",
      parameters: [symbols],
      answer: counted("prices", priceRecord, { unavailable }),
      codes: ["INVALID_PARAMETER", "TOO_MANY_SYMBOLS", ...ofSymbols],
    }),
    ...get("/api/v1/price/:symbol/history", {
      operationId: "priceHistory",
      summary: "Past prices of one symbol, spread evenly over the time asked for",
      parameters: [hours, limit],
      answer: counted("history", record(pastPrice)),
      codes: ofHistory,
    }),
    ...get("/api/v1/data-sources", {
      operationId: "dataSources",
      summary: "The sources of prices",
      answer: counted("sources", record(source)),
      codes: ["QUOTA_EXCEEDED"],
    }),
    ...get("/api/v1/data-sources/stats", {
      operationId: "dataSourceStatistics",
      summary: "Statistics of the sources",
      answer: record({ success: yes, ...numbers(figures) }),
      codes: ["QUOTA_EXCEEDED"],
    }),
    ...get("/api/v1/metrics", {
      operationId: "oracleMetrics",
      summary: "How the oracle does",
      answer: record({ uptime: number, timestamp: time, system: record(numbers(system)) }),
      codes: ["QUOTA_EXCEEDED"],
    }),
  };
}

function stream(): ZodOpenApiPathsObject {
  const path: OraclePath = "/api/v1/ws";
  const operation: ZodOpenApiOperationObject = {
    operationId: "priceStream",
    tags: ["Prices"],
    summary: "The stream of prices, over a WebSocket",
    description:
      'For tiers with sockets. The first message is {"type":"auth","api_key":…}, then {"type":"subscribe","channel":"prices",' +
      '"symbols":[…]}; each price is a message of the type price_update.',
    security: [],
    responses: {
      "101": { description: "Switched to WebSocket" },
      ...failures(["UPGRADE_REQUIRED", "SERVICE_UNAVAILABLE"], "v1"),
    },
  };
  return { [path]: { get: operation } };
}

function resources(): ZodOpenApiPathsObject {
  const named = (operationId: string, summary: string) => ({ operationId, summary });
  return {
    ...get("/api/v1/resources/api-docs", { ...named("oracleApiDocs", "Paths, parameters and codes"), answer: free }),
    ...get("/api/v1/resources/pricing", {
      ...named("oraclePricing", "Tiers with what they include and cost"),
      answer: counted("tiers", free),
    }),
    ...get("/api/v1/resources/tiers", {
      ...named("oracleTiers", "Tiers side by side"),
      answer: counted("tiers", record({ tier: text, ...tier, features: free })),
    }),
    ...get("/api/v1/resources/tiers/:tier", {
      ...named("oracleTier", "One tier"),
      answer: record(tier),
      codes: ["NOT_FOUND"],
    }),
    ...get("/resources/guides", { ...named("oracleGuides", "Guides for developers"), answer: counted("guides", free) }),
    ...get("/resources/oracle-models", {
      ...named("oracleModels", "The ways to get prices"),
      answer: counted("models", free),
    }),
    ...get("/resources/sdks", { ...named("oracleSdks", "Client libraries"), answer: counted("sdks", free) }),
  };
}

function secondVariant(): ZodOpenApiPathsObject {
  const batch = record({ data: listOf(pairRecord), timestamp: time }, { unavailable });
  const point = record({ timestamp: time, price: number, confidence: number, volume: orNull("number") });
  const candle = record({
    ...{ timestamp: time, open: number, high: number, low: number, close: number },
    volume: {
      type: ["number", "null"],
      description:
        "US dollars that exchanges traded in it, so far in the open one; null where none of its minutes is known",
    },
  });
  const enveloped = (properties: Readonly<Record<string, Schema>>) =>
    record({ data: record(properties), timestamp: time });
  const figures = { symbols: whole, total_volume_24h: number, average_confidence: number };
  return {
    ...get("/v1/prices/batch", {
      operationId: "pairPrices",
      summary: "The prices of several pairs",
      parameters: [symbols],
      answer: batch,
      codes: ["INVALID_PARAMETER", "TOO_MANY_SYMBOLS", ...ofSymbols],
    }),
    ...get("/v1/prices/all", {
      operationId: "allPairPrices",
      summary: "The prices of all pairs",
      answer: batch,
      codes: ["PRICE_UNAVAILABLE", "QUOTA_EXCEEDED"],
    }),
    ...get("/v1/prices/:symbol", {
      operationId: "pairPrice",
      summary: "The price of one pair",
      answer: pairRecord,
      codes: ofSymbols,
    }),
    ...get("/v1/prices/:symbol/history", {
      operationId: "pairHistory",
      summary: "Past prices of one pair, spread evenly over the period",
      parameters: [period, limit],
      answer: record({ symbol: text, period: text, data: listOf(point) }),
      codes: ofHistory,
    }),
    ...get("/v1/prices/:symbol/ohlcv", {
      operationId: "pairCandles",
      summary: "Candles of one pair",
      parameters: [interval, limit],
      answer: record({ symbol: text, interval: text, data: listOf(candle) }),
      codes: ofHistory,
      dataSince: true,
    }),
    ...get("/v1/market/summary", {
      operationId: "marketSummary",
      summary: "The market in a few figures",
      answer: enveloped({ ...figures, gainers: whole, losers: whole, updated: orNull("string") }),
      codes: ["QUOTA_EXCEEDED"],
    }),
    ...get("/v1/market/movers", {
      operationId: "marketMovers",
      summary: "The largest changes of 24 hours",
      answer: enveloped({ gainers: listOf(pairRecord), losers: listOf(pairRecord) }),
      codes: ["QUOTA_EXCEEDED"],
    }),
    ...get("/v1/auth/validate", {
      operationId: "validateKey",
      summary: "The limits of a key and what it used of them",
      answer: record({ valid: yes, plan: text, limits: free, usage: free }),
    }),
  };
}
