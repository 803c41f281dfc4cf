/**
 * engine: the block engine. Takes bundles of transactions from searchers (gRPC, REST, Jito's protocols), admits and
 * simulates them, holds an auction each tick, hands the winners to the leader of the slot and follows them to their
 * end. Fed by its endpoints and by the chain; feeds validators, state (bundles) and the ledger (their outcomes).
 */

export { Admit, type AdmitDependencies, type Incoming } from "./http/admit.ts";
export { Answering, type RestContext, writeFailure } from "./http/answering.ts";
export { EngineRefusal, engineFailure } from "./http/failure.ts";
export type { BlockFlow } from "./model/block-flow.ts";
export { type BundleRecord, isSubmitter } from "./model/bundle.ts";
export { type EngineChain, EngineChainError } from "./model/chain-port.ts";
export { createEngineEvents, engineMetrics } from "./model/events.ts";
export type { RefusalRecords } from "./model/refusal-records.ts";
export { tipAccounts } from "./model/tip-accounts.ts";
export type { Engine } from "./wiring/engine.ts";
export { type EngineService, openEngineService } from "./wiring/engine-service.ts";
export { upstreamChain } from "./wiring/upstream-chain.ts";
