import { formatApiKey } from "@sluice/contract/api-key";
import type { OracleTier, OracleV2Tier, Permission } from "@sluice/contract/tiers";
import { ManualClock, seededRandom } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import { type Allowance, type Credits, createCredits, tallyInMemory } from "../../credits/index.ts";
import { MeterInMemory } from "../../credits/testing/meter-in-memory.ts";
import type { Grant } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import { createLimits } from "../../limits/index.ts";
import type { Variant } from "../http/oracle-error.ts";
import { decimal } from "../model/decimal.ts";
import type { FeedListener, OracleLedger, SourceFeed, SourceState } from "../model/ports.ts";
import type { SourceId, Tick } from "../model/tick.ts";
import type { TradedMinute } from "../model/traded-minute.ts";
import { createOracle, type Oracle } from "../wiring/oracle.ts";
import { tick } from "./rounds.ts";

/** Counts a month as state does, in memory; what it holds outlives the oracles that use it. */
export class CountedStore extends MeterInMemory {
  isDown = false;

  override async lease(...lease: Parameters<MeterInMemory["lease"]>): Promise<bigint> {
    if (this.isDown) throw new Error("down");
    return super.lease(...lease);
  }
}

export interface BootOptions {
  readonly startMs?: number;
  /** A clock that others read as well; by itself an oracle has one of its own. */
  readonly clock?: ManualClock;
  readonly stores?: Readonly<Record<Variant, CountedStore>>;
  readonly ledger?: OracleLedger;
  readonly candlesKeptSince?: () => number | null;
  readonly sunsetMs?: number;
  readonly successorUrl?: string;
  readonly authMs?: number;
}

/** No two oracles are the same holder, on whatever store they meet. */
let holders = 0;
const random = seededRandom(11);
export const newKey = (): string => formatApiKey("dev", (length) => random.bytes(length));

/**
 * An oracle over a clock that is moved by hand, keys in memory, real limits and real leases, and sources that tests
 * play.
 */
export async function bootOracle(options: BootOptions = {}) {
  const clock = options.clock ?? new ManualClock(options.startMs ?? Date.UTC(2026, 10, 21, 12));
  const grants = new Map<string, Grant>();
  const stores = options.stores ?? { v1: new CountedStore(), v2: new CountedStore() };
  const served: RequestFact[] = [];
  const faults: unknown[] = [];
  const counts = new Map<string, number>();
  const count = (name: string, by = 1): void => void counts.set(name, (counts.get(name) ?? 0) + by);
  const meter = (variant: Variant): Credits =>
    createCredits(
      { sweepIntervalMs: null },
      {
        clock,
        store: stores[variant],
        tally: tallyInMemory(`holder ${++holders}`, 1_000),
        log: { warn: () => undefined },
      },
    );
  const meters = { v1: meter("v1"), v2: meter("v2") };
  const feed = playedFeed();
  let ids = 0;
  let restriction: "IP_NOT_ALLOWED" | null = null;
  const oracle: Oracle = createOracle(
    {
      sunsetMs: options.sunsetMs ?? null,
      successorUrl: options.successorUrl ?? null,
      ...(options.authMs === undefined ? {} : { authMs: options.authMs }),
    },
    {
      clock,
      access: accessOfTests({
        keys: {
          authenticate: (presented) => {
            const grant = presented === null ? undefined : grants.get(presented);
            return grant ?? { ok: false, code: "INVALID_API_KEY" };
          },
          checkRestrictions: () => restriction,
        },
        limits: createLimits({}, { clock }),
      }),
      allowances: meters as Readonly<Record<Variant, Allowance>>,
      ledger: options.ledger ?? { insert: async () => undefined, query: async () => [] },
      ...(options.candlesKeptSince === undefined ? {} : { candlesKeptSince: options.candlesKeptSince }),
      requestId: () => {
        ids += 1;
        return `req_${ids}`;
      },
      events: {
        requestServed: (fact) => void served.push(fact),
        requestRefused: () => count("refused"),
        roundMade: () => count("rounds"),
        rateChanged: () => count("rates"),
        confidenceChanged: () => count("confidences"),
        volumeRecorded: (_source, outcome) => count(`volume ${outcome}`),
        rowsDropped: (_table, rows) => count("rowsDropped", rows),
        socketOpened: () => count("opened"),
        socketClosed: (code) => count(`closed ${code}`),
        pricesSent: (messages) => count("sent", messages),
        pricesConflated: (messages) => count("conflated", messages),
        internalError: (_where, fault) => void faults.push(fault),
      },
      startFeed: feed.start,
    },
  );
  await oracle.started;
  const addKey = (
    tiers: { oracle?: OracleTier; "oracle-v2"?: OracleV2Tier } = {},
    accountId = `acct_${grants.size + 1}`,
    permissions: readonly Permission[] = ["read"],
  ): string => {
    const key = newKey();
    const both = {
      platform: "free",
      oracle: tiers.oracle ?? "community",
      "oracle-v2": tiers["oracle-v2"] ?? "community",
    } as const;
    grants.set(key, { ...grantOfTests, keyId: `key_${grants.size + 1}`, accountId, tiers: both, permissions });
    return key;
  };
  const get = async (path: string, key: string | null = null, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("host")) headers.set("host", "oracle.test");
    if (key !== null) headers.set("authorization", `Bearer ${key}`);
    const response = await oracle.fetch(new Request(`http://oracle.test${path}`, { ...init, headers }));
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
    const body: any = text === "" ? null : JSON.parse(text);
    return { status: response.status, headers: response.headers, text, body };
  };
  /** Three sources say the same price now, and the turn ends in which they become a round. */
  const say = async (base: string, price: string): Promise<void> => {
    for (const source of ["coinbase", "kraken", "bitstamp"] as const satisfies SourceId[]) {
      feed.play(tick(source, base, clock.now(), decimal(price)));
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    oracle,
    clock,
    stores,
    meters,
    grants,
    served,
    faults,
    counts,
    feed,
    addKey,
    get,
    say,
    restrict: (code: "IP_NOT_ALLOWED" | null) => {
      restriction = code;
    },
    dispose: async () => {
      await oracle[Symbol.asyncDispose]();
      await Promise.all([meters.v1[Symbol.asyncDispose](), meters.v2[Symbol.asyncDispose]()]);
    },
  };
}

function playedFeed() {
  let listener: FeedListener = { onTick: () => undefined, onTraded: () => undefined };
  const states: SourceState[] = [
    {
      id: "binance",
      enabled: true,
      status: "active",
      uptime24h: 100,
      responseMs: 12.5,
      requests24h: 100,
      successRate: 99,
      symbols: ["BTC", "ETH"],
    },
    {
      id: "kraken",
      enabled: true,
      status: "degraded",
      uptime24h: 98,
      responseMs: null,
      requests24h: 50,
      successRate: 97,
      symbols: ["BTC"],
    },
    {
      id: "gate",
      enabled: false,
      status: "disabled",
      uptime24h: 0,
      responseMs: null,
      requests24h: 0,
      successRate: 0,
      symbols: [],
    },
  ];
  return {
    start: (given: FeedListener): SourceFeed => {
      listener = given;
      return { states: () => states, [Symbol.asyncDispose]: async () => undefined };
    },
    play: (one: Tick): void => listener.onTick(one),
    trade: (minute: TradedMinute): void => listener.onTraded(minute),
  };
}
