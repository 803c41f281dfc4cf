import { createHash } from "node:crypto";

/** The shard of a webhook, from 0. It follows from the id, so that all processes say the same. */
export function shardOf(webhookId: string, shards: number): number {
  if (shards === 1) return 0;
  return createHash("sha256").update(webhookId).digest().readUInt32LE(0) % shards;
}
