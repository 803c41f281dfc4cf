/**
 * leader: the validators' side of the Jito protocols: each validator signs in at a block engine and takes its bundles.
 * It is fed by the engine's gRPC streams and the leader schedule; it feeds the bank with bundles.
 */

export { BlockEngineLinks } from "./block-engine-links.ts";
export { readBlockEngine } from "./endpoints.ts";
