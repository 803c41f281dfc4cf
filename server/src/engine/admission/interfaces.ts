import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import type { BundlePool } from "../model/bundle.ts";
import type { BundleOutcome } from "../simulation/index.ts";

/** What admission asks of the chain. */
export interface AdmissionChain {
  slot(): Slot | null;
  /** Whether a transaction with this recent blockhash may still land, and until which block height. */
  blockhash(
    blockhash: Address,
  ): Promise<{ readonly valid: true; readonly lastValidBlockHeight: bigint } | { readonly valid: false }>;
  /** The first of the signatures that is in a block that was looked at; known without asking. */
  seen(signatures: readonly Signature[]): Signature | null;
  /** Those of the signatures that are in the chain already. */
  processed(signatures: readonly Signature[]): Promise<readonly Signature[]>;
}

export interface AdmissionSimulator {
  simulate(bundle: { readonly id: string; readonly transactions: readonly Uint8Array[] }): Promise<BundleOutcome>;
}

export interface AdmissionPool extends Pick<BundlePool, "accept" | "get" | "live" | "holding" | "simulated"> {}

/** Whether any leader that takes bundles has a slot that a bundle could land in. */
export interface AdmissionLeaders {
  reachable(targetSlot: bigint | null, transactionCount: number): boolean;
}
