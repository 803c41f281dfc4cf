import type { Network } from "@sluice/contract/tiers";

/** What became of one attempt: a row of the ledger's table `webhook_attempts`. Times are Unix milliseconds. */
export interface AttemptFact {
  /** When it began. */
  readonly at: number;
  readonly accountId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly event: string;
  readonly network: Network;
  /** When the delivery was made. */
  readonly createdAt: number;
  /** Counted from 1. */
  readonly attempt: number;
  readonly outcome: "delivered" | "failed" | "exhausted";
  /** Null where no answer came. */
  readonly statusCode: number | null;
  /** Why it failed; empty for one that succeeded. */
  readonly error: string;
  readonly latencyMs: number;
  /** The fields that were sent. */
  readonly requestFields: readonly (readonly [string, string])[];
  /** The beginning of the answer, as text. */
  readonly answer: string;
  /** The place of the event on the chain, from which it can be made again. */
  readonly slot: bigint;
  readonly blockhash: string;
  readonly ordinal: number;
  readonly txIndex: number | null;
  readonly account: string | null;
  /** What cannot be made again from there, of a delivery that succeeded; null for all others. */
  readonly detail: string | null;
}
