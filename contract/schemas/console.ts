import { z } from "zod";
import { oracleSourceStatuses } from "../oracle.ts";
import { platformTiers } from "../tiers.ts";
import { ledgerTable } from "./ledger.ts";
import { bigCount, count, networkName, timestamp } from "./primitives.ts";

/** Whether a node gets calls. */
const upstreamHealths = ["healthy", "cordoned", "down"] as const;

/** Whether an endpoint accepts connections. */
const endpointStatuses = ["open", "closed"] as const;
const minutesShown = 60;

const consoleEndpoint = z
  .object({
    name: z.string().meta({ example: "rpc" }),
    address: z.string().meta({ example: "http://127.0.0.1:8899/rpc" }),
    protocol: z.string().meta({ example: "JSON-RPC" }),
    status: z.enum(endpointStatuses),
  })
  .meta({ id: "ConsoleEndpoint", description: "An endpoint of the server" });

const consoleUpstream = z
  .object({
    label: z.string().meta({ description: "The configured label; the address of a node is never shown" }),
    network: networkName,
    health: z.enum(upstreamHealths),
    out: z.string().nullable().meta({ description: "Why it gets no calls, as in the list of nodes of administration" }),
    restsUntil: timestamp
      .nullable()
      .meta({ description: "When a node that rests after refusals of calls is asked again" }),
    slot: count.nullable(),
    slotLag: count.nullable().meta({ description: "Slots behind the best node of its network" }),
    latencyMs: z.number().nonnegative().nullable(),
  })
  .meta({ id: "ConsoleUpstream", description: "A node" });

export const consoleUsage = z
  .object({
    requests: count,
    errors: count,
    credits: count,
    byMinute: z.array(z.object({ minute: timestamp, requests: count, credits: count })).max(minutesShown + 1),
  })
  .meta({ id: "ConsoleUsage", description: "The requests of the last hour" });

/** What the console's first page shows; the live stream sends the same record again whenever it changes. */
export const consoleOverview = z
  .object({
    network: networkName,
    networkState: z.enum(["operational", "degraded", "unavailable"]).meta({
      description: "Whether calls are served: by nodes that keep up, by the best of others, or not",
    }),
    slot: count.nullable(),
    blockHeight: count.nullable(),
    transactionsPerSecond: z.number().nonnegative().nullable(),
    doors: z.array(consoleEndpoint),
    upstreams: z
      .array(consoleUpstream)
      .nullable()
      .meta({ description: "The nodes of all networks; null for keys without `admin`" }),
    ledger: z
      .array(ledgerTable)
      .nullable()
      .meta({ description: "The tables of the ledger as they were within a minute; null for keys without `admin`" }),
    lastHour: consoleUsage,
    account: z.object({
      name: z.string(),
      tier: z.enum(platformTiers),
      creditsUsed: bigCount,
      creditsMonthly: bigCount.nullable().meta({ description: "null is unlimited" }),
    }),
    signedIn: z.boolean().meta({
      description: "By a key or a session; false on a development server, which its own machine sees without either",
    }),
    version: z.string(),
    uptimeSeconds: count,
    observedAt: timestamp,
  })
  .meta({
    id: "ConsoleOverview",
    description: "The first page of the console; the live stream sends it again on every change",
  });

/** What a search in the resolver found. */
const nameFindings = ["owner", "domain", "absent", "refused", "unavailable"] as const;

/** What the resolver says of a name, or of an address, for people to read. */
export const consoleName = z
  .object({
    input: z.string(),
    finding: z.enum(nameFindings).meta({ description: "`domain` is the answer to an address" }),
    name: z.string().nullable().meta({ description: "The canonical name, or the domain that leads to the address" }),
    namespace: z.string().nullable(),
    owner: z.string().nullable(),
    ownerOnCurve: z.boolean().nullable().meta({ description: "false when no key for the owner can exist" }),
    error: z.string().nullable().meta({ description: "The resolver's own words where there is no owner" }),
  })
  .meta({ id: "ConsoleName", description: "What the resolver found for a name or an address" });

/** The query of the console's name search. */
export const consoleNameQuery = z.object({ input: z.string().min(1).max(512) });

/** One symbol's price for people to read; numbers are for showing, the exact price is the text. */
const consolePrice = z
  .object({
    symbol: z.string(),
    price: z.string().nullable().meta({ description: "US dollars, all digits; null while there is no price" }),
    confidence: z.number().min(0).max(100).nullable(),
    change24h: z.number().nullable().meta({ description: "Percent" }),
    at: timestamp.nullable().meta({ description: "When the price, or the last one there was, was agreed" }),
    reason: z.string().nullable().meta({ description: "Why there is no price" }),
    lastHour: z
      .array(z.number())
      .max(minutesShown + 1)
      .meta({ description: "The last price of each minute" }),
  })
  .meta({
    id: "ConsolePrice",
    description: "The price of one symbol. Numbers are for display; the exact price is the text",
  });

const consoleSource = z
  .object({
    name: z.string(),
    status: z.enum(oracleSourceStatuses),
    uptime24h: z.number().min(0).max(100),
    responseMs: z.number().nonnegative().nullable(),
    messages24h: count,
  })
  .meta({ id: "ConsoleSource", description: "A source of prices" });

export const consolePrices = z
  .object({
    origin: z.enum(["market", "live"]).meta({ description: "`market` is the development market" }),
    door: z.string().meta({ example: "http://127.0.0.1:7450" }),
    prices: z.array(consolePrice),
    sources: z.array(consoleSource),
    observedAt: timestamp,
  })
  .meta({ id: "ConsolePrices", description: "The prices page of the console" });

/** Signing in to the console with an API key; the answer sets a cookie that scripts cannot read. */
export const consoleSessionCreate = z.strictObject({ key: z.string().min(1).max(200) }).meta({
  id: "ConsoleSessionCreate",
  description: "Sign-in with an API key. The answer sets a cookie that scripts cannot read",
});

export const consoleSession = z
  .object({ account: z.object({ name: z.string(), tier: z.enum(platformTiers) }), expires_at: timestamp })
  .meta({ id: "ConsoleSession", description: "The signed-in account" });

export type ConsoleEndpoint = z.infer<typeof consoleEndpoint>;
export type ConsoleUpstream = z.infer<typeof consoleUpstream>;
export type ConsoleUsage = z.infer<typeof consoleUsage>;
export type ConsolePrice = z.infer<typeof consolePrice>;
export type ConsoleSource = z.infer<typeof consoleSource>;
export type ConsolePrices = z.infer<typeof consolePrices>;
export type ConsoleName = z.infer<typeof consoleName>;
export type ConsoleOverview = z.infer<typeof consoleOverview>;
export type ConsoleSession = z.infer<typeof consoleSession>;
