/**
 * pubsub: WebSocket subscriptions. It is fed by the chain's events and by the requests of each socket; it feeds sockets
 * with notifications whose values are encoded as the JSON-RPC methods encode them.
 */

export { PubSubHub } from "./hub.ts";
export type { ChainEvent } from "./subscription.ts";
export { SocketClient } from "./subscription.ts";
