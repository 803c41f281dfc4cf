/**
 * faults: what can be made to go wrong on demand: a lagging view, lost and corrupted answers, delays, closed ports,
 * forks, a stopped clock. It is fed by the devnet_* methods; it stands between the chain and the endpoints, and drives
 * the slot clock.
 */

export { EdgeFaults, methodsOf, SocketFaults } from "./edge.ts";
export { Faults } from "./faults.ts";
export { LaggingView } from "./lagging-view.ts";
export { adminMethods, healthMethod } from "./methods.ts";
export { SlotClock, SlotTimer } from "./slot-clock.ts";
