/**
 * upstreams: the nodes that calls are forwarded to. One pool a network with a policy that is one sentence (pool.ts); an
 * answer is the node's own bytes, cut where the id stands. Fed by rpc with calls and by chain with slots; feeds rpc
 * with answers, the cache with slot notices, and getHealth and the console with the state of each node.
 */
export { answerText, discard, type NodeAnswer, type WholeBody } from "./answer.ts";
export { createUpstreamEvents, upstreamMetrics } from "./events.ts";
export type { UpstreamHealth } from "./node-health.ts";
export { packAnswer, unpackAnswer } from "./packed-answer.ts";
export type { UpstreamPool } from "./pool.ts";
export { reportHealth, SlotNotices } from "./slot-notices.ts";
export { type PreparedNode, UpstreamAdmin } from "./upstream-admin.ts";
export type { FailedCall, UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";
export { createUpstreams, type Upstreams, type UpstreamsOptions } from "./upstreams.ts";
