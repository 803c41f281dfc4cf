/** The slot that a well node is at, by the wall clock: nodes and load agree on it without talking. */
export const slotMs = 400;
const startedMs = 1_700_000_000_000;

export function slotAt(nowMs: number): number {
  return Math.floor((nowMs - startedMs) / slotMs);
}
