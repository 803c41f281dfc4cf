import type { Network } from "@sluice/contract/tiers";
import type { NewDelivery, WebhookStage } from "../../state/index.ts";

/** Who is told of deliveries at once when they are on disk; whoever misses it finds them in the store. */
export interface RowsListener {
  /** In the order of the chain. Must not throw. */
  committed(rows: {
    readonly network: Network;
    readonly stage: WebhookStage;
    readonly deliveries: readonly NewDelivery[];
  }): void;
}
