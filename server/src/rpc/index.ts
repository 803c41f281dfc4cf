/**
 * rpc: what a JSON-RPC body asks for and how it is answered. Reads the envelope without building values, checks and
 * completes parameters by contract's method table, and turns each call into a plan: what a node is sent, at which
 * commitment, and under which key the answer is kept. Fed by the gateway; asks cache and upstreams; feeds the gateway
 * with answers.
 */
export type { Archive, IndexedAnswer } from "./archive.ts";
export type { AssetAnswers, AssetCall } from "./asset-answers.ts";
export {
  type EnvelopeItem,
  type EnvelopeRefusal,
  readEnvelope,
} from "./envelope.ts";
export { createRpcEvents, rpcMetrics } from "./events.ts";
export { type MethodEntry, unknownMethod } from "./method-registry.ts";
export type { Plan } from "./plan.ts";
export { checkPubSubCall } from "./pubsub-calls.ts";
export { Rpc, type RpcDependencies } from "./rpc.ts";
export { type SentQuery, subscribeToSent } from "./sent-elsewhere.ts";
export {
  type SentPlace,
  SentTransactions,
} from "./sent-transactions.ts";
export { createSharedHistory, type SharedHistory } from "./shared-history.ts";
