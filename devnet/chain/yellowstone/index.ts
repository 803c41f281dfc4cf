/**
 * yellowstone: a node's stream of accounts, slots, transactions, blocks and entries over gRPC (geyser.Geyser), as the
 * Yellowstone plugin serves it. It is fed by the chain's events, which pubsub receives too, and by the requests of each
 * stream; it feeds streams with updates that are packed once, whoever receives them.
 */

export { disturbances, StreamFaults } from "./disturbance.ts";
export { serveYellowstone, type YellowstoneServer } from "./grpc.ts";
export { YellowstoneHub } from "./hub.ts";
export { defaultLimits } from "./limits.ts";
