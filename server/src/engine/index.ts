/**
 * engine: the block engine. Takes bundles of transactions from searchers (gRPC, REST, Jito's protocols), admits and
 * simulates them, holds an auction each tick, hands the winners to the leader of the slot and follows them to their end.
 * Fed by its doors and by the chain; feeds validators, state (bundles) and the ledger (their outcomes).
 */
export * from "@sluice/auction";
export type { BundleRecord } from "./bundle.ts";
export type { GrpcService } from "./calls/index.ts";
export type { EngineEvents } from "./engine-events.ts";
export type { Engine, EngineOptions } from "./engine-parts.ts";
export { type EngineService, type EngineServiceDependencies, openEngineService } from "./engine-service.ts";
export type * from "./interfaces.ts";
export { EngineChainError } from "./interfaces.ts";
