import type { Permission } from "@sluice/contract/tiers";
import { compileAddressSet, ManualClock } from "@sluice/lib";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import type { Address } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { ChainValue } from "../../chain/index.ts";
import type { Grant } from "../../keys/index.ts";
import type {
  BundleBalances,
  BundleFigures,
  BundleGain,
  BundleMevFigures,
  LandedBundle,
  RequestFact,
} from "../../ledger/index.ts";
import { createPoolHttp } from "../http.ts";
import type { PoolReadingsDependencies } from "../readings.ts";
import { PoolService } from "../service.ts";
import { RecordedEvents } from "./recorded-events.ts";

export const noBundles: BundleFigures = {
  ended: 0,
  landed: 0,
  forwarded: 0,
  landingRate: 0,
  tips: 0n,
  tipsLost: 0n,
  computeUnits: 0n,
};

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  readonly body: any;
}

/**
 * The endpoint over a chain, a ledger, keys and limits that the test plays. The key `good` is of an account that may
 * read, `admin` of one that may do everything, and every other key is refused.
 */
export class PoolStand {
  readonly clock = new ManualClock(Date.UTC(2026, 10, 20));
  readonly events = new RecordedEvents();
  readonly facts: RequestFact[] = [];
  readonly answered: [string, number][] = [];
  readonly buckets: string[] = [];
  /** Questions that the ledger was asked. */
  readonly asked: unknown[] = [];
  permissions: Permission[] = ["read"];
  spent = false;
  figures: BundleFigures = noBundles;
  byType: readonly BundleMevFigures[] = [];
  balances: BundleBalances = { bundles: 0n, gained: 0n, fees: 0n, tips: 0n };
  newestLanded: readonly LandedBundle[] = [];
  gains: readonly BundleGain[] = [];
  firstAtMs: number | null = null;
  /** Since when the ledger has transactions. */
  heldSinceMs: number | null = null;
  /** What nodes answer; without one every call fails the test. */
  chain: (method: string, params: readonly JsonValue[]) => Promise<ChainValue> = (method) =>
    Promise.reject(new Error(`${method} was not expected`));
  /** What the ledger fails with. */
  ledgerError: Error | null = null;
  readonly #http;

  constructor(
    pool: Address | null = null,
    more: Partial<PoolReadingsDependencies> = {},
    programs: readonly Address[] = [],
  ) {
    const service = new PoolService(
      {
        network: "devnet",
        identity: pool === null ? null : { address: pool, programs, tipProgram: tipPrograms.distribution },
      },
      {
        chain: {
          read: (method, params) => this.chain(method, params),
          genesis: () => "genesis",
          newestSlot: () => null,
          onSlot: () => ({ [Symbol.dispose]: () => {} }),
        },
        samples: {
          firstAtMs: async () => null,
          lastUpTo: async () => null,
          beforeUpdate: async () => null,
          before: async () => new Map(),
          rates: async () => [],
          days: async () => [],
        },
        bundles: {
          figures: (question) => this.#ask(question, this.figures),
          byMevType: (question) => this.#ask(question, this.byType),
          firstAtMs: () => this.#ask("first", this.firstAtMs),
          newestLanded: (question) => this.#ask(question, this.newestLanded),
          balances: (question) => this.#ask(question, this.balances),
          gains: (question) => this.#ask(question, this.gains),
        },
        movements: {
          transactions: { rows: async () => [] },
          activity: { places: () => this.#ask("movements", []) },
          tokens: {
            changes: async () => [],
            minted: async () => [],
            calls: async () => [],
            lamports: async () => [],
          },
        },
        held: { heldSinceMs: async () => this.heldSinceMs },
        clock: this.clock,
        events: this.events,
        ...more,
      },
    );
    this.#http = createPoolHttp({
      pool: service,
      access: accessOfTests({
        keys: { authenticate: (key) => this.#authenticate(key), checkRestrictions: () => null },
        limits: {
          take: (bucket, limit, burst) => {
            this.buckets.push(`${bucket} ${limit}`);
            const allowed = !this.spent;
            return { allowed, limit, burst, remaining: 1, resetAt: 7, retryAfterSeconds: allowed ? 0 : 3 };
          },
        },
      }),
      trustedProxies: compileAddressSet([]),
      requestId: () => "req_1",
      log: { error: () => {} },
      records: { network: "devnet", clock: this.clock, served: (fact) => this.facts.push(fact) },
      answered: (route, status) => this.answered.push([route, status]),
    });
  }

  async ask(path: string, { key = "good", method = "GET" }: { key?: string; method?: string } = {}): Promise<Answer> {
    const response = await this.fetch(path, key, method);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text || "null") };
  }

  /** The answer, unread. */
  async fetch(path: string, key = "good", method = "GET"): Promise<Response> {
    const headers = { host: "engine", ...(key === "" ? {} : { "x-api-key": key }) };
    const request = new Request(`http://engine/api/v1${path}`, { method, headers });
    if (!this.#http.serves(request)) throw new Error(`${path} is not served here`);
    return await this.#http.fetch(request, { socketAddress: "10.0.0.1" });
  }

  serves(path: string): boolean {
    return this.#http.serves(new Request(`http://engine${path}`));
  }

  async #ask<T>(question: unknown, answer: T): Promise<T> {
    this.asked.push(question);
    if (this.ledgerError !== null) throw this.ledgerError;
    return answer;
  }

  #authenticate(key: string | null): Grant | { ok: false; code: "INVALID_API_KEY" } {
    if (key === "admin") return { ...grantOfTests, accountId: "operator", permissions: ["read", "admin"] };
    if (key === "good") return { ...grantOfTests, accountId: "account", permissions: this.permissions };
    return { ok: false, code: "INVALID_API_KEY" };
  }
}
