/**
 * operations: the operator's side of the engine. `switches` reads what operators have switched, from the store;
 * `health-monitor` reports why the engine is degraded. Fed by the store, the chain and the parts' figures; feeds the
 * auction's scheduler, the status and the metrics.
 */
export { HealthMonitor } from "./health-monitor.ts";
export { Switches } from "./switches.ts";
