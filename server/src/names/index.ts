/**
 * names: the name resolver. Reads who controls an `@handle` or a domain from a chain's registries, over plain HTTP and
 * for other parts of the server. Fed by a node's RPC, or by the nodes of a network (one call for a name, whatever its
 * depth), needs no store; feeds wallets, the console and the SDK. It never guesses: what cannot be read is an error,
 * not a free name.
 */

export { httpNode } from "./chain-node.ts";
export { createNamesEvents, namesMetrics } from "./events.ts";

export {
  createNames,
  Names,
} from "./names.ts";
export { pooledNodes } from "./pooled-nodes.ts";
