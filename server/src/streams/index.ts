/**
 * streams: what happens on the chains, to clients as it happens: one flow of blocks for each network and stage, from
 * the logs that this process has open, for all protocols. A client that comes back goes on where it was. Fed by the
 * logs, asks access; feeds the ledger with facts of connections.
 */
export type { AdmittedClient } from "./delivery/admission.ts";
export { ConnectionMeter } from "./delivery/connection-meter.ts";
export { ConnectionCounts, type ConnectionPlaces } from "./delivery/connection-places.ts";
export { MessagePacer, type PacedConnection } from "./delivery/message-pacer.ts";
export { type OutboundMessage, Outbox } from "./delivery/outbox.ts";
export { createStreamsEvents, streamsMetrics } from "./events.ts";
export type { FlowBlock } from "./flow/flow-block.ts";
export type { FlowEnd, FlowMembership, FlowReceiver } from "./flow/flow-receiver.ts";
export { Flows, type NetworkFlow } from "./flow/flows.ts";
export { AbsentStreams, StreamEndpoint } from "./socket/stream-endpoint.ts";
