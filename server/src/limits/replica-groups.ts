/**
 * Processes that take from the same buckets, and so divide them when what is shared is out of reach: those of one role,
 * and for sends those that take transactions, over JSON-RPC of the gateway or of the block engine.
 */
export const replicaGroups = ["gateways", "senders", "engines", "oracles"] as const;
export type ReplicaGroup = (typeof replicaGroups)[number];

const beginnings: readonly (readonly [string, ReplicaGroup])[] = [
  ["send:", "senders"],
  ["bundles:", "engines"],
  ["engine-", "engines"],
  ["oracle", "oracles"],
];

/** Who shares a bucket, by the beginning of its name. */
export function groupOf(bucket: string): ReplicaGroup {
  return beginnings.find(([beginning]) => bucket.startsWith(beginning))?.[1] ?? "gateways";
}
