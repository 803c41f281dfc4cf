import type { Clock, Random } from "@sluice/lib";
import manifest from "../../../package.json" with { type: "json" };
import type { Metrics, RootLog, ServerEvents } from "../observe/index.ts";

export const version: string = manifest.version;

/** What every step of the start is handed. */
export interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: RootLog;
  readonly metrics: Metrics;
  readonly events: ServerEvents;
  /** Opened resources are put here; they are closed in reverse order. */
  readonly resources: AsyncDisposableStack;
}
