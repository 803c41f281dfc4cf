/**
 * ingest: reads the blocks of each network from its nodes (Yellowstone gRPC, PubSub, polling), judges them against one
 * another, and appends them to the log of the chain. Fed by `chain`, `upstreams` and the nodes themselves; feeds `log`,
 * and through it everything that follows the chain.
 */
export { createIngestEvents, ingestMetrics } from "./events.ts";
export { Ingest, type NetworkNodes } from "./ingest.ts";
export { type BlockSource, digestKeyOf, type FetchedBlock } from "./source.ts";
export { BlockSubscription } from "./sources/block-subscription.ts";
export { NodeBlocks, type NodeReply } from "./sources/node-blocks.ts";
export { PollingSource } from "./sources/polling-source.ts";
export { type GeyserStream, openGeyserStream } from "./sources/yellowstone/grpc.ts";
export { ReadBodies } from "./sources/yellowstone/read-bodies.ts";
export { YellowstoneSource } from "./sources/yellowstone/yellowstone-source.ts";
