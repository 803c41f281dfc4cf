import type { Network } from "@sluice/contract";

/** What an operator has ordered for a node, so that it holds on every replica and after a restart. */
export interface UpstreamOrderRecord {
  readonly network: Network;
  /** The node's label in its network; the node itself may not be configured here. */
  readonly label: string;
  readonly order: UpstreamOrder;
  readonly setAt: number;
}

export const upstreamOrders = ["cordoned", "drained"] as const;
export type UpstreamOrder = (typeof upstreamOrders)[number];

export interface UpstreamOrderStore {
  /** In place of what was ordered for this node before. */
  set(order: { readonly network: Network; readonly label: string; readonly order: UpstreamOrder }): Promise<void>;
  /** Whether there was an order. */
  clear(network: Network, label: string): Promise<boolean>;
  /** All of them by network and label, at most 1000. */
  list(): Promise<readonly UpstreamOrderRecord[]>;
}
