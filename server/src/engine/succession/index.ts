/**
 * succession: which of several processes keeps the pool. One holds the lease and runs the engine, the others stand by with
 * their doors open and take over when it ends. Fed by the store's lease; opens and closes the engine.
 */
export { LeaseHolder, leaseMs, renewMs } from "./lease-holder.ts";
export { relayedServices } from "./relay.ts";
export { type EngineRole, Succession } from "./succession.ts";
