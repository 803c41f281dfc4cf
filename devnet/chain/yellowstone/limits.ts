import { defaultFilterLimits, type FilterLimits } from "@sluice/geyser";

export interface YellowstoneLimits {
  readonly filters: FilterLimits;
  /** Slots that `from_slot` may go back; 0 has no replay. */
  readonly replaySlots: number;
  /** Updates that may wait for a slow client before its stream ends. */
  readonly updatesMax: number;
  /** Streams of one subscriber. */
  readonly streamsMax: number;
}

/** Source: yellowstone-grpc, config.rs. */
export const defaultLimits: YellowstoneLimits = {
  filters: defaultFilterLimits,
  replaySlots: 150,
  updatesMax: 250_000,
  streamsMax: 1_000,
};
