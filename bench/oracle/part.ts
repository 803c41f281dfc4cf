/**
 * One process of bench/oracle, by its first argument: `oracle` is the oracle with its endpoints, fed by replayed
 * sources; `bare` is Bun.serve that sends the same texts to its sockets and answers GET with a record of the same size.
 * Each prints one JSON line with its URL, reports at /cpu the processor time that it has used, plays ticks between
 * /play or /together and /stop, and ends with its standard input.
 */
import { oracleSymbols } from "@sluice/contract/oracle";
import { compileAddressSet, systemClock } from "@sluice/lib";
import { Access } from "../../server/src/access/index.ts";
import { createCredits, tallyInMemory } from "../../server/src/credits/index.ts";
import { MeterInMemory } from "../../server/src/credits/testing/meter-in-memory.ts";
import type { Grant } from "../../server/src/keys/index.ts";
import { createLimits } from "../../server/src/limits/index.ts";
import { AppListener } from "../../server/src/net/index.ts";
import { createOracle, type Decimal, type SourceId, type Tick } from "../../server/src/oracle/index.ts";
import { accounts, keyOf, playEveryMs, stampedPrice } from "./workload.ts";

const sources = ["coinbase", "kraken", "bitstamp"] as const satisfies readonly SourceId[];
const nothing = (): void => undefined;

function tick(source: SourceId, base: string, price: Decimal): Tick {
  const now = Date.now();
  const none = { bid: null, ask: null, open24h: price, high24h: price, low24h: price, baseVolume24h: null };
  return { source, base, quote: "USD", price, ...none, quoteVolume24h: price, asOfMs: now, receivedAtMs: now };
}

/** Calls `play` with one symbol after the other, at an even pace, between two calls. */
function player(play: (symbol: string, price: Decimal) => void) {
  let timer: ReturnType<typeof setInterval> | null = null;
  let at = 0;
  const once = (): void => {
    play(oracleSymbols[at % oracleSymbols.length] ?? "BTC", stampedPrice());
    at += 1;
  };
  /** Every symbol at once, at a price that was made before the first of them is sent. */
  const all = (): void => {
    const price = stampedPrice();
    for (const symbol of oracleSymbols) play(symbol, price);
  };
  return {
    start: () => {
      timer ??= setInterval(once, playEveryMs);
    },
    /** All symbols together, ten times as seldom. */
    startTogether: () => {
      timer ??= setInterval(all, playEveryMs * 10);
    },
    stop: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
    all,
  };
}

function control(path: string, plays: ReturnType<typeof player>): Response | null {
  if (path === "/cpu") {
    const { user, system } = process.cpuUsage();
    return Response.json({ cpuMicros: user + system, rssBytes: process.memoryUsage().rss });
  }
  if (path === "/all") plays.all();
  else if (path === "/play") plays.start();
  else if (path === "/together") plays.startTogether();
  else if (path === "/stop") plays.stop();
  else return null;
  return new Response("ok");
}

/** An account's key on the highest tier of both variants. */
const grantOf = (accountId: string): Grant => ({
  ok: true,
  keyId: accountId,
  accountId,
  tier: "free",
  tiers: { platform: "free", oracle: "ultra", "oracle-v2": "enterprise" },
  permissions: ["read"],
  methods: null,
  restrictions: { networks: null, domains: null, addresses: null },
  buckets: {
    requests: [{ bucket: "requests", requestsPerSecond: 1, burst: 1 }],
    send: [{ bucket: "send", requestsPerSecond: 1, burst: 1 }],
    messages: [{ bucket: "messages", requestsPerSecond: 1, burst: 1 }],
  },
  enhanced: { isAllowed: true, buckets: [{ bucket: "enhanced", requestsPerSecond: 1, burst: 1 }] },
  creditsMonthly: null,
  expiresAt: null,
});

function startOracle(): string {
  const clock = systemClock;
  const allowance = createCredits(
    {},
    { clock, store: new MeterInMemory(), tally: tallyInMemory("bench", 10_000), log: { warn: nothing } },
  );
  const grants = new Map(accounts.map((accountId) => [keyOf(accountId), grantOf(accountId)]));
  let feed: (tick: Tick) => void = nothing;
  let ids = 0;
  const requestId = (): string => `req_${(ids++).toString(36)}`;
  const oracle = createOracle(
    { sunsetMs: null, successorUrl: null },
    {
      clock,
      access: new Access(
        { trustedProxies: compileAddressSet([]) },
        {
          keys: {
            authenticate: (presented) => grants.get(presented ?? "") ?? { ok: false, code: "INVALID_API_KEY" },
            remembered: () => null,
            checkRestrictions: () => null,
          },
          limits: createLimits({}, { clock }),
          credits: allowance,
        },
      ),
      allowances: { v1: allowance, v2: allowance },
      ledger: { insert: async () => undefined, query: async () => [] },
      requestId,
      events: {
        requestServed: nothing,
        requestRefused: nothing,
        roundMade: nothing,
        rateChanged: nothing,
        confidenceChanged: nothing,
        volumeRecorded: nothing,
        rowsDropped: nothing,
        socketOpened: nothing,
        socketClosed: nothing,
        pricesSent: nothing,
        pricesConflated: nothing,
        internalError: (where, fault) => console.error(where, fault),
      },
      startFeed: ({ onTick }) => {
        feed = onTick;
        return { states: () => [], [Symbol.asyncDispose]: async () => undefined };
      },
    },
  );
  const plays = player((symbol, price) => {
    for (const source of sources) feed(tick(source, symbol, price));
  });
  const listener = new AppListener(
    { hostname: "127.0.0.1", port: 0 },
    {
      fetch: (request, bindings) => control(new URL(request.url).pathname, plays) ?? oracle.fetch(request, bindings),
      sockets: [oracle.stream],
      clock: systemClock,
      requestId,
      events: { internalError: (where, fault) => console.error(where, fault) },
    },
  );
  return `http://127.0.0.1:${listener.port}`;
}

function startBare(): string {
  const sockets = new Set<Bun.ServerWebSocket<undefined>>();
  const record = (symbol: string, price: string): string =>
    `{"type":"price_update","success":true,"symbol":"${symbol}","price":${price},"confidence":98.12,"volume24h":1234567.891,` +
    `"change24h":1.25,"high24h":65100.5,"low24h":64000.25,"sources":["Coinbase Exchange","Kraken","Bitstamp"],` +
    `"timestamp":"${new Date().toISOString()}","source":"Sluice Oracle"}`;
  const plays = player((symbol, price) => {
    const text = record(symbol, `1.${price.toString().slice(-18)}`);
    for (const socket of sockets) socket.send(text);
  });
  const body = record("BTC", "65000.5");
  const server = Bun.serve<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, self) => {
      const path = new URL(request.url).pathname;
      if (path === "/api/v1/ws") return self.upgrade(request) ? undefined : new Response(null, { status: 400 });
      return control(path, plays) ?? new Response(body, { headers: { "Content-Type": "application/json" } });
    },
    websocket: {
      open: (socket) => void sockets.add(socket),
      close: (socket) => void sockets.delete(socket),
      message: (socket) => void socket.send('{"type":"subscribed"}'),
    },
  });
  return `http://127.0.0.1:${server.port}`;
}

const url = process.argv[2] === "bare" ? startBare() : startOracle();
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
console.log(JSON.stringify({ url }));
