/**
 * workers: several processes of one host that serve the gateway's ports together. A parent starts them, restarts them
 * one at a time, keeps what they count together (connections of accounts, metrics) and passes the commands of `sluice`
 * on. Fed by compose, in the parent as in each worker; feeds observe with what becomes of them.
 */
export { Commands } from "./commands.ts";
export { Crew } from "./crew.ts";
export { createWorkersEvents, workersMetrics } from "./events.ts";
export { hostHealth } from "./host-health.ts";
export { MetricSums } from "./metric-sums.ts";
export { HostPlaces } from "./places.ts";
export { type Seat, takeSeat } from "./seat.ts";
export { startWorker, type Worker, WorkerStartError } from "./worker.ts";
