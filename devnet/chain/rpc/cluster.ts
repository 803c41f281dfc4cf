import type { JsonObject } from "@sluice/encode";
import { invalidParams, RpcError } from "./errors.ts";
import { featureSet, type MethodTable, nodeVersion, type RpcNode } from "./method.ts";
import { u64Value } from "./params.ts";

const samplesMax = 720n;

export function versionJson() {
  return { "solana-core": nodeVersion, "feature-set": featureSet };
}

/** Nothing listens there: the cluster's talk has no wire on this chain, but tools expect an address. */
const gossipPort = 8_001;

/** A validator as the cluster shows it; this node is the first of them and the only one that answers calls. */
function clusterNode(node: RpcNode, identity: string, index: number): JsonObject {
  const own = index === 0;
  return {
    pubkey: identity,
    gossip: `127.0.0.1:${gossipPort + index}`,
    tvu: null,
    tpu: null,
    tpuQuic: null,
    tpuForwards: null,
    tpuForwardsQuic: null,
    tpuVote: null,
    serveRepair: null,
    rpc: own ? node.endpoints.rpc : null,
    pubsub: own ? node.endpoints.pubsub : null,
    version: nodeVersion,
    clientId: "Agave",
    featureSet: featureSet,
    shredVersion: 0,
  };
}

/** The node itself and the cluster. */
export const clusterMethods: MethodTable = {
  getHealth: { required: 0, optional: 0, run: () => "ok" },
  getVersion: { required: 0, optional: 0, run: versionJson },
  getIdentity: {
    required: 0,
    optional: 0,
    run: (_params, node) => ({ identity: node.chain.genesis.validators[0].identity }),
  },
  getGenesisHash: {
    required: 0,
    optional: 0,
    run: (_params, node) => node.chain.genesis.hashText,
  },
  getAgGenesisCert: { required: 0, optional: 0, run: () => null },
  getHighestSnapshotSlot: {
    required: 0,
    optional: 0,
    run() {
      throw new RpcError(-32008, "No snapshot");
    },
  },
  getClusterNodes: {
    required: 0,
    optional: 0,
    run: (_params, node) =>
      node.chain.genesis.validators.map(({ identity }, index) => clusterNode(node, identity, index)),
  },
  getRecentPerformanceSamples: {
    required: 0,
    optional: 1,
    run(params, node) {
      const requested = params[0];
      const limit = requested === undefined || requested === null ? samplesMax : u64Value(requested, "usize");
      if (limit > samplesMax) throw invalidParams(`Invalid limit; max ${samplesMax}`);
      return node.performance.newest(Number(limit)).map((sample) => ({
        slot: sample.slot,
        numTransactions: sample.numTransactions,
        numNonVoteTransactions: sample.numNonVoteTransactions,
        numSlots: sample.numSlots,
        samplePeriodSecs: sample.samplePeriodSecs,
      }));
    },
  },
};
