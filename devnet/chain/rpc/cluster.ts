import { invalidParams, RpcError } from "./errors.ts";
import { FEATURE_SET, type MethodTable, NODE_VERSION } from "./method.ts";
import { u64Value } from "./params.ts";

const SAMPLES_MAX = 720n;

export function versionJson() {
  return { "solana-core": NODE_VERSION, "feature-set": FEATURE_SET };
}

/** The node itself and the cluster, which has no other node. */
export const clusterMethods: MethodTable = {
  getHealth: { required: 0, optional: 0, run: () => "ok" },
  getVersion: { required: 0, optional: 0, run: versionJson },
  getIdentity: {
    required: 0,
    optional: 0,
    run: (_params, node) => ({ identity: node.chain.genesis.validator.identity }),
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
    run: (_params, node) => [
      {
        pubkey: node.chain.genesis.validator.identity,
        gossip: "127.0.0.1:8001",
        tvu: null,
        tpu: null,
        tpuQuic: null,
        tpuForwards: null,
        tpuForwardsQuic: null,
        tpuVote: null,
        serveRepair: null,
        rpc: node.doors.rpc,
        pubsub: node.doors.pubsub,
        version: NODE_VERSION,
        clientId: "Agave",
        featureSet: FEATURE_SET,
        shredVersion: 0,
      },
    ],
  },
  getRecentPerformanceSamples: {
    required: 0,
    optional: 1,
    run(params, node) {
      const given = params[0];
      const limit = given === undefined || given === null ? SAMPLES_MAX : u64Value(given, "usize");
      if (limit > SAMPLES_MAX) throw invalidParams(`Invalid limit; max ${SAMPLES_MAX}`);
      return node.performance.newest(Number(limit)).map((sample) => ({
        slot: sample.slot,
        numTransactions: sample.numTransactions,
        numNonVoteTransactions: sample.numTransactions,
        numSlots: sample.numSlots,
        samplePeriodSecs: sample.samplePeriodSecs,
      }));
    },
  },
};
