/**
 * streams: what happens on the chains, to clients as it happens: one flow of blocks for each network and stage, from
 * the logs that this process has open, for all protocols. A client that comes back goes on where it was. Fed by the
 * logs and, for what blocks do not say, by nodes; asks access; feeds the ledger with facts of connections.
 */
export { ConnectionCounts, type ConnectionPlaces } from "./delivery/connection-places.ts";
export { MessagePacer } from "./delivery/message-pacer.ts";
export { createStreamsEvents, streamsMetrics } from "./events.ts";
export { Flows } from "./flow/flows.ts";
export { createPubSubEvents, pubsubMetrics } from "./pubsub/events.ts";
export type { PubSubFlow } from "./pubsub/flow-subscriptions.ts";
export { PubSubEndpoint } from "./pubsub/pubsub-endpoint.ts";
export { AbsentStreams, StreamEndpoint, type StreamMount } from "./socket/stream-endpoint.ts";
export { YellowstoneEndpoint } from "./yellowstone/endpoint.ts";
export { createYellowstoneEvents, yellowstoneMetrics } from "./yellowstone/events.ts";
