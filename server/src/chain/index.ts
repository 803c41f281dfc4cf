/**
 * chain: what the server itself asks a Solana node. Commitments, a small JSON-RPC call, a PubSub client that
 * reconnects, and the slot feed that says how far a node is. Fed by one node's HTTP and PubSub addresses; feeds
 * upstreams (health), cache (expiry) and every room that follows the chain. Calls of clients do not pass here:
 * upstreams forwards those as bytes.
 */
export { type ChainValue, memberOf, parseChainJson } from "./integers.ts";
export { callNode, type NodeEndpoint } from "./node-call.ts";
export { PubSubClient } from "./pubsub-client.ts";
export { SlotFeed } from "./slot-feed.ts";
