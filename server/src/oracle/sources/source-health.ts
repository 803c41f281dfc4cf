import type { QuoteCurrency, SourceId } from "../model/tick.ts";
import type { DropReason } from "./row.ts";

/**
 * `active`: prices by the preferred way; `degraded`: some, or by the second way; `down`: none; `disabled`: not asked.
 */
export const sourceStatuses = ["active", "degraded", "down", "disabled"] as const;
export type SourceStatus = (typeof sourceStatuses)[number];

export interface MarketHealth {
  readonly base: string;
  readonly quote: QuoteCurrency;
  /** The name that the source gives it. */
  readonly name: string;
  /** `absent` is a market that the source says it does not have. */
  readonly state: "fresh" | "stale" | "unheard" | "absent";
  /** Milliseconds since the moment the newest tick vouches for; null before the first. */
  readonly ageMs: number | null;
}

/** One source, as it is now and was over the last 24 hours (or since the start, when that is later). */
export interface SourceHealth {
  readonly source: SourceId;
  readonly status: SourceStatus;
  /** By which way its prices come now. */
  readonly transport: "stream" | "rest" | "none";
  readonly uptimePercent24h: number;
  /** Mean time between the source's clock and receipt, of recent ticks; null before the first. */
  readonly delayMs: number | null;
  /** Mean duration of recent calls; null before the first. */
  readonly responseMs: number | null;
  readonly requests24h: number;
  readonly messages24h: number;
  readonly ticks24h: number;
  readonly errors24h: number;
  /** Connections that were lost or abandoned. */
  readonly restarts24h: number;
  /** Since the start, by reason; reasons that never occurred are left out. */
  readonly drops: Readonly<Partial<Record<DropReason, number>>>;
  /** Unix milliseconds; null before the first. */
  readonly lastTickAtMs: number | null;
  /** Milliseconds of the pause that the source asked for; 0 when it asked for none. */
  readonly pausedForMs: number;
  readonly markets: readonly MarketHealth[];
}

/** The health of a source that is not read. */
export const disabledHealth = (source: SourceId): SourceHealth => ({
  source,
  status: "disabled",
  transport: "none",
  uptimePercent24h: 0,
  delayMs: null,
  responseMs: null,
  requests24h: 0,
  messages24h: 0,
  ticks24h: 0,
  errors24h: 0,
  restarts24h: 0,
  drops: {},
  lastTickAtMs: null,
  pausedForMs: 0,
  markets: [],
});

/** Ticks are stale after three times the source's cadence, a minute at most. */
export const staleAfterMs = (cadenceMs: number): number => Math.min(60_000, 3 * cadenceMs);

/** A mean that forgets: each new figure weighs a sixteenth. */
export class RecentMean {
  #value: number | null = null;

  get value(): number | null {
    return this.#value;
  }

  add(figure: number): void {
    this.#value = this.#value === null ? figure : this.#value + (figure - this.#value) / 16;
  }
}
