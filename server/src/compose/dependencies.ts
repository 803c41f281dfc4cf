import type { Clock, Random } from "@sluice/lib";
import type { Log, Metrics, ServerEvents } from "../observe/index.ts";

/** What every step of the start is handed. */
export interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly events: ServerEvents;
  /** Resources that are opened are put here; they are closed in reverse order. */
  readonly resources: AsyncDisposableStack;
}
