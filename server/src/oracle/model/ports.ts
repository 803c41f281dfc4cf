import type { OracleSourceId, OracleSourceStatus } from "@sluice/contract/oracle";
import type { Tick } from "./tick.ts";
import type { TradedMinute } from "./traded-minute.ts";

export interface OracleLedger {
  insert(table: string, rows: readonly object[]): Promise<void>;
  query<T>(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<T[]>;
}

/** One source as the endpoints show it. */
export interface SourceState {
  readonly id: OracleSourceId;
  readonly enabled: boolean;
  readonly status: OracleSourceStatus;
  /** Percent of the last 24 hours, or of the time since the start where that is shorter, in which it was not down. */
  readonly uptime24h: number;
  /** Milliseconds from the source's time to receipt, or of its answers over REST; null before the first measurement. */
  readonly responseMs: number | null;
  /** Messages and answers in 24 hours, and how many of the attempts went well, in percent. */
  readonly requests24h: number;
  readonly successRate: number;
  /** Those of which it has a market that is read. */
  readonly symbols: readonly string[];
}

/** Who hears what the sources say. */
export interface FeedListener {
  readonly onTick: (tick: Tick) => void;
  readonly onTraded: (minute: TradedMinute) => void;
}

/** Sources that run until they are disposed of. */
export interface SourceFeed extends AsyncDisposable {
  states(): readonly SourceState[];
}
