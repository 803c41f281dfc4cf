import type { OracleSourceId, OracleSourceInfo, OracleSymbol } from "@sluice/contract/oracle";
import type { Allowance } from "../../credits/index.ts";
import type { Decimal } from "../model/decimal.ts";
import type { SourceState } from "../model/ports.ts";
import type { Bar, PricePoint } from "../store/history.ts";
import type { PriceStore } from "../store/price-store.ts";
import type { Variant } from "./failure.ts";
import type { RequestStats } from "./request-stats.ts";

/** Symbols that have a price now, and their mean confidence in percent; zero when there is none. */
export interface Feeds {
  readonly active: number;
  readonly confidence: Decimal;
}

/** What routes answer from. */
export interface OracleServices {
  readonly book: PriceStore;
  readonly history: {
    points(symbol: OracleSymbol, spanMs: number, limit: number): Promise<readonly PricePoint[]>;
    bars(symbol: OracleSymbol, minutes: number, limit: number): Promise<readonly Bar[]>;
  };
  readonly sources: () => readonly SourceState[];
  readonly info: (id: OracleSourceId) => OracleSourceInfo;
  readonly feeds: () => Feeds;
  readonly stats: RequestStats;
  readonly uptimeSeconds: () => number;
  readonly allowances: Readonly<Record<Variant, Allowance>>;
}
