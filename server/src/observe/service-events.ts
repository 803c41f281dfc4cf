import { type EngineHappenings, engineEvents } from "./engine-events.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { type OracleHappenings, oracleEvents } from "./oracle-events.ts";

/** What happens in services with a door of their own. */
export type ServiceHappenings = OracleHappenings & EngineHappenings;

export function serviceEvents(metrics: Metrics, log: Log): ServiceHappenings {
  return { ...oracleEvents(metrics, log), ...engineEvents(metrics, log) };
}
