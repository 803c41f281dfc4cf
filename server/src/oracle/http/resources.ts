import {
  type OraclePath,
  type OracleTierTerms,
  oracleBounds,
  oracleErrorCodes,
  oracleErrorTable,
  oracleSources,
  oracleSymbols,
  oracleTierTerms,
} from "@sluice/contract/oracle";
import { oracleTiers } from "@sluice/contract/tiers";
import { type Json, jsonText } from "../model/json.ts";
import { upperAscii } from "../model/symbol-text.ts";
import { OracleError } from "./oracle-error.ts";
import type { Route } from "./route.ts";
import { streamPath } from "./v1-routes.ts";

/** What the token bucket of a tier is called wherever a tier is described. */
const rateLimitMethod = "token bucket";

/** One tier of the first variant, as the document names its attributes. */
export function tierDetail(terms: OracleTierTerms): Readonly<Record<string, Json>> {
  return {
    name: terms.name,
    price_monthly_usd: terms.priceMonthlyUsd,
    requests_per_month: terms.requestsMonthly,
    requests_per_second: terms.rate,
    rate_limit_method: rateLimitMethod,
    support: terms.support,
    data_sources: Object.keys(oracleSources).length,
    update_frequency_seconds: terms.updateFrequencySeconds,
    history_retention_days: terms.historyRetentionDays,
    websocket: terms.webSocketConnections > 0,
  };
}

/** The resources of the first variant. Their limits are read from the tables that the endpoints enforce. */
export function resourceRoutes(documented: readonly Route[]): Route[] {
  const get = (
    path: OraclePath,
    summary: string,
    answer: Route["answer"],
    parameters: Route["parameters"] = [],
  ): Route => ({
    variant: "v1",
    path,
    summary,
    parameters,
    counted: false,
    answer,
  });
  const tierParameter = {
    name: "tier",
    in: "path",
    required: true,
    description: `One of ${oracleTiers.join(", ")}, in any letter case`,
  } as const;
  const routes: Route[] = [
    get("/api/v1/resources/api-docs", "This description", () => apiDocs([...documented, ...routes])),
    get("/api/v1/resources/pricing", "Tiers with what they include and cost", pricing),
    get("/api/v1/resources/tiers", "Tiers side by side", comparison),
    get("/api/v1/resources/tiers/:tier", "One tier", ({ parameter }) => oneTier(parameter), [tierParameter]),
    get("/resources/guides", "Guides for developers", guides),
    get("/resources/oracle-models", "The ways in which prices can be had", models),
    get("/resources/sdks", "Client libraries", sdks),
  ];
  return routes;
}

function oneTier(name: string): string {
  const tier = oracleTiers.find((one) => upperAscii(one) === upperAscii(name));
  if (tier !== undefined) return jsonText(tierDetail(oracleTierTerms[tier]));
  throw new OracleError("NOT_FOUND", {
    message: "There is no such tier",
    details: { tiers: oracleTiers },
  });
}

const allTiers = () => oracleTiers.map((tier) => ({ tier, terms: oracleTierTerms[tier] }));

function pricing(): string {
  const tiers = allTiers().map(({ tier, terms }): Json => {
    const { name, price_monthly_usd, ...features } = tierDetail(terms);
    return { tier, name: name ?? "", price_monthly_usd: price_monthly_usd ?? null, note: terms.note, features };
  });
  return jsonText({ success: true, currency: "USD", count: tiers.length, tiers });
}

function comparison(): string {
  const tiers = allTiers().map(
    ({ tier, terms }): Json => ({
      tier,
      name: terms.name,
      price_monthly_usd: terms.priceMonthlyUsd,
      requests_per_month: terms.requestsMonthly,
      requests_per_second: terms.rate,
      features: {
        websocket: terms.webSocketConnections > 0,
        websocket_connections: terms.webSocketConnections,
        burst: terms.burst,
        update_frequency_seconds: terms.updateFrequencySeconds,
        history_retention_days: terms.historyRetentionDays,
        support: terms.support,
      },
    }),
  );
  return jsonText({ success: true, count: tiers.length, rate_limit_method: rateLimitMethod, tiers });
}

function apiDocs(routes: readonly Route[]): string {
  const endpoints = routes.map(
    ({ path, summary, parameters, counted }): Json => ({
      method: "GET",
      path,
      summary,
      parameters: parameters.map((parameter): Json => ({ ...parameter })),
      counted,
    }),
  );
  const errors = oracleErrorCodes.map((code): Json => {
    const { status, text } = oracleErrorTable[code];
    return { code, status, message: text };
  });
  return jsonText({
    success: true,
    version: "v1",
    deprecated: true,
    authentication: { header: "Authorization", scheme: "Bearer", description: "Every path needs an API key" },
    symbols: oracleSymbols,
    endpoints,
    websocket: webSocketDocs(),
    errors,
    limits: {
      symbols_max: oracleBounds.symbolsMax,
      history_hours_max: oracleBounds.hoursMax,
      history_limit_max: oracleBounds.limitMax,
    },
  });
}

function webSocketDocs(): Json {
  return {
    path: streamPath,
    tiers: oracleTiers.filter((tier) => oracleTierTerms[tier].webSocketConnections > 0),
    client_messages: [
      { type: "auth", api_key: "<API_KEY>" },
      { type: "subscribe", channel: "prices", symbols: ["BTC"] },
      { type: "unsubscribe", channel: "prices", symbols: ["BTC"] },
    ],
    server_messages: ["auth_success", "subscribed", "unsubscribed", "price_update", "error"],
    messages_per_second_max: oracleBounds.socketMessagesPerSecond,
    message_bytes_max: oracleBounds.socketMessageBytes,
    seconds_to_authenticate: oracleBounds.socketAuthMs / 1_000,
  };
}

function guides(): string {
  const list: Json[] = [
    {
      id: "first-price",
      title: "Ask for a price",
      steps: [
        "Send GET /api/v1/price/BTC with the header Authorization: Bearer <API_KEY>.",
        "Read price together with confidence, timestamp and sources.",
        "On 503 PRICE_UNAVAILABLE keep what you have: details tell how old the last good price is.",
      ],
    },
    {
      id: "limits",
      title: "Stay within the limits",
      steps: [
        "X-RateLimit-Remaining tells what the token bucket still holds, X-RateLimit-Reset when it is full again.",
        "X-Quota-Used tells how many of the month's X-Quota-Limit requests are used, X-Quota-Reset when it ends.",
        "On 429 wait as long as Retry-After says: seconds for the rate, up to the month's end (UTC) for the allowance.",
        `Ask for up to ${oracleBounds.symbolsMax} symbols in one request of /api/v1/prices.`,
      ],
    },
    {
      id: "streaming",
      title: "Follow prices as they change",
      steps: [
        "Open a WebSocket at /api/v1/ws and send the auth message first.",
        "Subscribe to symbols on the channel prices; each price_update is a whole price record.",
        "A client that reads slowly gets the newest price of each symbol, never a backlog.",
      ],
    },
  ];
  return jsonText({ success: true, count: list.length, guides: list });
}

function models(): string {
  const streaming = oracleTiers.filter((tier) => oracleTierTerms[tier].webSocketConnections > 0);
  const list: Json[] = [
    {
      id: "pull",
      name: "Pull-based",
      description: "A price is asked for when it is needed",
      endpoints: ["/api/v1/price/:symbol", "/api/v1/prices"],
      tiers: oracleTiers,
    },
    {
      id: "streaming",
      name: "Real-time streaming",
      description: "Every newly agreed price is sent as it comes",
      endpoints: ["/api/v1/ws"],
      tiers: streaming,
    },
  ];
  return jsonText({ success: true, count: list.length, models: list });
}

function sdks(): string {
  const list: Json[] = [
    {
      language: "any",
      name: "HTTP",
      example: "curl -H 'Authorization: Bearer <API_KEY>' <base>/api/v1/price/BTC",
    },
    {
      language: "any",
      name: "OpenAPI",
      example: "curl <base>/openapi.json, from which generators make clients",
    },
    {
      language: "JavaScript",
      name: "WebSocket",
      example:
        'new WebSocket(\'<base>/api/v1/ws\').onopen = ({ target }) => target.send(\'{"type":"auth","api_key":"…"}\')',
    },
  ];
  return jsonText({ success: true, count: list.length, sdks: list });
}
