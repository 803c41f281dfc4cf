import type { Permission } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { KeyRecord, State } from "../../state/index.ts";
import { issueKey } from "../issue-key.ts";

interface InsertedKey {
  readonly accountId: string;
  readonly permissions: Permission[];
  /** What differs from an unrestricted live key. */
  readonly changes: Partial<KeyRecord>;
}

/** A key that is in the store, and its text. */
export async function insertKey(
  { accountId, permissions, changes }: InsertedKey,
  { state, clock, random }: { readonly state: State; readonly clock: Clock; readonly random: Random },
): Promise<{ id: string; key: string }> {
  const { key, record } = issueKey(
    {
      accountId,
      name: "key",
      environment: "live",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      permissions,
      methods: [],
      enhanced: true,
      enhancedRequestsPerSecond: null,
      requestsPerSecond: null,
      expiresAt: null,
    },
    { clock, random },
  );
  await state.keys.insert({ ...record, ...changes });
  return { id: record.id, key };
}
