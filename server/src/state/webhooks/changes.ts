import type { Network } from "@sluice/contract/tiers";
import type { Tx } from "../tables.ts";

/** Changes that are kept: a scheduler or a worker that missed more reads all webhooks of the network again. */
const keptMax = 10_000n;

/**
 * Counts a change of a webhook in the transaction that makes it. The row of the counter stays locked until the commit,
 * so who sees a revision sees all changes up to it.
 */
export async function recordWebhookChange(tx: Tx, network: Network, webhookId: string): Promise<void> {
  const { revision } = await tx
    .insertInto("webhook_revisions")
    .values({ network, revision: 1n })
    .onConflict((conflict) =>
      conflict.column("network").doUpdateSet(({ eb }) => ({ revision: eb("webhook_revisions.revision", "+", 1n) })),
    )
    .returning("revision")
    .executeTakeFirstOrThrow();
  await tx.insertInto("webhook_changes").values({ network, revision, webhook_id: webhookId }).execute();
  await tx
    .deleteFrom("webhook_changes")
    .where("network", "=", network)
    .where("revision", "<=", revision - keptMax)
    .execute();
}
