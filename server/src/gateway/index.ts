/**
 * gateway: the JSON-RPC gateway. Listens on the gateway's ports, takes JSON-RPC through the pipeline (pipeline.ts lists
 * its stages), and hands WebSockets to streams and other paths to the applications that compose mounts. Fed by clients;
 * asks access and rpc; feeds the ledger with a fact for each call.
 */
export { factRecorder } from "./answer.ts";
export { createGatewayEvents, gatewayMetrics } from "./events.ts";
export { GatewayServer } from "./gateway.ts";
