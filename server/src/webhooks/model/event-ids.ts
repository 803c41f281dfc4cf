import { createHash } from "node:crypto";
import type { ChainEventName } from "@sluice/contract/webhooks";
import { deliveryIdOfHex } from "../../state/index.ts";

/** What happened, by its place on the chain; the same for all webhooks. */
export interface EventPlace {
  readonly event: ChainEventName;
  readonly slot: bigint;
  readonly blockhash: string;
  /** The transaction's place in the block, for events of one. */
  readonly txIndex: number | null;
  /** For events of an account. */
  readonly account: string | null;
}

/** Changes with what an event of the same place says. */
const version = 1;

/**
 * Hex SHA-256 of version, genesis hash, event, slot, blockhash, transaction index and account, each on a line and the
 * last two empty where they do not apply: the same chain gives the same ids, whoever makes them.
 */
export function eventIdOf(genesisHash: string, { event, slot, blockhash, txIndex, account }: EventPlace): string {
  const text = `${version}\n${genesisHash}\n${event}\n${slot}\n${blockhash}\n${txIndex ?? ""}\n${account ?? ""}`;
  return createHash("sha256").update(text).digest("hex");
}

/** Follows from webhook and event, so that a delivery that is made again is the same one. */
export function deliveryIdOf(webhookId: string, eventId: string): string {
  return deliveryIdOfHex(createHash("sha256").update(`${webhookId}\n${eventId}`).digest("hex"));
}
