import type { Interval } from "../venue.ts";

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** The Unix epoch was a Thursday; weeks begin on the Monday after it. */
const mondayMs = 4 * dayMs;

export const seconds = (count: number): Interval => ({ lengthMs: count * secondMs, anchorMs: 0 });
export const minutes = (count: number): Interval => ({ lengthMs: count * minuteMs, anchorMs: 0 });
export const hours = (count: number, anchorMs = 0): Interval => ({ lengthMs: count * hourMs, anchorMs });
export const days = (count: number, anchorMs = 0): Interval => ({ lengthMs: count * dayMs, anchorMs });
export const weeks = (anchorMs = 0): Interval => ({ lengthMs: 7 * dayMs, anchorMs: mondayMs + anchorMs });
export const weeksFromThursday: Interval = { lengthMs: 7 * dayMs, anchorMs: 0 };
export const months = (count: number, anchorMs = 0): Interval => ({ months: count, anchorMs });

/** Bars that open at midnight in UTC+8. */
export const eightHoursEastMs = -8 * hourMs;
