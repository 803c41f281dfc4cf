import { createHash } from "node:crypto";
import { apiKeyHint, formatApiKey, type KeyEnvironment } from "@sluice/contract/api-key";
import type { Network, Permission } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { KeyRecord } from "../state/index.ts";

/** What the owner of a new key may choose. */
export interface KeyRequest {
  readonly accountId: string;
  readonly name: string;
  readonly environment: KeyEnvironment;
  readonly restrictions: { readonly networks: Network[]; readonly domains: string[]; readonly ipRanges: string[] };
  readonly permissions: Permission[];
  readonly methods: readonly string[];
  readonly enhanced: boolean;
  readonly enhancedRequestsPerSecond: number | null;
  readonly requestsPerSecond: number | null;
  /** Unix milliseconds; null never expires. */
  readonly expiresAt: number | null;
}

/** Makes a key and the record that is kept of it: its SHA-256, never the key itself. */
export function issueKey(
  request: KeyRequest,
  dependencies: { clock: Clock; random: Random },
): { key: string; record: KeyRecord } {
  const key = formatApiKey(request.environment, dependencies.random.bytes);
  const record: KeyRecord = {
    ...request,
    id: `key_${Buffer.from(dependencies.random.bytes(12)).toString("hex")}`,
    hash: createHash("sha256").update(key).digest("hex"),
    hint: apiKeyHint(key),
    status: "active",
    createdAt: dependencies.clock.now(),
    lastUsedAt: null,
  };
  return { key, record };
}
