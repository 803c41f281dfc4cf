import type { ChartPeriod, ExplainedRecord, FigurePeriod, PnlStrategy } from "@sluice/contract/pool";
import type {
  ApyBody,
  ChartBody,
  DashboardBody,
  ExchangeRateBody,
  ExplanationBody,
  MevBreakdownBody,
  OverviewBody,
  PnlBody,
  PoolBody,
  PositionBody,
  ValidatorBody,
} from "@sluice/contract/schemas";
import type { BundlesOptions } from "./bundles.ts";
import { readAnswer } from "./problem-error.ts";

/** What is asked of profit and loss; without a member it is all strategies, and 24 hours. */
export interface PnlQuery {
  readonly strategy?: PnlStrategy;
  readonly period?: FigurePeriod;
}

/** Which record is explained; `wallet` is of a position, the others as their records take them. */
export interface ExplainQuery {
  readonly wallet?: string;
  readonly period?: ChartPeriod | FigurePeriod;
  readonly strategy?: PnlStrategy;
}

/** The figures of the stake pool and of bundles. A refusal rejects with `ProblemError`. */
export interface StakePool {
  pool(): Promise<PoolBody>;
  /** A wallet without tokens of the pool has a record of zeros. */
  position(wallet: string): Promise<PositionBody>;
  validators(): Promise<readonly ValidatorBody[]>;
  overview(period: FigurePeriod): Promise<OverviewBody>;
  apy(): Promise<ApyBody>;
  exchangeRate(): Promise<ExchangeRateBody>;
  mevBreakdown(): Promise<MevBreakdownBody>;
  /** 30 days where no period is named. */
  chart(of: "tvl" | "apy", period?: ChartPeriod): Promise<ChartBody>;
  dashboard(): Promise<DashboardBody>;
  /** Of the key's account; of everybody where the key has the permission `admin`. */
  pnl(query?: PnlQuery): Promise<PnlBody>;
  /** What a record is computed from, and how. */
  explain(record: ExplainedRecord, query?: ExplainQuery): Promise<ExplanationBody>;
}

const timeoutMsDefault = 10_000;

/**
 * Creates a client of the stake pool's figures, at the block engine's own address. It opens no connection before the
 * first call.
 *
 * @returns a client whose calls reject with `ProblemError` for a refusal, with a DOMException of the name
 * `TimeoutError` after `timeoutMs`, and with `TypeError` when the server cannot be reached
 */
export function createStakePool(options: BundlesOptions): StakePool {
  const base = `${options.url.replace(/\/+$/, "")}/api/v1`;
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  const get = async <T>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<T> => {
    const said = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined);
    const search = said.length === 0 ? "" : `?${new URLSearchParams(said)}`;
    const signal = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
    const headers = { "x-api-key": options.apiKey };
    const answer = await readAnswer<T>(await call(`${base}${path}${search}`, { redirect: "error", headers, signal }));
    if (answer === null) throw new Error(`${path} was answered without a body`);
    return answer;
  };
  return {
    pool: () => get("/pool"),
    position: (wallet) => get(`/position/${encodeURIComponent(wallet)}`),
    validators: () => get("/validators"),
    overview: (period) => get(`/overview/${period}`),
    apy: () => get("/apy"),
    exchangeRate: () => get("/exchange-rate"),
    mevBreakdown: () => get("/mev/breakdown"),
    chart: (of, period) => get(`/charts/${of}`, { period }),
    dashboard: () => get("/dashboard"),
    pnl: ({ strategy, period } = {}) => get("/pnl", { strategy, period }),
    explain: (record, { wallet, period, strategy } = {}) => get("/explain", { record, wallet, period, strategy }),
  };
}
