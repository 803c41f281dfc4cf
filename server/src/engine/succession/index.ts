/**
 * succession: decides which of several processes runs the engine. One holds the lease of the pool and runs the engine;
 * the others stand by with their endpoints open and take over when it ends. Fed by the store's lease; opens and closes
 * the engine.
 */
export { LeaseHolder, poolLeaseOf, renewMs } from "./lease-holder.ts";
export { type EngineRole, Succession } from "./succession.ts";
