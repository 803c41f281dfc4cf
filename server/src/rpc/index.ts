/**
 * rpc: what a JSON-RPC body asks for and how it is answered. Reads the envelope without building values, checks and
 * completes parameters by contract's method table, and turns each call into a plan: what a node is sent, at which
 * commitment, and under which key the answer is kept. Fed by the gateway; asks cache and upstreams; feeds the gateway
 * with answers.
 */
export {
  type Envelope,
  type EnvelopeCall,
  type EnvelopeCode,
  type EnvelopeItem,
  type EnvelopeRefusal,
  readEnvelope,
} from "./envelope.ts";
export { createRpcEvents, type RpcEvents, rpcMetrics } from "./events.ts";
export type { MethodEntry, MethodRegistryOptions } from "./method-registry.ts";
export type { Plan, Planned, PlanRefusal } from "./plan.ts";
export { Rpc, type RpcDependencies, type RpcOptions, type RpcOutcome } from "./rpc.ts";
export { type SentElsewhereDependencies, type SentQuery, subscribeToSent } from "./sent-elsewhere.ts";
export {
  inOrder,
  type SentPlace,
  type SentState,
  type SentTransaction,
  SentTransactions,
  type SentTransactionsDependencies,
} from "./sent-transactions.ts";
export { createSharedHistory, type SharedHistory } from "./shared-history.ts";
