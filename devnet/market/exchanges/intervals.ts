import type { Interval } from "../venue.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The Unix epoch was a Thursday; weeks begin on the Monday after it. */
const MONDAY_MS = 4 * DAY_MS;

export const seconds = (count: number): Interval => ({ lengthMs: count * SECOND_MS, anchorMs: 0 });
export const minutes = (count: number): Interval => ({ lengthMs: count * MINUTE_MS, anchorMs: 0 });
export const hours = (count: number, anchorMs = 0): Interval => ({ lengthMs: count * HOUR_MS, anchorMs });
export const days = (count: number, anchorMs = 0): Interval => ({ lengthMs: count * DAY_MS, anchorMs });
export const weeks = (anchorMs = 0): Interval => ({ lengthMs: 7 * DAY_MS, anchorMs: MONDAY_MS + anchorMs });
export const weeksFromThursday: Interval = { lengthMs: 7 * DAY_MS, anchorMs: 0 };
export const months = (count: number, anchorMs = 0): Interval => ({ months: count, anchorMs });

/** Bars that open at midnight in UTC+8. */
export const EIGHT_HOURS_EAST_MS = -8 * HOUR_MS;
