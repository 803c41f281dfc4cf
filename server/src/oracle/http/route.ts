import type { OraclePath, OracleSourceId, OracleSourceInfo, OracleTierTerms } from "@sluice/contract/oracle";
import type { Allowance } from "../../credits/index.ts";
import type { Grant } from "../../keys/index.ts";
import type { Decimal } from "../model/decimal.ts";
import type { SourceState } from "../model/ports.ts";
import type { CachedHistory } from "../store/history.ts";
import type { PriceStore } from "../store/price-store.ts";
import type { Variant } from "./oracle-error.ts";
import type { Query } from "./parameters.ts";
import type { RequestStats } from "./request-stats.ts";

/** A request whose caller was admitted. */
export interface OracleRequest {
  readonly variant: Variant;
  /** The one parameter of the path, decoded; empty where the path has none. */
  readonly parameter: string;
  readonly query: Query;
  readonly grant: Grant;
  /** The id and the terms of the caller's tier in this variant. */
  readonly tier: string;
  readonly terms: OracleTierTerms;
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Headers that a 200 has beside those of every answer. */
  readonly headers: Record<string, string>;
}

/** One parameter, for the generated description of the interface. */
export interface ParameterInfo {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description: string;
}

export interface Route {
  readonly variant: Variant;
  /** With at most one `:name` in it. */
  readonly path: OraclePath;
  readonly summary: string;
  readonly parameters: readonly ParameterInfo[];
  /** Whether an answer counts against the month's requests. */
  readonly counted: boolean;
  /**
   * The JSON text of a 200.
   * @throws {OracleError} for every other answer
   */
  readonly answer: (request: OracleRequest) => string | Promise<string>;
}

/** `parameter` as it stands in the path, still encoded. */
export type RouteMatch = { readonly route: Route; readonly parameter: string } | null;

/** The number of symbols with a price for a tier, and their mean confidence in percent; zero without one. */
export interface Feeds {
  readonly active: number;
  readonly confidence: Decimal;
}

/** The parts that routes read. */
export interface OracleServices {
  readonly priceStore: PriceStore;
  readonly history: Pick<CachedHistory, "points" | "bars">;
  /** The moment from which all candles are kept, Unix milliseconds; null where that is for ever. */
  readonly candlesKeptSince: () => number | null;
  readonly sources: () => readonly SourceState[];
  readonly info: (id: OracleSourceId) => OracleSourceInfo;
  readonly feeds: (updateFrequencySeconds: number) => Feeds;
  readonly stats: RequestStats;
  readonly uptimeSeconds: () => number;
  readonly allowances: Readonly<Record<Variant, Allowance>>;
}

/** Finds routes by path: those without a parameter by name, the others by the text around the parameter. */
export class RouteTable {
  readonly #exact = new Map<string, Route>();
  readonly #around: { readonly head: string; readonly tail: string; readonly route: Route }[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const at = route.path.indexOf("/:");
      if (at < 0) this.#exact.set(route.path, route);
      else {
        const end = route.path.indexOf("/", at + 1);
        const tail = end < 0 ? "" : route.path.slice(end);
        this.#around.push({ head: route.path.slice(0, at + 1), tail, route });
      }
    }
  }

  find(path: string): RouteMatch {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return { route: exact, parameter: "" };
    for (const { head, tail, route } of this.#around) {
      if (!path.startsWith(head) || !path.endsWith(tail) || path.length <= head.length + tail.length) continue;
      const raw = path.slice(head.length, path.length - tail.length);
      if (!raw.includes("/")) return { route, parameter: raw };
    }
    return null;
  }
}
