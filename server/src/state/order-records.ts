import type { Network } from "@sluice/contract/tiers";

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

/** A node that an operator added while the gateway ran; every replica has it, also after a restart. */
export interface UpstreamNodeRecord {
  readonly network: Network;
  readonly label: string;
  /**
   * The node; sealed by the caller, since addresses and headers hold providers' keys. At most 256 KiB.
   */
  readonly options: Uint8Array;
  readonly addedAt: number;
}

/** Nodes that were added at run time. Every method throws SluiceError. */
export interface UpstreamNodeStore {
  /** False, and nothing written, when the network has a node of this label here already. */
  add(node: Omit<UpstreamNodeRecord, "addedAt">): Promise<boolean>;
  /** Whether there was one. */
  remove(network: Network, label: string): Promise<boolean>;
  /** All of them by network and label, at most 1000. */
  list(): Promise<readonly UpstreamNodeRecord[]>;
}

/** Orders of operators for nodes. Every method throws SluiceError. */
export interface UpstreamOrderStore {
  /** In place of what was ordered for this node before. */
  set(order: { readonly network: Network; readonly label: string; readonly order: UpstreamOrder }): Promise<void>;
  /** Whether there was an order. */
  clear(network: Network, label: string): Promise<boolean>;
  /** All of them by network and label, at most 1000. */
  list(): Promise<readonly UpstreamOrderRecord[]>;
}
