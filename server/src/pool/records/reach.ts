/** From when a part of a record has all that there is, and from when it is asked for. Unix milliseconds. */
export interface RecordReach {
  /** Null where nothing is missing. */
  readonly sinceMs: number | null;
  readonly fromMs: number;
}

/**
 * From when a record of several parts has all that there is: the latest moment of a part whose period begins before it;
 * null where each part has all of its period.
 */
export function reachOf(parts: readonly RecordReach[]): number | null {
  const missing = parts.flatMap(({ sinceMs, fromMs }) => (sinceMs === null || fromMs >= sinceMs ? [] : [sinceMs]));
  return missing.length === 0 ? null : Math.max(...missing);
}
